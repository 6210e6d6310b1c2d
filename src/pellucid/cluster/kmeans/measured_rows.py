r"""Rows, dense or sparse, as k-means asks for them: who is nearest, how far, and the sums of clusters.

For many rows at once a product gives :math:`\|\mu\|^2 - 2x'\mu` of all centers with an error that is bounded, in
float32; what it cannot tell apart, squared differences in float64 decide.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.nearest_centers_kernels import (
    decide_rows,
    judge_rows,
    move_sums,
    own_distances,
    revisit_rows,
    take_rows,
)
from pellucid.core.input_rules import size_of, unit_for
from pellucid.core.threads import run_blocks, shares, split_evenly
from pellucid.core.types import Array, SparseOrDense
from pellucid.solvers.pairwise_blocks import LARGEST_SQUARE, Sample
from pellucid.solvers.presented_rows import content_hashes

BYTES_AT_ONCE = 1 << 18
"""Of a block of rows with its rough distances: it stays in the cache."""
BYTES_HASHED = 1 << 19
"""Of rows whose hashes are computed in one go."""
MODEST_UNIT = 2.0**-100
"""Units between this and its inverse are those of numbers that single precision has room for."""

Sums = tuple[Array, Array, Array]
"""Of the rows, their weights and their number, for each cluster."""


class Bounds(NamedTuple):
    """What is known of the rows and centers; see ``nearest_centers_kernels``."""

    ends: Array
    labels: Array
    upper: Array
    lower: Array
    paths: Array
    drifts: Array


class CodedCenters(NamedTuple):
    """Centers as they stand, their names, and what products with rows are made of."""

    centers: Array
    names: Array
    factors: Array
    sizes: Array
    largest: float


class DenseRows:
    """A C-ordered table."""

    def __init__(self, X: Array, middle: Array | None = None) -> None:
        sample = Sample(X)
        self.X, self.shape, self.unit = X, X.shape, sample.unit
        if middle is None:
            middle = sample.center + np.median(sample.rows, axis=0)  # a mean may be far from all rows but one
        self.middle = middle
        self.row_bytes = X.shape[1] * X.itemsize
        self.share = 1.1 * (2 * X.shape[1] + 18) * 2.0**-24  # see numerics.rough_distances

    def code(self, centers: Array, names: Array) -> CodedCenters:
        """Return the centers in the form in which rows are multiplied with them."""
        moved = (centers - self.middle) * self.unit
        sizes = np.einsum("kj,kj->k", moved, moved)
        largest = float(sizes.max())
        if largest < LARGEST_SQUARE:
            return CodedCenters(
                centers, names, np.column_stack((-2.0 * moved, sizes)).astype(np.float32), sizes, largest
            )
        return CodedCenters(centers, names, np.zeros((len(moved), moved.shape[1] + 1), np.float32), sizes, math.inf)

    def judge(self, rows: Array, coded: CodedCenters, bounds: Bounds, before: Array) -> None:
        """Find the nearest of all centers for some rows."""
        k, width = coded.factors.shape
        height = min(max(1, len(rows)), max(64, BYTES_AT_ONCE // (4 * (k + width))))
        block, squares = np.empty((height, width), np.float32), np.empty(height)
        products, unsure = np.empty((height, k), np.float32), np.empty(height, np.int32)
        for start in range(0, len(rows), height):
            some = rows[start : start + height]
            take_rows(self.X, some, self.middle, self.unit, block, squares)
            np.matmul(block[: len(some)], coded.factors.T, out=products[: len(some)])
            _decide(self, some, products, squares, coded, bounds, before[start : start + height], unsure)

    def exact(self, rows: Array) -> Array:
        """Return rows whose squared differences count."""
        return self.X[rows]

    def rounded(self, rows: Any) -> Array:
        """Return rows in single precision, in which they look alike whatever precision they came in."""
        return _rounded(self.X[rows], self.unit)

    def revisit(self, rows: Array, coded: CodedCenters, bounds: Bounds, before: Array) -> None:
        """Find the nearest center for some rows, of the groups that no bound excludes."""
        revisit_rows(self.X, rows, self.unit, coded.centers, coded.names, *bounds, before)

    def is_worth_revisiting(self, count: int, pairs: int, k: int) -> bool:
        """Return whether so many distances cost less than a product of so many rows with all centers.

        In nanoseconds, roughly: a distance, and taking a row, multiplying and looking for the least.
        """
        d = self.shape[1]
        return (count + pairs) * (4 + 0.4 * d) < count * (1.7 * d + k * (3.5 + 0.07 * d))

    def move(self, rows: Array, before: Array, labels: Array, weight: Array, part: slice, sums: Sums) -> None:
        """Bring the sums of some clusters up to date."""
        move_sums(self.X, self.middle, weight, rows, before, labels, part.start, part.stop, *sums)

    def own_distances(self, part: slice, weight: Array, centers: Array, labels: Array, distances: Array) -> float:
        """Return the weighted sum of squared distances to the rows' own centers; write them where there is room."""
        return float(own_distances(self.X, part.start, part.stop, weight, centers, labels, distances))

    def gains_of(self, part: slice, weight: Array, candidates: Array, *state: Array) -> None:
        """Add what each candidate would take off the sum of squared distances; see ``kmeans_starts_kernels``."""
        from pellucid.cluster.kmeans.kmeans_starts_kernels import gains_of

        gains_of(self.X, part.start, part.stop, weight, candidates, *state)

    def add_center(self, part: slice, weight: Array, centers: Array, *state: Any) -> None:
        """Lower the squared distances to the nearest center where a new one is nearer."""
        from pellucid.cluster.kmeans.kmeans_starts_kernels import add_center

        add_center(self.X, part.start, part.stop, weight, centers, *state)


class SparseMeasured:
    """A CSR matrix."""

    def __init__(self, X: SparseOrDense) -> None:
        self.X, self.shape, self.middle = X, X.shape, np.zeros(X.shape[1])
        self.parts = (X.data, X.indices, X.indptr)
        self.unit = unit_for(size_of(X) or 0.0)
        self.row_bytes = 12 * X.nnz // max(1, X.shape[0])
        self.share = 1.1 * (2 * int(np.diff(X.indptr).max(initial=0)) + 22) * 2.0**-24

    def code(self, centers: Array, names: Array) -> CodedCenters:
        """Return the centers in the form in which rows are multiplied with them."""
        moved, k = centers * self.unit, len(centers)
        sizes = np.einsum("kj,kj->k", moved, moved)
        largest = float(sizes.max())
        factors = np.zeros((centers.shape[1], k + -k % 4), np.float32)
        if not largest < LARGEST_SQUARE:
            return CodedCenters(centers, names, factors, np.zeros(k), math.inf)
        moved *= -2.0

        def turn(part: slice) -> None:
            factors[part, :k] = moved[:, part].T

        run_blocks(turn, shares(centers.shape[1], moved.size))
        return CodedCenters(centers, names, factors, sizes, largest)

    def judge(self, rows: Array, coded: CodedCenters, bounds: Bounds, before: Array) -> None:
        """Find the nearest of all centers for some rows."""
        from pellucid.cluster.kmeans.nearest_centers_kernels import take_sparse_rows

        width = coded.factors.shape[1]
        height = min(max(1, len(rows)), max(64, BYTES_AT_ONCE // (4 * width)))
        products = np.empty((height, width), np.float32)
        squares, unsure = np.empty(height), np.empty(height, np.int32)
        for start in range(0, len(rows), height):
            some = rows[start : start + height]
            take_sparse_rows(*self.parts, some, self.unit, coded.factors, coded.sizes, products, squares)
            _decide(self, some, products, squares, coded, bounds, before[start : start + height], unsure)

    revisit = judge

    def is_worth_revisiting(self, _count: int, _pairs: int, _k: int) -> bool:
        """Return False: all products of an entry stand together."""
        return False

    def exact(self, rows: Array) -> Array:
        """Return rows whose squared differences count."""
        return np.asarray(self.X[rows].toarray())

    def rounded(self, rows: Any) -> Any:
        """Return rows in single precision, in which they look alike whatever precision they came in."""
        return _rounded(self.X[rows], self.unit)

    def move(self, rows: Array, before: Array, labels: Array, weight: Array, part: slice, sums: Sums) -> None:
        """Bring the sums of some clusters up to date."""
        from pellucid.cluster.kmeans.nearest_centers_kernels import move_sparse_sums

        move_sparse_sums(*self.parts, weight, rows, before, labels, part.start, part.stop, *sums)

    def own_distances(self, part: slice, weight: Array, centers: Array, labels: Array, distances: Array) -> float:
        """Return the weighted sum of squared distances to the rows' own centers; write them where there is room."""
        from pellucid.cluster.kmeans.nearest_centers_kernels import own_sparse_distances

        sizes = np.einsum("kj,kj->k", centers, centers)
        return float(
            own_sparse_distances(*self.parts, part.start, part.stop, weight, centers, sizes, labels, distances)
        )

    def gains_of(self, part: slice, weight: Array, candidates: Array, *state: Array) -> None:
        """Add what each candidate would take off the sum of squared distances; see ``kmeans_starts_kernels``."""
        from pellucid.cluster.kmeans.kmeans_starts_kernels import sparse_gains_of

        sizes = np.einsum("kj,kj->k", candidates, candidates)
        sparse_gains_of(*self.parts, part.start, part.stop, weight, candidates, sizes, *state)

    def add_center(self, part: slice, weight: Array, centers: Array, *state: Any) -> None:
        """Lower the squared distances to the nearest center where a new one is nearer."""
        from pellucid.cluster.kmeans.kmeans_starts_kernels import add_sparse_center

        sizes = np.einsum("kj,kj->k", centers, centers)
        add_sparse_center(*self.parts, part.start, part.stop, weight, centers, sizes, *state)


def _rounded(X: SparseOrDense, unit: float) -> Any:
    """Return numbers in single precision; only those it has no room for are scaled."""
    return (X if MODEST_UNIT < unit < 1.0 / MODEST_UNIT else X * unit).astype(np.float32)


def hashes_of(rows: DenseRows | SparseMeasured, which: Array | None = None, *, salt: int = 0, keep: int = 64) -> Array:
    """Return a number for the content of each row, or of some: an order that does not depend on the table's.

    Of its 64 bits the first ``keep`` are kept, 16 at most where it is not all.
    """
    if which is not None:
        return content_hashes(rows.rounded(which), np.full(len(which), salt))
    hashes = np.empty(rows.shape[0], np.uint64 if keep == 64 else np.uint16)

    def work(part: slice) -> None:
        found = content_hashes(rows.rounded(part), np.full(part.stop - part.start, salt))
        hashes[part] = found >> np.uint64(64 - keep)

    run_blocks(work, split_evenly(rows.shape[0], 1 + rows.shape[0] * rows.row_bytes // BYTES_HASHED))
    return hashes


def measured_rows(X: SparseOrDense) -> DenseRows | SparseMeasured:
    """Return the rows in the form that their storage asks for."""
    return SparseMeasured(X) if sparse.issparse(X) else DenseRows(X)


def _decide(
    rows: DenseRows | SparseMeasured,
    some: Array,
    products: Array,
    squares: Array,
    coded: CodedCenters,
    bounds: Bounds,
    before: Array,
    unsure: Array,
) -> None:
    """Find the least of the products of each row, and where rounding leaves a doubt, of the squared differences."""
    error = (rows.share, coded.largest)
    count = judge_rows(products, squares, *error, some, *bounds, before, unsure)
    if count:
        which = unsure[:count]
        exact = rows.exact(some[which])
        decide_rows(which, exact, products, squares, *error, some, rows.unit, coded.centers, coded.names, *bounds)
