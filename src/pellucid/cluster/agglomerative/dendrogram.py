"""The tree of merges: in the order of their heights, and cut into clusters."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from pellucid.cluster.agglomerative.tree_cut import cut_nodes
from pellucid.core.types import Array


class Dendrogram(NamedTuple):
    """Who merged, at what height: ``children[k]`` become node ``n_leaves + k``, as in scikit-learn."""

    children: Array
    heights: Array
    n_leaves: int
    n_connected_components: int = 1


def tree_of_chain(merges: Array, heights: Array) -> Dendrogram:
    """Return the tree of merges that a chain of nearest neighbors found, in the order of a greedy method.

    Names of clusters are their last rows. Merges at one height are ordered by the lower name, then by the higher.
    """
    from pellucid.cluster.agglomerative.spanning_tree_kernels import lift_heights

    prior = np.empty_like(merges)
    lift_heights(merges, np.full(len(merges) + 1, -1), heights, prior)
    order = np.lexsort((merges[:, 1], merges[:, 0], heights))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    if np.any((prior >= 0) & (rank[prior] > rank[:, None])):  # heights that rounding has made equal
        order = _order_by_parts(merges, heights, prior)
    return joined(merges[order], heights[order])


def tree_of_edges(edges: Array, lengths: Array) -> Dendrogram:
    """Return the tree of single linkage, from the edges of a minimum spanning tree; of equal ones the first rows."""
    ends = np.sort(edges, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0], lengths))
    return joined(ends[order], lengths[order])


def joined(merges: Array, heights: Array) -> Dendrogram:
    """Return the tree of merges in order, each given by a row of either cluster."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import join_nodes

    n, children = len(merges) + 1, np.empty_like(merges)
    join_nodes(merges, np.arange(n), np.arange(n), children)
    return Dendrogram(children, heights, n)


def _order_by_parts(merges: Array, heights: Array, prior: Array) -> Array:
    """Return the order of merges by height and names in which no merge comes before those of its parts."""
    waiting = (prior >= 0).sum(axis=1)
    above = np.full(len(merges), -1)
    for side in (0, 1):
        has_prior = prior[:, side] >= 0
        above[prior[has_prior, side]] = np.flatnonzero(has_prior)
    ready = [(heights[k], *merges[k], k) for k in np.flatnonzero(waiting == 0)]
    heapify(ready)
    order = []
    while ready:
        *_, k = heappop(ready)
        order.append(k)
        after = above[k]
        if after >= 0:
            waiting[after] -= 1
            if waiting[after] == 0:
                heappush(ready, (heights[after], *merges[after], after))
    return np.array(order)


def cut(tree: Dendrogram, n_clusters: int) -> Array:
    """Return the cluster of each row when the last merges are undone."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import hand_down

    labels = np.full(tree.n_leaves + len(tree.children), -1)
    labels[cut_nodes(tree.children.tolist(), tree.n_leaves, n_clusters)] = np.arange(n_clusters)
    hand_down(tree.children, labels)
    return labels[: tree.n_leaves]


def forest_labels(tree: Dendrogram) -> Array:
    """Return the cluster of each row of a tree that was not finished: its trees, in the order of their roots."""
    from pellucid.cluster.agglomerative.spanning_tree_kernels import hand_down

    n_nodes = tree.n_leaves + len(tree.children)
    is_root = np.ones(n_nodes, bool)
    is_root[tree.children.ravel()] = False
    labels = np.where(is_root, np.cumsum(is_root) - 1, -1)
    hand_down(tree.children, labels)
    return labels[: tree.n_leaves]


def scipy_tree(children: Array, heights: Array, n_leaves: int) -> Array:
    """Return the tree as SciPy writes it: both nodes, their height, and the rows of the new cluster."""
    sizes = [1.0] * n_leaves
    for i, j in children.tolist():
        sizes.append(sizes[i] + sizes[j])
    return np.column_stack([children, heights, sizes[n_leaves:]])
