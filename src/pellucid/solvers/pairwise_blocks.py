"""Nearest rows by brute force, in blocks that fit in the cache, on all threads.

Euclidean distances are found in two steps: a matrix product in low precision rules out almost all rows
(:mod:`pellucid.solvers.pairwise_blocks`), and the rest, a few hundred of many thousand, are measured from differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from pellucid.core.input_rules import unit_for
from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.solvers.kd_tree import Nearest

QUERIES_AT_ONCE = 1280
FEW = 4
"""So few queries are measured against every row; encoding the rows would take longer."""
MANY = 128
"""From so many queries on it pays to look for a projection."""
WASTED = 0.05
"""Share of rows measured in vain above which the bounds are too rough for these data, and better ones are taken."""
SETTLED = 4096
"""Rows after which that is judged: the first ones are many in vain because nothing nearer has been seen."""
TABLE_ENTRIES = 2**21
"""Distances of one block where all of them are needed: 16 MB."""


def nearest_euclidean(X: Array, queries: Array, found: Nearest) -> None:
    """Fill ``found`` with the rows of ``X`` nearest to the queries, by squared distance."""
    roughest_first = _bounds_for(X, len(queries))

    def work(part: slice) -> None:
        some, mine = found.part(part), np.ascontiguousarray(queries[part], dtype=np.float64)
        if roughest_first:
            _measure_in_reach(roughest_first, mine, some)
        else:
            _measure_all(X, mine, some)
        some.sort()

    run_blocks(work, _parts(len(queries), QUERIES_AT_ONCE))


def nearest_minkowski(X: Array, queries: Array, found: Nearest, p: float) -> None:
    """Fill ``found`` with the rows of ``X`` nearest to the queries, by the Minkowski distance before its root."""
    from pellucid.solvers.nearest_kernels import measure_columns

    height = max(64, 2**15 // X.shape[1])

    def work(part: slice) -> None:
        some, mine = found.part(part), np.ascontiguousarray(queries[part], dtype=np.float64)
        scratch = np.empty(height)
        for first in range(0, len(X), height):
            columns = np.array(X[first : first + height].T, dtype=np.float64, order="C")
            measure_columns(columns, first, mine, float(p), some.excluded, scratch, some.distances, some.indices)
        some.sort()

    run_blocks(work, _parts(len(queries), QUERIES_AT_ONCE))


def nearest_sparse_euclidean(X: Data, queries: Data, found: Nearest) -> None:
    """Fill ``found`` with the rows of the CSR matrix ``X`` nearest to those of ``queries``, by squared distance.

    Both must have their column indices in order. Products with zeros are exact, so the rounding that a row can have
    suffered grows with its stored entries only.
    """
    from pellucid.solvers.nearest_kernels import measure_sparse

    X, queries = X.astype(np.float64), queries.astype(np.float64)
    transposed = X.T.tocsr()
    most = max(int(np.diff(matrix.indptr).max(initial=0)) for matrix in (X, queries))
    share = 1.1 * (2 * most + 16) * float(np.finfo(np.float64).eps)
    squares, own = _squared_norms(X), _squared_norms(queries)

    def work(part: slice) -> None:
        some, mine = found.part(part), queries[part]
        rough = (1 - share) * (squares + own[part, None]) - 2.0 * (mine @ transposed).toarray()
        parts = (X.indptr, X.indices, X.data, mine.indptr, mine.indices, mine.data)
        measure_sparse(rough, *parts, some.excluded, some.distances, some.indices)
        some.sort()

    run_blocks(work, _parts(queries.shape[0], TABLE_ENTRIES // max(1, X.shape[0])))


def nearest_by_table(distances_of: Callable[[slice], Array], n_rows: int, found: Nearest) -> None:
    """Fill ``found`` from a function that returns the distances of some queries to all rows.

    The function may be the user's, so it is called from this thread only.
    """
    from pellucid.solvers.nearest_kernels import keep_smallest_of_rows

    for part in _parts(len(found.distances), TABLE_ENTRIES // max(1, n_rows), at_least=1):
        some, table = found.part(part), np.ascontiguousarray(distances_of(part), dtype=np.float64)
        keep_smallest_of_rows(table, 0, some.excluded, some.distances, some.indices)
        some.sort()


def _bounds_for(X: Array, n_queries: int) -> list[RoughDistances]:
    """Return bounds, the cheapest first, that pay for so many queries."""
    if n_queries <= FEW:
        return []
    sample = Sample(X)
    basis = sample.main_directions() if n_queries >= MANY else None
    projected = [] if basis is None else [RoughDistances(X, sample, np.float32, basis)]
    return [*projected, *(RoughDistances(X, sample, dtype) for dtype in (np.float32, np.float64))]


def _measure_all(X: Array, queries: Array, some: Nearest) -> None:
    """Measure every row: bounds that rule nothing out cost least for a handful of queries."""
    from pellucid.solvers.nearest_kernels import measure_dense

    bounds = np.full((len(queries), len(X)), -np.inf, np.float32)
    heaps = some.excluded, some.distances, some.indices
    measure_dense(bounds, X, 0, queries, np.zeros(len(queries)), 1.0, 0.0, *heaps)


def _measure_in_reach(roughest_first: list[RoughDistances], queries: Array, some: Nearest) -> None:
    """Measure what the bounds cannot rule out, block by block; go on to better bounds where too much is in vain."""
    from pellucid.solvers.nearest_kernels import measure_dense

    better = iter(roughest_first)
    rough = next(better)
    encoded, shifts = rough.queries(queries)
    X, unit = rough.X, rough.sample.unit**2
    for first in range(0, len(X), BLOCK_ROWS):
        bounds = encoded @ rough.rows(first).T
        heaps = some.excluded, some.distances, some.indices
        wasted = measure_dense(bounds, X, first, queries, shifts, unit, rough.grain, *heaps)
        if first >= SETTLED and wasted > WASTED * bounds.size and rough is not roughest_first[-1]:
            rough = next(better)
            encoded, shifts = rough.queries(queries)


def _parts(n: int, most: int, at_least: int | None = None) -> list[slice]:
    """Return slices of at most ``most`` queries, and no fewer slices than threads unless told."""
    fewest = thread_count() if at_least is None else at_least
    return split_evenly(n, max(fewest, -(-n // max(1, most))))


def _squared_norms(X: Data) -> Array:
    return np.asarray(sparse.csr_array(X).power(2).sum(axis=1)).ravel()


# Lower bounds of squared distances from one matrix product in low precision.
#
# Rows and queries are centered, scaled and, where that keeps most of their size, projected on a few directions: a
# projection only shortens distances. With :math:`\hat{x}` for what is left of :math:`x`, the product computes
#
# .. math:: \|\hat{x}\|^2 - e\,\|x\|^2 - 2\,\hat{x} \cdot \hat{q}\ \le\ \|x - q\|^2 - (\|\hat{q}\|^2 - e\,\|q\|^2).
#
# The share :math:`e` pays for all rounding, with unit u, in r of d dimensions. Sums of r + 1 products err by at most
# (r + 1) u times the sum of their sizes, which is at most :math:`2 (\|x\|^2 + \|q\|^2)`: that takes 2 r + 16,
# conversion included. A projected row errs by at most :math:`(\sqrt{r}\,(d + 1) + 2)\,u\,\|x\|` in length, so a
# squared distance by 4 times that share of :math:`\|x\|^2 + \|q\|^2`.


SAMPLED_ROWS = 1024
DIRECTIONS = 64
"""Dimensions of the projection; from four times as many on it is worth a try."""
WORTH_KEEPING = 0.6
"""Share of the sum of squares that the projection must keep to be used."""
LARGEST_SQUARE = 1e30
"""Rows whose squared norm, in units of the sample, is larger might overflow float32: nothing is ruled out for them."""
BLOCK_ROWS = 512
KEPT_BYTES = 2**26
"""Encoded rows are kept for the next queries if all of them fit in this."""


class RoughDistances:
    """The rows of ``X`` and any queries, encoded so that ``queries @ rows.T`` are the bounds."""

    def __init__(self, X: Array, sample: Sample, dtype: type[np.floating], basis: Array | None = None) -> None:
        self.X, self.sample, self.dtype = X, sample, dtype
        self.basis = None if basis is None else basis.astype(dtype)
        d = X.shape[1]
        r = d if basis is None else basis.shape[1]
        rounding = 2 * r + 16 + (0.0 if basis is None else 4 * (math.sqrt(r) * (d + 1) + 2))
        error = 1.1 * rounding * float(np.finfo(dtype).eps) / 2
        self.share = error / (1 - error) if error < 0.5 else math.inf  # with millions of features nothing is ruled out
        self.grain = 2 * float(np.finfo(dtype).eps)
        self._kept: dict[int, Array] | None = {} if len(X) * (r + 1) * 4 <= KEPT_BYTES else None

    def queries(self, Q: Array) -> tuple[Array, Array]:
        """Return the encoded queries, and for each what to add to its bounds."""
        encoded, squares, own = self._encode(Q)
        safe = squares <= LARGEST_SQUARE
        encoded[~safe] = 0.0
        encoded[:, -1] = 1.0
        return encoded, np.where(safe, self._lowered(own, squares), -np.inf)

    def rows(self, first: int) -> Array:
        """Return the encoded rows of the block that starts at row ``first``."""
        if self._kept is not None and first in self._kept:
            return self._kept[first]
        encoded, squares, own = self._encode(self.X[first : first + BLOCK_ROWS])
        safe = squares <= LARGEST_SQUARE
        encoded[:, :-1] *= -2.0
        encoded[~safe] = 0.0
        encoded[:, -1] = np.where(safe, self._lowered(own, squares), -np.inf)
        if self._kept is not None:  # two threads may both get here, with the same result
            self._kept[first] = encoded
        return encoded

    def _lowered(self, own: Array, squares: Array) -> Array:
        return own - self.share * squares if self.share < math.inf else np.full_like(own, -np.inf)

    def _encode(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the rows with a free last column, their squared norms, and those of what the projection leaves."""
        centered = rows - self.sample.center
        centered *= self.sample.unit
        squares = np.einsum("ij,ij->i", centered, centered)
        width = centered.shape[1] if self.basis is None else self.basis.shape[1]
        encoded = np.empty((len(rows), width + 1), self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are told apart by their squares
            if self.basis is None:
                encoded[:, :-1] = centered
                return encoded, squares, squares
            np.matmul(centered.astype(self.dtype), self.basis, out=encoded[:, :-1])
        return encoded, squares, np.einsum("ij,ij->i", encoded[:, :-1], encoded[:, :-1], dtype=np.float64)


class Sample:
    """Some rows, evenly spaced: their center, and the power of two that brings them near 1."""

    def __init__(self, X: Array) -> None:
        rows = np.asarray(X[:: max(1, len(X) // SAMPLED_ROWS)], dtype=np.float64)
        self.center = rows.mean(axis=0)
        self.rows = rows - self.center
        self.unit = unit_for(float(np.abs(self.rows).max(initial=0.0)))

    def main_directions(self) -> Array | None:
        """Return an orthonormal basis that keeps most of the rows' squares, by two subspace iterations, or None."""
        rows, d = self.rows * self.unit, self.rows.shape[1]
        if d < 4 * DIRECTIONS:
            return None
        basis = np.random.default_rng(0).standard_normal((d, DIRECTIONS))
        for _ in range(3):
            basis = qr(rows.T @ (rows @ basis), mode="economic", check_finite=False)[0]
        kept = float(np.sum((rows @ basis) ** 2))
        return basis if kept > WORTH_KEEPING * float(np.sum(rows**2)) else None
