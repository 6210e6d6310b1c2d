"""Moments of rows on a device: weight, mean and scatter in double precision, by products of centered rows there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pellucid.core.array_api import array_namespace, device, is_torch_array
from pellucid.core.arrays import on_host
from pellucid.core.device.column_products import products_of_columns
from pellucid.core.device.device_rows import label_codes, without_truth_values
from pellucid.core.device.places import Place
from pellucid.core.scale.counted_rows import BlockCounts
from pellucid.core.scale.first_look import FirstLook
from pellucid.core.scale.moments import BlockSummary, Folds, RowMoments
from pellucid.core.scale.row_blocks import RowBlock
from pellucid.core.types import Array

NUMBERS_AT_ONCE = 1 << 27
"""Of rows that are centered in double precision in one go: a gigabyte."""

NEAR = 10.0
"""Deviations by which a mean may lie from 0 if rows are multiplied as they are: two digits of fifteen are lost."""
PIECE = 1 << 12
"""Rows of one of the products that are summed."""


def summarize_block(block: RowBlock, kind: str, folds: Folds | None = None) -> BlockSummary:
    """Return the moments of a block, as ``core.scale.moments.summarize_block`` does on the host."""
    found = {label: moments_of(parts, weight) for label, parts, weight in groups_of(block, kind, folds)}
    if not all(one.are_squarable for one in found.values()):
        refuse_values(block)
    return BlockSummary(found)


def moments_of(parts: Sequence[Any], weight: Any) -> RowMoments:
    """Return the moments of tables side by side; deviations are from the mean of their first rows."""
    xp = array_namespace(parts[0])
    n, p = parts[0].shape[0], sum(part.shape[1] for part in parts)
    found = None if weight is not None else products_of_columns(parts)
    near = xp.zeros(p, dtype=xp.float64, device=device(parts[0]))
    if found is None or _lies_far(found):
        near = xp.concat([xp.mean(xp.astype(part[: min(n, 1024)], xp.float64), axis=0) for part in parts])
        found = on_host(_products_of_chunks(parts, weight, near))
    total, moved = float(found[p, p]), found[p, :p] / found[p, p]
    scatter = (found[:p, :p] + found[:p, :p].T) / 2.0  # products of a device need not be symmetric to the last bit
    with np.errstate(over="ignore", invalid="ignore"):  # refused where the sums are looked at
        return RowMoments.about(on_host(near), moved, total, scatter - total * np.outer(moved, moved))


def _lies_far(products: Array) -> bool:
    """Return whether a mean is so far from 0 beside its deviation that its square would take digits of the scatter."""
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused where the sums are looked at
        squares, sums = products.diagonal()[:-1], products[-1, :-1] ** 2 / products[-1, -1]
        return bool(np.any(sums > NEAR**2 * (squares - sums)))


def _products_of_chunks(parts: Sequence[Any], weight: Any, origin: Any) -> Any:
    """Return the products of the columns less the origin, with a column of ones behind them, chunk by chunk."""
    xp = array_namespace(parts[0])
    n, p = parts[0].shape[0], origin.shape[0]
    height = max(1, NUMBERS_AT_ONCE // p)
    table = xp.empty((min(n, height), p + 1), dtype=xp.float64, device=device(parts[0]))
    table[:, p] = 1.0  # its products are sums
    sums: Any = 0.0
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        chunk, left = table[: rows.stop - start], 0
        for part in parts:
            right = left + part.shape[1]
            subtract(part[rows], origin[left:right], chunk[:, left:right])
            left = right
        weighted = chunk if weight is None else chunk * weight[rows, None]
        sums = sums + product_of(weighted, chunk, xp)
    return sums


def subtract(part: Any, origin: Any, out: Any) -> None:
    """Write the rows less the origin, in double precision; torch does it in one reading of the rows."""
    if is_torch_array(part):
        import torch

        torch.sub(part, origin, out=out)
    else:
        out[...] = part - origin


def product_of(left: Any, right: Any, xp: Any) -> Any:
    """Return ``left' right``: of tall tables as a sum of many products, which keep all of a device busy."""
    many = left.shape[0] // PIECE
    if many < 2:
        return left.T @ right
    tall = many * PIECE
    first, second = (xp.reshape(part[:tall], (many, PIECE, -1)) for part in (left, right))
    total = xp.sum(xp.matmul(xp.matrix_transpose(first), second), axis=0)
    return total if tall == left.shape[0] else total + left[tall:].T @ right[tall:]


def triangles_of_block(block: RowBlock, kind: str, folds: Folds | None, means: dict[Any, Array]) -> dict[Any, Array]:
    """Return for each label the triangle of its rows about the mean of all: nothing is squared."""
    return {label: _triangle(parts, weight, means[label]) for label, parts, weight in groups_of(block, kind, folds)}


def _triangle(parts: Sequence[Any], weight: Any, mean: Array) -> Array:
    place = Place.of(parts[0])
    xp, p = place.xp, len(mean)
    origin = place.holding(mean, xp.float64)
    height = max(4 * p, NUMBERS_AT_ONCE // p)
    triangle = xp.zeros((0, p), dtype=xp.float64, device=place.device)
    for start in range(0, parts[0].shape[0], height):
        rows = slice(start, start + height)
        chunk = xp.concat([xp.astype(part[rows], xp.float64) for part in parts], axis=1) - origin
        if weight is not None:
            chunk = chunk * xp.sqrt(weight[rows])[:, None]
        triangle = xp.linalg.qr(xp.concat([triangle, chunk]), mode="reduced")[1]
    return on_host(triangle)


def groups_of(block: RowBlock, kind: str, folds: Folds | None = None) -> Iterator[tuple[Any, tuple[Any, ...], Any]]:
    """Yield each label with its rows, as tables that stand side by side, and their weights, all above 0."""
    place = Place.of(block.X)
    xp = place.xp
    X, y, weight = block.X, block.y, block_weights(block)
    keep = None
    if weight is not None and not bool(xp.all(weight > 0.0)):
        keep = xp.nonzero(weight > 0.0)[0]
        X, weight = X[keep], weight[keep]
        y = None if y is None else y[on_host(keep) if isinstance(y, np.ndarray) else keep]
    if not X.shape[0]:
        return
    if kind == "rows":
        yield None, (X,), weight
        return
    if kind == "numbers":
        if folds is None:
            yield None, (X, _numbers(y)), weight
            return
        own = place.holding(folds.of_block(block.number, len(block.X)))
        labels, codes = np.arange(folds.n_folds), own if keep is None else own[keep]
        parts: tuple[Any, ...] = (X, _numbers(y))
    else:
        labels, codes = label_codes(y, place)
        parts = (X,)
    order = xp.argsort(codes, stable=True)
    counts = on_host(xp.sum(codes[:, None] == xp.arange(len(labels), device=place.device), axis=0)).tolist()
    start = 0
    for label, count in zip(labels.tolist(), counts, strict=True):
        rows = order[start : start + count]
        start += count
        if count:
            yield label, tuple(part[rows] for part in parts), None if weight is None else weight[rows]


def block_weights(block: RowBlock) -> Any:
    """Return the weights of a block in double precision; refuse those below 0."""
    if block.weight is None:
        return None
    xp = array_namespace(block.weight)
    weight = xp.astype(block.weight, xp.float64)
    if weight.ndim != 1 or not bool(xp.all(xp.isfinite(weight))) or bool(xp.any(weight < 0)):
        raise ValueError(
            "sample_weight must be finite numbers of at least 0, one for each row, got others. "
            "Negative values in data passed as sample_weight have no meaning as repetitions: drop those rows."
        )
    return weight


def _numbers(y: Any) -> Any:
    if isinstance(y, np.ndarray):
        raise ValueError(f"y must be numbers, got {y.dtype}: Unknown label type. Code words as numbers.")
    return without_truth_values(array_namespace(y).reshape(y, (y.shape[0], -1)))


def refuse_values(block: RowBlock, name: str = "X") -> None:
    """Say which row holds NaN, infinity, or values whose squares overflow."""
    for what, part in (("X", block.X), ("y", block.y)):
        if part is None or isinstance(part, np.ndarray):
            continue
        xp = array_namespace(part)
        if xp.isdtype(part.dtype, "real floating") and not bool(xp.all(xp.isfinite(part))):
            wrong = ~xp.all(xp.isfinite(xp.reshape(part, (part.shape[0], -1))), axis=1)
            row = int(xp.nonzero(wrong)[0][0])
            raise ValueError(
                f"{what} must be finite: Input contains NaN or infinity, in row {row} of block {block.number}. "
                "Drop such rows, or fill them."
            )
    raise ValueError(f"{name} must have values whose squares are finite, got larger ones. Change its units.")


def look_at_block(block: RowBlock, kind: str, count: int) -> FirstLook:
    """Return so many rows of a block, evenly spaced among those of each label, with the weights of all."""
    place, weight, totals = Place.of(block.X), block_weights(block), dict[Any, float]()
    xp = place.xp
    if xp.isdtype(block.X.dtype, "real floating") and not bool(
        xp.isfinite(xp.linalg.vector_norm(block.X, dtype=xp.float64))
    ):
        refuse_values(block)
    labels, codes = np.array([None]), xp.zeros(block.X.shape[0], dtype=xp.int64, device=place.device)
    if kind == "classes":
        labels, codes = label_codes(block.y, place)
    rows, weights, names = list[Array](), list[Array](), list[Any]()
    for k, label in enumerate(labels.tolist()):
        places = xp.nonzero((codes == k) if weight is None else (codes == k) & (weight > 0.0))[0]
        n = int(places.shape[0])
        if not n:
            continue
        some = places[place.holding(np.unique(np.linspace(0, n - 1, max(1, count // len(labels))).astype(np.int64)))]
        own = np.ones(len(some)) if weight is None else on_host(weight[some])
        totals[label] = float(n if weight is None else xp.sum(weight[places]))
        kept = on_host(block.X[some])
        rows.append(kept if kept.dtype.kind == "f" else kept.astype(np.float64))
        weights.append(own * (totals[label] / own.sum()))
        names += [label] * len(some)
    if not rows:  # all weights are 0
        return FirstLook({}, None, np.empty((0, block.X.shape[1])), np.empty(0), np.empty(0, dtype=object))
    labels = np.array(names, dtype=object if kind == "rows" else None)
    moments = None if kind == "classes" else summarize_block(block, kind).moments[None]
    return FirstLook(totals, moments, np.concatenate(rows), np.concatenate(weights), labels)


def count_block(block: RowBlock, _how: str, threshold: float | None) -> BlockCounts:
    """Return the sums of each class or, with a threshold, how much is below it and above: no device counts others."""
    xp = array_namespace(block.X)
    weights, counts = dict[Any, float](), dict[Any, Any]()
    for label, (X,), weight in groups_of(block, "classes"):
        rows = xp.astype(X, xp.float64)
        if not bool(xp.all(xp.isfinite(rows))):
            refuse_values(block)
        if threshold is None and bool(xp.any(rows < 0)):
            raise ValueError("X must hold counts, got Negative values in data passed to X. Shift them.")
        own = xp.ones_like(rows[:, 0]) if weight is None else weight
        weights[label] = float(xp.sum(own))
        if threshold is not None:
            rows = xp.astype(rows > threshold, xp.float64)
            above = on_host(own @ rows)
            counts[label] = [_two(weights[label], float(one)) for one in above]
        else:
            counts[label] = on_host(own @ rows)
    return BlockCounts(weights, counts)


def _two(total: float, above: float) -> dict[int, float]:
    return {value: count for value, count in ((0, total - above), (1, above)) if count > 0.0}
