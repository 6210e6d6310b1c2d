"""Moments of rows in one pass: weight, mean and scatter of blocks, joined from differences of means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from pellucid.core.double_double import two_sum
from pellucid.core.labels import rows_by_class
from pellucid.core.scale.row_blocks import BlockError, RowBlock, made_on_device
from pellucid.core.tall_triangle import tall_triangle
from pellucid.core.types import Array

CHUNK = 1 << 17
"""Numbers that are centered and multiplied in one go: they stay in the cache."""
FAR = 100.0
"""Variances by which the squared distance of the first rows from the mean may exceed it: two digits."""
LARGEST_SUM = 2.0**990
"""Of the squares of a column in a block: so many of 2^33 blocks are finite together."""


@dataclass(frozen=True)
class Folds:
    """Folds of cross-validation: the rows in order, in so many parts of nearly equal length."""

    n_folds: int
    heights: tuple[int, ...]
    """Rows of each block; nothing where a pass must tell."""
    first: int = 0
    """The block that is number 0 among those looked at."""

    def of_block(self, number: int, height: int) -> Array:
        """Return the fold of each row of a block."""
        n, start = sum(self.heights), sum(self.heights[: self.first + number])
        sizes = [n // self.n_folds + (k < n % self.n_folds) for k in range(self.n_folds)]  # as scikit-learn's KFold
        return np.searchsorted(np.cumsum(sizes), np.arange(start, start + height), side="right")


@dataclass(frozen=True, eq=False)
class RowMoments:
    """Weight of some rows, their mean, and their scatter ``sum w (x - mean)(x - mean)'``."""

    weight: float
    mean: Array
    scatter: Array
    rest: Array | float = 0.0
    """What rounding the mean took from it: a thousandth of a deviation where columns lie far from 0."""

    @classmethod
    def about(cls, origin: Array, shift: Array, weight: float, scatter: Array) -> RowMoments:
        """Return the moments of rows whose mean lies so far from an origin."""
        mean, rest = two_sum(origin, shift)
        return cls(weight, mean, scatter, rest)

    @property
    def are_squarable(self) -> bool:
        """Whether no value is NaN or so large that sums of squares overflow; a constant column shows in its mean."""
        with np.errstate(over="ignore", invalid="ignore"):
            return bool((self.scatter.diagonal() + self.weight * self.mean**2 <= LARGEST_SUM).all())

    def merged(self, other: RowMoments) -> RowMoments:
        """Return the moments of both sets of rows together; no digits cancel, however far the means are from 0."""
        if not self.weight or not other.weight:
            return self if self.weight else other
        total = self.weight + other.weight
        share = other.weight / total
        gap = (other.mean - self.mean) + (other.rest - self.rest)
        scatter = self.scatter + other.scatter + np.outer(gap, gap) * (self.weight * share)
        return RowMoments.about(self.mean, self.rest + share * gap, total, scatter)

    def scaled(self, factor: float) -> RowMoments:
        """Return the moments of the same rows at so many times their weight."""
        return RowMoments(factor * self.weight, self.mean, factor * self.scatter, self.rest)


@dataclass(frozen=True, eq=False)
class BlockSummary:
    """What one pass over the rows leaves: moments by label (one label, None, where there are no classes)."""

    moments: dict[Any, RowMoments]


def moments_of(
    parts: Sequence[Array],
    weight: Array | None,
    places: Array | None = None,
    *,
    alone: bool = False,
    near: Array | None = None,
) -> RowMoments:
    """Return the moments of tables side by side, read once: deviations are from the mean of their first rows.

    Of all rows, or of those at some places, which the weights belong to. Columns that are looked at ``alone`` leave the
    products of any two at 0. Where the first rows turn out to lie far from the others, rows are read once more, with
    the mean as the point that they are ``near``.
    """
    n, p = len(parts[0] if places is None else places), sum(part.shape[1] for part in parts)
    height = max(1, CHUNK // p)
    origin, total, shift, scatter = near, 0.0, np.zeros(p), np.zeros((p, p))
    ones = np.ones(min(n, height))
    for rows, chunk in _chunks(parts, places, height):
        own = ones[: len(chunk)] if weight is None else weight[rows]
        if origin is None:
            origin = _middle(chunk, own)
        chunk -= origin
        total += float(own.sum())
        shift += own @ chunk
        weighted = chunk if weight is None else chunk * own[:, None]
        scatter += np.diag(np.einsum("ij,ij->j", chunk, weighted)) if alone else chunk.T @ weighted
    shift /= total or 1.0
    scatter -= total * (np.diag(shift**2) if alone else np.outer(shift, shift))
    found = RowMoments.about(np.zeros(p) if origin is None else origin, shift, total, scatter)
    if near is None and (total * shift**2 > FAR * scatter.diagonal()).any():
        return moments_of(parts, weight, places, alone=alone, near=found.mean)
    return found


def _middle(chunk: Array, weight: Array) -> Array:
    """Return the mean of some rows, of a column that is constant its value, which a rounded mean might miss."""
    total = weight.sum()
    mean = weight @ chunk / total if total > 0.0 else chunk.mean(axis=0)
    return np.where((chunk == chunk[0]).all(axis=0), chunk[0], mean)


def triangle_of(parts: Sequence[Array], weight: Array | None, places: Array | None, mean: Array) -> Array:
    """Return a triangular ``R`` with ``R'R`` the scatter about a mean: nothing is squared, so no digit is lost."""
    p = len(mean)

    def centered() -> Iterator[Array]:
        for rows, chunk in _chunks(parts, places, max(4 * p, CHUNK // p)):
            chunk -= mean
            if weight is not None:
                chunk *= np.sqrt(weight[rows, None])
            yield chunk

    return tall_triangle(centered(), p)


def _chunks(parts: Sequence[Array], places: Array | None, height: int) -> Iterator[tuple[slice, Array]]:
    """Yield some rows of tables side by side at a time, in float64; the next ones may overwrite them.

    A column of a chunk lies in one piece, as it does in a block of a data frame: sums along it are quicker.
    """
    n, p = len(parts[0] if places is None else places), sum(part.shape[1] for part in parts)
    buffer = np.empty((p, min(n, height)))
    for start in range(0, n, height):
        rows = slice(start, min(start + height, n))
        chunk, left = buffer[:, : rows.stop - start].T, 0
        for part in parts:
            chunk[:, left : left + part.shape[1]] = part[rows] if places is None else _taken(part, places[rows])
            left += part.shape[1]
        yield rows, chunk


def _taken(table: Array, places: Array) -> Array:
    """Return some rows of a table, column by column where it is stored so."""
    return np.take(table.T, places, axis=1).T if table.flags.f_contiguous else table[places]


@made_on_device("pellucid.core.device.device_moments:summarize_block")
def summarize_block(block: RowBlock, kind: str, folds: Folds | None = None) -> BlockSummary:
    """Return the moments of a block: of its rows, of rows and target side by side, or of the rows of each class.

    ``kind`` is ``rows``, ``numbers``, ``classes``, or ``columns`` for those of each class without the products of two
    columns; with ``folds`` there are moments for each of them.
    """
    found = {
        label: moments_of(parts, weight, places, alone=kind == "columns")
        for label, parts, places, weight in _places_of(block, kind, folds)
    }
    if not all(one.are_squarable for one in found.values()):
        refuse_values(block)
    return BlockSummary(found)


def groups_of(
    block: RowBlock, kind: str, folds: Folds | None = None
) -> Iterator[tuple[Any, tuple[Array, ...], Array | None]]:
    """Yield each label with its rows, as tables that stand side by side, and their weights, all above 0."""
    for label, parts, places, weight in _places_of(block, kind, folds):
        yield label, parts if places is None else tuple(_taken(part, places) for part in parts), weight


def _places_of(
    block: RowBlock, kind: str, folds: Folds | None = None
) -> Iterator[tuple[Any, tuple[Array, ...], Array | None, Array | None]]:
    """Yield each label with the tables of the block, the places of its rows, None for all, and their weights."""
    y, weight = block.y, block_weights(block)
    counted = None if weight is None or weight.all() else np.flatnonzero(weight)
    if not len(block if counted is None else counted):
        return
    parts = (block.X, _numbers(y, block.number)) if kind == "numbers" else (block.X,)
    if kind == "rows" or (kind == "numbers" and folds is None):
        yield None, parts, counted, weight if weight is None or counted is None else weight[counted]
        return
    y = y if folds is None else folds.of_block(block.number, len(block))
    assert y is not None
    for label, rows in rows_of_labels(y if counted is None else y[counted], block.number):
        places = rows if counted is None else counted[rows]
        yield label, parts, places, None if weight is None else weight[places]


def rows_of_labels(y: Array | None, number: int) -> Iterator[tuple[Any, Array]]:
    """Yield each label of a block, in the order in which they come, with the numbers of its rows."""
    assert y is not None
    codes, labels = pd.factorize(y)
    if (codes < 0).any():
        raise BlockError(f"block {number} must have a label for each row, got a row without one.")
    yield from zip(labels.tolist(), rows_by_class(codes, len(labels)), strict=True)


def join_summaries(found: Sequence[BlockSummary]) -> BlockSummary:
    """Return the summary of all blocks, which come in order."""
    labels: dict[Any, list[RowMoments]] = {}
    for one in found:
        for label, moments in one.moments.items():
            labels.setdefault(label, []).append(moments)
    return BlockSummary({label: reduce(RowMoments.merged, parts) for label, parts in labels.items()})


@made_on_device("pellucid.core.device.device_moments:triangles_of_block")
def triangles_of_block(block: RowBlock, kind: str, folds: Folds | None, means: dict[Any, Array]) -> dict[Any, Array]:
    """Return for each label of a block the triangle of its rows about the mean of all."""
    return {
        label: triangle_of(parts, weight, places, means[label])
        for label, parts, places, weight in _places_of(block, kind, folds)
    }


def join_triangles(found: Sequence[dict[Any, Array]]) -> dict[Any, Array]:
    """Return the triangles of all blocks together."""
    labels = dict.fromkeys(label for one in found for label in one)
    parts = {label: [one[label] for one in found if label in one] for label in labels}
    return {label: tall_triangle(own, own[0].shape[1]) for label, own in parts.items()}


def block_weights(block: RowBlock) -> Array | None:
    """Return the weights of a block; refuse those below 0."""
    if block.weight is None:
        return None
    weight = block.weight.astype(np.float64)
    if weight.ndim != 1 or not np.isfinite(weight).all() or (weight < 0).any():
        raise BlockError(f"block {block.number} must have weights of at least 0, one for each row, got others.")
    return weight


def refuse_no_weight(counted: Sized) -> None:
    """Refuse rows of which none counts: none is left, or no label has a sum."""
    if not len(counted):
        raise ValueError("sample_weight must be above 0 for some row, got all 0. Leave out weights that are all zero.")


def _numbers(y: Array | None, number: int) -> Array:
    """Return a target of numbers as columns."""
    assert y is not None
    if y.dtype.kind not in "biuf":
        raise BlockError(f"block {number} must have numbers as its target, got {y.dtype}.")
    return y.reshape(len(y), -1)


def refuse_values(block: RowBlock) -> None:
    """Say which block holds NaN, infinity, or values whose squares overflow."""
    for what, part in (("X", block.X), ("y", block.y)):
        if part is not None and part.dtype.kind == "f" and not np.isfinite(part).all():
            row = int(np.flatnonzero(~np.isfinite(part.reshape(len(part), -1)).all(axis=1))[0])
            raise BlockError(
                f"{what} must be finite: Input contains NaN or infinity, in row {row} of block {block.number}. "
                "Drop such rows, or fill them."
            )
    raise BlockError(f"block {block.number} must have values whose squares are finite, got larger ones. Change units.")
