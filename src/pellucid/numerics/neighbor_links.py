"""Links of each row with its nearest rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.numerics.kd_tree import KDTree
from pellucid.numerics.pairwise_blocks import nearest_by_table, nearest_euclidean, nearest_sparse_euclidean
from pellucid.numerics.top_k import Nearest

MOST_FOR_A_TREE, LEAF = 8, 30
"""Columns up to which nearest rows are found by a tree, and rows in its leaves."""


def neighbor_links(X: Any, k: int, *, is_given: bool) -> Any:
    """Return half of who has the other among its k nearest rows, itself one of them; ``is_given``: X are distances."""
    linked = (_given_neighbors if is_given else _neighbors)(X, k)
    links = (0.5 * (linked + linked.T)).tocsr()
    links.sum_duplicates()  # and puts the columns of each row in order
    return links


def _neighbors(X: Any, k: int) -> Any:
    """Return who is among the k nearest rows of each, itself one of them; of equally near ones the first counts."""
    n = X.shape[0]
    if k > n:
        raise ValueError(f"n_neighbors must be at most the number of rows, got {k} for {n} rows.")
    found = Nearest.none_yet(n, k)
    if sparse.issparse(X):
        nearest_sparse_euclidean(X, X, found)
    else:
        unit = 0.5 ** np.frexp(max(float(np.abs(X).max(initial=0.0)), 1e-300))[1]  # squares then stay finite
        if X.shape[1] <= MOST_FOR_A_TREE:
            found = KDTree.of(X * unit, LEAF).query(X * unit, k)[0]
        else:
            nearest_euclidean(X * unit, X * unit, found)
    return _graph(found.indices, n)


def _given_neighbors(distances: Any, k: int) -> Any:
    """Return the same from given distances; of a sparse matrix those that it stores count."""
    n = distances.shape[0]
    if not sparse.issparse(distances):
        found = Nearest.none_yet(n, min(k, n))
        nearest_by_table(lambda part: distances[part], n, found)
        return _graph(found.indices, n)
    stored = np.diff(distances.indptr)
    if stored.min() < k:
        raise ValueError(
            f"n_neighbors must be at most the number of stored distances of each row, got {k} where a row has "
            f"{stored.min()}: {k} neighbors are required for some samples. Store more distances or ask for fewer."
        )
    rows = np.repeat(np.arange(n), stored)
    order = np.lexsort((distances.indices, distances.data, rows))
    first = order[(distances.indptr[:-1, None] + np.arange(k)).ravel()]
    return _graph(distances.indices[first].reshape(n, k), n)


def _graph(neighbors: Array, n: int) -> Any:
    k = neighbors.shape[1]
    return sparse.csr_array((np.ones(neighbors.size), neighbors.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
