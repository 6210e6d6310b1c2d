"""Trees of clusters as their proofs see them: each cluster is a piece of one order of the rows; and distances."""

from __future__ import annotations

from heapq import heappush, heappushpop
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.distances import distances, is_given
from pellucid.proofs.sampling import at_most_wrong, draws

LAST = 20
"""Merges that are checked because they are the last, if twice the work for all allows."""
FEWEST = 4
"""Merges that are checked whatever they cost, if they are small."""


def tree_problems(children: Array, heights: Array, n: int, n_leaves: int) -> int:
    """Return how many merges join what is not there, or not there any more, and how many sizes are wrong."""
    if children.ndim != 2 or children.shape[1:] != (2,) or children.dtype.kind != "i" or len(children) > n - 1:
        return n
    if heights.shape != (len(children),) or n_leaves != n:
        return n
    new = n + np.arange(len(children))[:, None]
    wrong = int(np.sum((children < 0) | (children >= new) | (children[:, :1] >= children[:, 1:])))
    named = np.sort(children, axis=None)
    return wrong + int(np.sum(named[1:] == named[:-1]))


def looked_at(cost: Array, work: int, nodes: str) -> tuple[Array, str]:
    """Return the merges to check, and words for them: all if the work allows, else the last and some drawn at random.

    The last merges say how most rows are clustered. They may cost as much again as the others, of which the cheaper
    are drawn.
    """
    n = len(cost)
    if cost.sum() <= work:
        return np.arange(n), f"of {n:,} {nodes}"
    last = n - 1 - np.arange(min(LAST, int(np.searchsorted(np.cumsum(cost[::-1]), 2 * work, side="right"))))
    is_cheap = cost <= max(np.sort(cost)[n // 2], work / FEWEST)
    is_cheap[last] = False
    some = draws().permutation(np.flatnonzero(is_cheap))
    some = some[: max(1, int(np.searchsorted(np.cumsum(cost[some]), work)))]
    checked = np.sort(np.concatenate([some, last]))
    which = f"the last {len(last)} and some of the smaller" if len(last) else "some of the smaller"
    return checked, f"of {len(checked):,} of {n:,} {nodes}, {which}{at_most_wrong(len(some), n)}"


class TreeShape:
    """Rows in an order in which every cluster of a tree without problems is a piece."""

    def __init__(self, children: Array, n_rows: int) -> None:
        self.children, self.n_rows = children, n_rows
        n_nodes = n_rows + len(children)
        self.parents = np.full(n_nodes, n_nodes)
        self.parents[children] = np.arange(n_rows, n_nodes)[:, None]
        pairs, sizes, names, depths = children.tolist(), [1] * n_rows, list(range(n_rows)), [0] * n_rows
        for i, j in pairs:
            sizes.append(sizes[i] + sizes[j])
            names.append(max(names[i], names[j]))
            depths.append(1 + max(depths[i], depths[j]))
        starts, next_start = [0] * n_nodes, 0
        for root in reversed(self.roots()):
            starts[root], next_start = next_start, next_start + sizes[root]
        for node in range(n_nodes - 1, n_rows - 1, -1):
            i, j = pairs[node - n_rows]
            starts[i], starts[j] = starts[node], starts[node] + sizes[i]
        self.sizes, self.starts, self.depths = np.array(sizes), np.array(starts), np.array(depths)
        self.names = np.array(names)  # the last row of each
        self.order = np.empty(n_rows, np.int64)
        self.order[self.starts[:n_rows]] = np.arange(n_rows)

    def roots(self) -> list[int]:
        """Return the nodes that no merge joins, in order."""
        return np.flatnonzero(self.parents == len(self.parents)).tolist()

    def clusters_before(self, first: int, last: int) -> Array:
        """Return the clusters that are there before one of two merges, or of those between them."""
        return np.flatnonzero(self.parents[: self.n_rows + last] >= self.n_rows + first)

    def sums(self, rows: Array) -> Array:
        """Return the sum of the rows of each cluster, all of one depth at a time."""
        found = np.empty((len(self.parents), rows.shape[1]))
        found[: self.n_rows] = rows
        merges = np.argsort(self.depths[self.n_rows :], kind="stable")
        for nodes in np.split(merges, np.flatnonzero(np.diff(self.depths[self.n_rows :][merges])) + 1):
            found[self.n_rows + nodes] = found[self.children[nodes]].sum(axis=1)
        return found

    def out_of_order(self, heights: Array) -> int:
        """Return how many merges come after one of the same height whose names are higher."""
        pairs = np.sort(self.names[self.children], axis=1)
        falls = (pairs[1:, 0] < pairs[:-1, 0]) | ((pairs[1:, 0] == pairs[:-1, 0]) & (pairs[1:, 1] <= pairs[:-1, 1]))
        return int(np.sum(falls & (heights[1:] == heights[:-1])))

    def merge_of_pairs(self, pairs: Array) -> Array:
        """Return the merge at which the two rows of each pair come together, in a whole tree.

        It is the last of the merges at the boundaries between them in the order of rows: a largest number of a range,
        which two overlapping ranges of a length that is a power of two have together.
        """
        boundaries = np.empty(self.n_rows - 1, np.int64)
        boundaries[self.starts[self.children[:, 1]] - 1] = np.arange(len(self.children))
        levels = [boundaries]
        while 2 ** len(levels) <= len(boundaries):
            half = 2 ** (len(levels) - 1)
            levels.append(np.maximum(levels[-1][:-half], levels[-1][half:]))
        ends = np.sort(self.starts[pairs], axis=1)
        level = np.frexp(ends[:, 1] - ends[:, 0])[1] - 1
        found = np.empty(len(pairs), np.int64)
        for depth, largest in enumerate(levels):
            own = level == depth
            found[own] = np.maximum(largest[ends[own, 0]], largest[ends[own, 1] - 2**depth])
        return found


def row_distances(X: Array, Y: Array, metric: Any) -> Array:
    """Return the distances of rows: as in SciPy, also where scikit-learn's trees mean another by the same name."""
    if isinstance(metric, str) and metric == "braycurtis":
        return cdist(np.asarray(X, np.float64), np.asarray(Y, np.float64), metric)
    return distances(np.asarray(X, np.float64), np.asarray(Y, np.float64), metric)


def all_distances(X: Array, metric: Any) -> Array:
    """Return the distances of all rows; of given ones the upper side counts, and a function gives them all at once."""
    if is_given(metric) or callable(metric):
        found = np.asarray(X if is_given(metric) else metric(X), dtype=np.float64)
    else:
        found = row_distances(X, X, metric)
    upper = np.triu(found, 1)
    return upper + upper.T


def label_claim(labels: Any, shape: TreeShape, n_clusters: int) -> Claim:
    """Return the claim that labels are those of the clusters that the last merges joined, in scikit-learn's order.

    That is the order of a heap from which the node that merged last is taken, and its two parts are put back: the
    first in its place, the second at the end, from where it rises.
    """
    statement = "rows that are not labelled as their cluster of the tree, cut as the parameters say"
    labels, n = np.asarray(labels), shape.n_rows
    if labels.shape != (n,) or labels.dtype.kind != "i":
        return Claim("labels", statement, float(n), 0.0)
    nodes = shape.roots()
    if len(shape.children) == n - 1:
        heap = [-nodes[0]]
        for _ in range(n_clusters - 1):
            left, right = shape.children[-heap[0] - n].tolist()
            heappush(heap, -left)
            heappushpop(heap, -right)
        nodes = [-node for node in heap]
    right_labels = np.empty(n, np.int64)
    for label, node in enumerate(nodes):
        right_labels[shape.order[shape.starts[node] : shape.starts[node] + shape.sizes[node]]] = label
    return Claim("labels", statement, float(np.sum(right_labels != labels)), 0.0)
