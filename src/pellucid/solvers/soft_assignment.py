r"""One EM step of components whose log density is linear in features of a row, in one pass over the data.

.. math:: \log \pi_k f_k(x) = \theta_k^\top \phi(x), \qquad
          r_{ik} = \frac{e^{\theta_k^\top \phi(x_i)}}{\sum_l e^{\theta_l^\top \phi(x_i)}}, \qquad
          s_k = \sum_i w_i r_{ik} \phi(x_i)

A Gaussian is such a component: its features are the products of two columns, the columns and 1. So a block of rows that
fits in the cache costs two matrix products, and neither responsibilities nor features of all rows are ever kept.
The rows are cut into the same parts whatever the number of threads, so the sums have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import is_foreign
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.proofs.rounding import TINY

BLOCK = 1 << 16
"""Features of one block of rows: 512 KiB, which stays in the second cache."""
PARTS, ROWS_OF_A_PART = 16, 4096
PART_MEMORY = 0.05
"""Share of the memory of X that the sums of all parts may take."""
NEGLIGIBLE = 1e-18
"""A responsibility so small changes no sum that holds a row's worth of others."""
FEW = 0.25
"""Share of responsibilities above that: where fewer are, adding them one by one beats a product with all."""


@dataclass(frozen=True, eq=False)
class StandardRows:
    """Rows seen as ``(x - center) / scale``: no digits are lost to an offset, and no product leaves the range."""

    X: Array
    weight: Array | None
    center: Array
    scale: Array
    variances: Array | None = None
    """Of the columns, in the units of X; None where nobody needed them."""

    @property
    def total(self) -> float:
        """Number of rows, repetitions counted."""
        return float(len(self.X) if self.weight is None else self.weight.sum())

    def plain(self, rows: slice) -> Array:
        """Return some rows, not yet standardized, as loops are compiled for: float64, C order, writeable."""
        return np.require(self.X[rows], dtype=np.float64, requirements=["C", "W", "E"])

    def weights(self, rows: slice) -> Array:
        """Return the weights of some rows."""
        return np.ones(rows.stop - rows.start) if self.weight is None else self.weight[rows]


def standard_rows(X: Array, weight: Array | None, *, smallest: float = 0.0, one_scale: bool = False) -> StandardRows:
    """Return the rows in units of their deviations, or of one for all columns, none of them below ``smallest``."""
    n, d = X.shape
    origin, parts = X[0].astype(np.float64), parts_of(n, d, X.nbytes)

    def sums(part: slice, center: Array) -> tuple[Array, Array]:
        shift, square = np.zeros(d), np.zeros(d)
        for rows in blocks_of(part, d):
            moved = np.subtract(X[rows], center, dtype=np.float64)
            counts = np.ones(len(moved)) if weight is None else weight[rows]
            shift += counts @ moved
            np.multiply(moved, moved, out=moved)
            square += counts @ moved
        return shift, square

    total = float(n if weight is None else weight.sum())
    for _ in range(2):  # the second time about the mean, so that the squares are those of deviations
        found = run_blocks(lambda part, center=origin: sums(part, center), parts)  # type: ignore[misc]
        shift, square = (np.sum(one, axis=0) for one in zip(*found, strict=True))
        origin = origin + shift / total
    variances = square / total
    return StandardRows(X, weight, origin, scale_of(variances, smallest=smallest, one_scale=one_scale), variances)


def scale_of(variances: Array, *, smallest: float = 0.0, one_scale: bool = False) -> Array:
    """Return deviations, or one for all columns, none of them below ``smallest`` or 0."""
    deviation = np.sqrt(np.mean(variances) * np.ones(len(variances)) if one_scale else variances)
    return np.where(deviation > 0.0, np.maximum(deviation, max(smallest, TINY)), smallest if smallest > 0.0 else 1.0)


@dataclass(frozen=True)
class Features:
    """How many features stand before the columns and the final 1, and how they are computed from these."""

    count: Callable[[int], int]
    fill: Callable[[Array, int], Any]
    may_skip: bool = False
    """Whether a loop knows them that leaves out responsibilities of 0."""
    is_products: bool = False
    """Whether they are the products of two columns."""
    is_length: bool = False
    """Whether it is the sum of the squares of the columns."""

    def width(self, n_columns: int) -> int:
        """Return the number of features of a row."""
        return self.count(n_columns) + n_columns + 1


def _fill_products(features: Array, d: int) -> None:
    from pellucid.solvers.soft_assignment_kernels import write_products

    write_products(features, d)


def _fill_squares(features: Array, d: int) -> None:
    np.multiply(features[d : 2 * d], features[d : 2 * d], out=features[:d])


def _fill_length(features: Array, d: int) -> None:
    np.einsum("ji,ji->i", features[1 : d + 1], features[1 : d + 1], out=features[0])


PRODUCTS = Features(lambda d: d * (d + 1) // 2, _fill_products, is_products=True)
SQUARES = Features(lambda d: d, _fill_squares, may_skip=True)
LENGTH = Features(lambda _: 1, _fill_length, is_length=True)
COLUMNS = Features(lambda _: 0, lambda _features, _d: None)


def soft_sums(rows: StandardRows, features: Features, coefficients: Array) -> tuple[float, Array]:
    """Return the weighted sum of the rows' log densities, and the sums of features of each component."""
    if is_foreign(rows.X):
        return _soft_sums_there(rows, features, coefficients)
    from pellucid.solvers.soft_assignment_kernels import responsibilities_pass

    def respond(block: Array, weight: Array, _rows: slice) -> tuple[Array, float]:
        scores, logs = coefficients @ block, np.empty(len(weight))
        responsibilities_pass(scores, weight, logs, np.empty(len(weight)))
        return scores, float(weight @ logs)

    return sums_of(rows, features, len(coefficients), respond)


def _soft_sums_there(rows: StandardRows, features: Features, coefficients: Array) -> tuple[float, Array]:
    import torch

    from pellucid.solvers.soft_sums_on_device import responsibilities, sums_there

    there = torch.as_tensor(coefficients, device=rows.X.device)  # type: ignore[attr-defined]  # a tensor
    return sums_there(
        rows, features, len(coefficients), lambda block, weight, _: responsibilities(there @ block.T, weight)
    )


def soft_log_sum(rows: StandardRows, features: Features, coefficients: Array) -> float:
    """Return the weighted sum of the rows' log densities alone."""
    from pellucid.solvers.soft_assignment_kernels import responsibilities_pass

    nothing = np.zeros((1, 0))

    def respond(block: Array, weight: Array, _rows: slice) -> tuple[Array, float]:
        scores, logs = coefficients @ block, np.empty(len(weight))
        responsibilities_pass(scores, weight, logs, np.empty(len(weight)))
        return nothing, float(weight @ logs)

    return sums_of(rows, features, 0, respond)[0]


def given_sums(rows: StandardRows, features: Features, n_components: int, given: Callable[[slice], Array]) -> Array:
    """Return the sums of features for responsibilities that a function gives, of shape (n_components, n_rows)."""

    def respond(_block: Any, weight: Any, part: slice) -> tuple[Any, float]:
        return given(part) * weight, 0.0

    if is_foreign(rows.X):
        from pellucid.solvers.soft_sums_on_device import sums_there

        return sums_there(rows, features, n_components, respond)[1]
    return sums_of(rows, features, n_components, respond)[1]


def sums_of(
    rows: StandardRows,
    features: Features,
    n_components: int,
    respond: Callable[[Array, Array, slice], tuple[Array, float]],
) -> tuple[float, Array]:
    """Return the sum of the numbers, and of the features times the shares, that a function gives for each block.

    It is called with the features of shape (width, n), the weights and the places of the rows. Without components only
    the numbers are summed.
    """
    from pellucid.solvers.soft_assignment_kernels import add_significant, count_above, write_columns

    n, d = rows.X.shape
    width, inverse = features.width(d), 1.0 / rows.scale

    def work(part: slice) -> tuple[float, Array]:
        log_sum, sums = 0.0, np.zeros((n_components, width))
        room = np.ones(width * min(part.stop - part.start, block_height(width)))  # the last feature is 1
        for some in blocks_of(part, width):
            height = some.stop - some.start
            block, plain = room[: width * height].reshape(width, height), rows.plain(some)
            block[-1] = 1.0
            write_columns(plain, rows.center, inverse, block)
            features.fill(block, d)
            shares, logs = respond(block, rows.weights(some), some)
            log_sum += logs
            if n_components == 0:
                continue
            if features.may_skip and count_above(shares, NEGLIGIBLE) < FEW * shares.size:
                add_significant(shares, plain, rows.center, inverse, NEGLIGIBLE, sums)
            else:
                sums += shares @ block.T
        return log_sum, sums

    logs, sums = zip(*run_blocks(work, parts_of(n, max(1, n_components) * width, rows.X.nbytes)), strict=True)
    return float(np.sum(logs)), np.sum(sums, axis=0)


def block_height(width: int) -> int:
    """Return the rows of a block."""
    return max(16, BLOCK // width)


def blocks_of(part: slice, width: int) -> Iterator[slice]:
    """Yield the blocks of a part of the rows."""
    height = block_height(width)
    for start in range(part.start, part.stop, height):
        yield slice(start, min(start + height, part.stop))


def parts_of(n: int, n_sums: int, memory: int) -> list[slice]:
    """Return parts that depend on the sizes alone: as many as keep the threads busy, as few as memory asks for."""
    affordable = int(PART_MEMORY * memory / (8 * n_sums))
    return split_evenly(n, max(1, min(PARTS, n // ROWS_OF_A_PART, max(affordable, 2))))
