"""Lengths of the shortest paths between all nodes of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array

SOURCES = 32
"""Sources of one block: with more of them the order that suits one suits the others less."""


def all_shortest_paths(graph: Any) -> Array:
    """Return the lengths of the shortest paths between all nodes of a connected graph, of shape (n, n).

    ``graph`` has in compressed rows the length of every link, at least 0, in both directions. Lengths are added in the
    order of the path, so that they have the bits that Dijkstra's method gives them.

    Examples
    --------
    >>> all_shortest_paths(sparse.csr_array([[0.0, 1, 5], [1, 0, 2], [5, 2, 0]]))
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    from pellucid.manifold.isomap.shortest_paths_kernels import correct_paths, group_neighbors

    n = graph.shape[0]
    turns = np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int32)
    near = _renumbered(graph, turns)  # near nodes get near numbers, and stand near each other in memory
    links = near.indptr.astype(np.int32), near.indices.astype(np.int32)
    lengths = np.ascontiguousarray(near.data, dtype=np.float64)
    found = np.empty((n, n))

    def neighbors_of(starts: Array, size: int) -> list[Array]:
        groups, sizes = np.empty((len(starts), size), np.int32), np.empty(len(starts), np.int32)
        n_groups = group_neighbors(*links, starts, groups, sizes, np.zeros(n, np.uint8))
        return [group[:many] for group, many in zip(groups[:n_groups], sizes[:n_groups], strict=True)]

    def paths_from(sources: Array, order: Array) -> Array:
        paths, is_waiting = np.full((n, len(sources)), np.inf), np.zeros(n, np.uint8)
        paths[sources, np.arange(len(sources))] = 0.0
        is_waiting[sources] = 1
        correct_paths(*links, lengths, order, paths, is_waiting)
        return paths

    def work(sources: Array) -> None:
        first = sources[:1]
        order = np.argsort(paths_from(first, neighbors_of(first, n)[0])[:, 0], kind="stable").astype(np.int32)
        block = np.empty((len(sources), n))
        block[:, turns] = paths_from(sources, order).T
        found[turns[sources]] = block

    run_blocks(work, neighbors_of(np.arange(n, dtype=np.int32), SOURCES))
    return found


def _renumbered(graph: Any, turns: Array) -> Any:
    """Return the graph with its nodes in this order; links of length 0 stay."""
    place = np.empty(len(turns), np.int32)
    place[turns] = np.arange(len(turns))
    links = graph.tocoo()
    return sparse.csr_array((links.data, (place[links.row], place[links.col])), shape=graph.shape)
