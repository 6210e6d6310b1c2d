"""Nearest rows by brute force, in blocks that fit in the cache, on all threads.

Euclidean distances are found in two steps: a matrix product in low precision rules out almost all rows
(:mod:`pellucid.numerics.rough_distances`), and the rest, a few hundred of many thousand, are measured from differences.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.numerics.rough_distances import BLOCK_ROWS, RoughDistances, Sample
from pellucid.numerics.top_k import Nearest

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
    from pellucid.numerics.pairwise_blocks_kernels import measure_columns

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
    from pellucid.numerics.pairwise_blocks_kernels import measure_sparse

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
    from pellucid.numerics.top_k_kernels import keep_smallest_of_rows

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
    from pellucid.numerics.pairwise_blocks_kernels import measure_dense

    bounds = np.full((len(queries), len(X)), -np.inf, np.float32)
    heaps = some.excluded, some.distances, some.indices
    measure_dense(bounds, X, 0, queries, np.zeros(len(queries)), 1.0, 0.0, *heaps)


def _measure_in_reach(roughest_first: list[RoughDistances], queries: Array, some: Nearest) -> None:
    """Measure what the bounds cannot rule out, block by block; go on to better bounds where too much is in vain."""
    from pellucid.numerics.pairwise_blocks_kernels import measure_dense

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
