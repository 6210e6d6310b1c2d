"""Merges of neighbors only, by complete, average or Ward's linkage: a heap of the edges between clusters.

Complete and average linkage know the distances along edges of the graph and no others: where only one of two clusters
that merge has an edge to a third, its distance stays, as in scikit-learn.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

from pellucid.cluster.agglomerative.dendrogram import Dendrogram
from pellucid.cluster.agglomerative.distances import distances_between, paired_gaps
from pellucid.core.types import Array, MetricLike

ROOM_PER_EDGE = 4
"""Edges that there may be before the arrays are made longer, for each that there is at first."""


def constrained_tree(X: Array, edges: Array, linkage: str, metric: MetricLike, n_merges: int) -> Dendrogram:
    """Return the tree of the first merges, each of the nearest two clusters that an edge joins."""
    from pellucid.cluster.agglomerative.constrained_kernels import AVERAGE, COMPLETE, WARD, merge_neighbors

    n, code = X.shape[0], {"complete": COMPLETE, "average": AVERAGE, "ward": WARD}[linkage]
    n_nodes = 2 * n - 1
    sums = np.zeros((n_nodes, X.shape[1] if linkage == "ward" else 0))
    if linkage == "ward":
        sums[:n] = np.asarray(X, np.float64) - np.median(X, axis=0)
    lengths = np.zeros(len(edges)) if linkage == "ward" else paired_gaps(X, edges[:, 0], edges[:, 1], metric)
    sizes, names, heads = np.ones(n_nodes), np.arange(n_nodes), np.full(n_nodes, -1)
    marks, values, around = np.full(n_nodes, -1), np.empty(n_nodes), np.empty(n_nodes, np.int64)
    counters, children, heights = np.zeros(3, np.int64), np.empty((n_merges, 2), np.int64), np.empty(n_merges)
    room = ROOM_PER_EDGE * len(edges) + n
    gaps, ends = np.empty(room), np.empty((room, 2), np.int64)
    following, heap = np.empty(2 * room, np.int64), np.empty(room, np.int64)
    while True:
        merge_neighbors(
            *(edges, lengths, code, sums, sizes, names, gaps, ends, following, heads, marks, values, around, heap),
            *(counters, children, heights),
        )
        if counters[-1] == n_merges:
            return Dendrogram(children, np.sqrt(2.0 * heights) if linkage == "ward" else heights, n)
        gaps, ends, following, heap = map(_twice, (gaps, ends, following, heap))


def _twice(array: Array) -> Array:
    """Return the array with as much room again behind it."""
    return np.concatenate([array, np.empty_like(array)])


def connectivity_graph(X: Array, connectivity: Any, metric: MetricLike) -> tuple[Array, int]:
    """Return the edges (i, j) with i < j of a graph in one piece, and how many pieces there were.

    Between every two pieces an edge joins the two rows that are nearest to each other, of equal ones the first.
    """
    given = connectivity(X) if callable(connectivity) else connectivity
    given = check_array(given, accept_sparse=["csr", "coo", "lil"])
    n = X.shape[0]
    if given.shape != (n, n):
        raise ValueError(f"connectivity must have the shape ({n}, {n}), got {given.shape}. Wrong shape for {n} rows.")
    graph = sparse.coo_array(given)
    both = sparse.coo_array(
        (np.ones(2 * graph.nnz), (np.r_[graph.row, graph.col], np.r_[graph.col, graph.row])), shape=(n, n)
    )
    both.data[:] = np.r_[graph.data, graph.data] != 0
    both.eliminate_zeros()
    n_pieces, piece = connected_components(both)
    ends = np.stack([both.row, both.col], axis=1)
    if n_pieces > 1:
        ends = np.concatenate([ends, _bridges(X, piece, int(n_pieces), metric)])
    ends = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1).astype(np.int64)
    places = np.unique(ends[:, 0] * n + ends[:, 1])  # one number for a pair sorts faster than two
    return np.stack([places // n, places % n], axis=1), int(n_pieces)


def _bridges(X: Array, piece: Array, n_pieces: int, metric: MetricLike) -> Array:
    members, found = [np.flatnonzero(piece == k) for k in range(n_pieces)], []
    for one, other in combinations(members, 2):
        if isinstance(metric, str) and metric == "precomputed":
            gaps = X[np.ix_(one, other)]
        else:
            gaps = distances_between(X[one], X[other], metric)
        i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
        found.append((one[i], other[j]))
    return np.array(found)
