"""The neighbor graph of the rows, and how its parts are joined."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, SparseOrDense
from pellucid.manifold.dissimilarities import is_given
from pellucid.neighbors.metric import Metric
from pellucid.neighbors.nearest_rows import build_tree, nearest_rows, tree_pays

LEAF = 30


def neighbor_distances(
    parameters: Any, metric: Metric, queries: Any, X: SparseOrDense, *, is_training: bool
) -> tuple[Array, Array, Array]:
    """Return who is near whom: rows of the queries, rows of ``X`` and their distances, sorted by query.

    A training row is not its own neighbor. Of equally near rows the first counts.
    """
    n = queries.shape[0]
    if parameters.n_neighbors is None:
        return _within_radius(parameters.radius, metric, queries, X, is_training=is_training)
    k, n_rows = parameters.n_neighbors, X.shape[0]
    if k > n_rows - is_training:
        raise ValueError(
            f"n_neighbors must be below the number of rows, got {k} for n_samples={n_rows}. Ask for fewer neighbors."
        )
    suits_tree = not is_given(metric.name) and metric.suits_a_tree and not sparse.issparse(X)
    tree = build_tree(X, metric, LEAF) if suits_tree and tree_pays(X.shape[1], metric) else None
    distances, near = nearest_rows(X, queries, k, metric, tree=tree, excluded=np.arange(n) if is_training else None)
    return np.repeat(np.arange(n), k), near.ravel(), distances.ravel()


def _within_radius(
    radius: float, metric: Metric, queries: Any, X: SparseOrDense, *, is_training: bool
) -> tuple[Array, Array, Array]:
    n, height = queries.shape[0], max(1, BLOCK_ENTRIES // X.shape[0])
    parts = []
    for start in range(0, n, height):
        table = distance_block(metric, queries[start : start + height], X)
        is_near = (table <= radius) & np.isfinite(table)
        if is_training:
            is_near[np.arange(len(table)), np.arange(start, start + len(table))] = False
        rows, near = np.nonzero(is_near)
        parts.append((rows + start, near, table[rows, near]))
    rows, near, distances = (np.concatenate(part) for part in zip(*parts, strict=True))
    return rows, near, distances


def undirected(rows: Array, others: Array, lengths: Array, n: int) -> Any:
    """Return the links in compressed rows, each in both directions: the shorter of two between the same rows."""
    start, end = np.concatenate([rows, others]), np.concatenate([others, rows])
    both = np.concatenate([lengths, lengths])
    order = np.lexsort((both, end, start))
    start, end, both = start[order], end[order], both[order]
    is_first = np.ones(len(start), bool)
    is_first[1:] = (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    counts = np.bincount(start[is_first], minlength=n)
    ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return sparse.csr_array((both[is_first], end[is_first].astype(np.int32), ends), shape=(n, n))


def joined(graph: Any, parts: list[Array], metric: Metric, X: SparseOrDense) -> tuple[Any, list[tuple[int, int]]]:
    """Return the graph with every two parts joined by their closest rows, and these rows."""
    links = []
    for one, other in combinations(parts, 2):
        table = metric.table(X[one], X[other]) if not is_given(metric.name) else X[np.ix_(one, other)]
        place = np.unravel_index(int(np.argmin(table)), table.shape)
        links.append((int(one[place[0]]), int(other[place[1]]), float(table[place])))
    known = graph.tocoo()
    rows = np.concatenate([known.row, [link[0] for link in links]])
    others = np.concatenate([known.col, [link[1] for link in links]])
    lengths = np.concatenate([known.data, [link[2] for link in links]])
    return undirected(rows, others, lengths, graph.shape[0]), [link[:2] for link in links]


BLOCK_ENTRIES = 2**21
"""Distances of one block of rows: 16 MB."""


def graph_metric(parameters: Any) -> Metric:
    """Return the metric that the parameters of Isomap mean."""
    return Metric.resolve(parameters.metric, parameters.p, parameters.metric_params)


def distance_block(metric: Metric, queries: Any, X: SparseOrDense) -> Array:
    """Return distances of some rows to all, float64; infinite where a given sparse matrix stores none."""
    if not is_given(metric.name):
        return np.asarray(metric.table(queries, X), dtype=np.float64)
    if not sparse.issparse(queries):
        return np.array(queries, dtype=np.float64)
    found, stored = np.full(queries.shape, np.inf), queries.tocoo()
    found[stored.row, stored.col] = stored.data
    return found
