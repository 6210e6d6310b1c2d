"""Nearest stored rows of some queries: by kd-tree where there is one, otherwise by brute force."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data
from pellucid.neighbors.metric import Metric, unit_of
from pellucid.solvers.kd_tree import KDTree, Nearest
from pellucid.solvers.pairwise_blocks import (
    nearest_by_table,
    nearest_euclidean,
    nearest_minkowski,
    nearest_sparse_euclidean,
)

MOST_FEATURES_FOR_A_TREE = 15
MOST_FOR_A_EUCLIDEAN_TREE = 8
"""With more features a query visits most of a tree, and brute force is faster; by matrix products even sooner."""


def build_tree(X: Array, metric: Metric, leaf_size: int) -> KDTree:
    """Return the kd-tree of the rows, in the unit that suits them and the metric."""
    unit = unit_of(X, metric.power)
    return KDTree.of(X if unit == 1.0 else X * unit, leaf_size)


def tree_pays(n_features: int, metric: Metric) -> bool:
    """Return whether a tree can be expected to be faster than brute force."""
    return n_features <= (MOST_FOR_A_EUCLIDEAN_TREE if metric.power == 2.0 else MOST_FEATURES_FOR_A_TREE)


def nearest_rows(
    X: Data, queries: Data, k: int, metric: Metric, *, tree: KDTree | None, excluded: Array | None
) -> tuple[Array, Array]:
    """Return distances and indices of shape (n_queries, k): nearest first, of equal distances the lower index first."""
    if metric.name == "precomputed":
        return _nearest_in_table(queries, k, excluded)
    if metric.power is None or (sparse.issparse(X) and metric.power != 2.0):
        found = Nearest.none_yet(queries.shape[0], k, excluded)
        nearest_by_table(lambda part: metric.table(queries[part], X), X.shape[0], found)
        return found.distances, found.indices
    if sparse.issparse(X):
        found = Nearest.none_yet(queries.shape[0], k, excluded)
        nearest_sparse_euclidean(X, sparse.csr_array(queries), found)
        return metric.rooted(found.distances), found.indices
    queries = queries.toarray() if sparse.issparse(queries) else queries
    return _nearest_by_differences(X, queries, k, metric, metric.power, tree, excluded)


def _nearest_by_differences(
    X: Array, queries: Array, k: int, metric: Metric, power: float, tree: KDTree | None, excluded: Array | None
) -> tuple[Array, Array]:
    unit = unit_of(X, power)
    if tree is not None:
        found = tree.query(queries if unit == 1.0 else queries * unit, k, p=power, excluded=excluded)[0]
    else:
        found = Nearest.none_yet(len(queries), k, excluded)
        nearest_sums(X, queries, found, power, unit)
    return metric.rooted(found.distances, unit), found.indices


def nearest_sums(X: Array, queries: Array, found: Nearest, power: float, unit: float) -> None:
    """Fill ``found`` by brute force, with sums of powers of differences of rows and queries times ``unit``."""
    rows, scaled = (X, queries) if unit == 1.0 else (X * unit, queries * unit)
    if power == 2.0:
        nearest_euclidean(rows, scaled, found)
    else:
        nearest_minkowski(rows, scaled, found, power)


def _nearest_in_table(table: Data, k: int, excluded: Array | None) -> tuple[Array, Array]:
    """Return the smallest entries of each row; of a sparse table, among those that are stored."""
    found = Nearest.none_yet(table.shape[0], k, excluded)
    nearest_by_table(lambda part: _dense(table[part]), table.shape[1], found)
    if sparse.issparse(table):
        short = int(np.sum(np.isinf(found.distances[:, -1])))
        if short:
            raise ValueError(
                f"n_neighbors must be at most the number of stored distances of each row, got {k}: {short} rows have "
                "fewer. Lower n_neighbors, or store more neighbors in the graph."
            )
    return found.distances, found.indices


def _dense(table: Data) -> Array:
    if not sparse.issparse(table):
        return np.asarray(table)
    full = np.full(table.shape, np.inf)
    coordinates = sparse.csr_array(table).tocoo()
    full[coordinates.row, coordinates.col] = coordinates.data
    return full
