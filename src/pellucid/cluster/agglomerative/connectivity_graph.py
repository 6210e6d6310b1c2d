"""Who may merge with whom: the graph of a ``connectivity``, symmetric and in one piece."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

from pellucid.cluster.kmedoids.metrics import distances_between
from pellucid.core.types import Array


def connectivity_graph(X: Array, connectivity: Any, metric: Any) -> tuple[Array, int]:
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


def _bridges(X: Array, piece: Array, n_pieces: int, metric: Any) -> Array:
    members, found = [np.flatnonzero(piece == k) for k in range(n_pieces)], []
    for one, other in combinations(members, 2):
        if isinstance(metric, str) and metric == "precomputed":
            gaps = X[np.ix_(one, other)]
        else:
            gaps = distances_between(X[one], X[other], metric)
        i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
        found.append((one[i], other[j]))
    return np.array(found)
