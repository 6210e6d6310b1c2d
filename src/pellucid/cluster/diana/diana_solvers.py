"""Splits of the widest cluster, on all distances. O(n^2) memory."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.dendrogram import Dendrogram, cut
from pellucid.cluster.agglomerative.distances import distance_matrix
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import sum_error

MOST_TRACED = 500


def divide(X: Array, n_clusters: int, metric: Any) -> Fit:
    """Return the tree of all splits and its cut."""
    tree, trace = divisive_tree(distance_matrix(X, metric))
    attributes = {
        "labels_": cut(tree, n_clusters),
        "children_": tree.children,
        "distances_": tree.heights,
        "divisive_coefficient_": divisive_coefficient(tree),
        "n_leaves_": tree.n_leaves,
    }
    return Fit(attributes, trace, "every row is alone")


def divisive_tree(D: Array) -> tuple[Dendrogram, Trace]:
    """Return the tree of splits, the widest cluster always first, of equally wide ones that with the first row."""
    n = len(D)
    children, heights, trace = np.empty((n - 1, 2), np.int64), np.empty(n - 1), Trace()
    waiting: list[tuple[float, int, int, int, Array]] = []  # the clusters that can be split, and whose child they are
    keep_every = max(1, n // MOST_TRACED)

    def put(rows: Array, merge: int, side: int) -> None:
        if len(rows) == 1:
            children[merge, side] = rows[0]
        else:
            heappush(waiting, (-float(D[np.ix_(rows, rows)].max()), int(rows[0]), merge, side, rows))

    put(np.arange(n), -1, 0)
    for merge in range(n - 2, -1, -1):
        width, _, above, side, rows = heappop(waiting)
        if above >= 0:
            children[above, side] = n + merge
        heights[merge] = -width
        leaves = splinter(D[np.ix_(rows, rows)])
        put(rows[leaves], merge, 0)
        put(rows[~leaves], merge, 1)
        if (n - 2 - merge) % keep_every == 0:
            trace.add(iteration=n - 1 - merge, height=-width, clusters=n - merge)
    return Dendrogram(np.sort(children, axis=1), heights, n), trace


def splinter(D: Array) -> Array:
    """Return which rows of a cluster leave it together, from the distances within it."""
    n = len(D)
    to_rest = D.sum(axis=1)
    first = int(to_rest.argmax())
    leaves, to_left = np.zeros(n, bool), D[first].copy()
    leaves[first] = True
    to_rest -= D[first]
    n_left, rounding = 1, sum_error(n)
    while n_left < n - 1:
        n_rest = n - n_left
        # the two means times both counts: a difference of products, which is exact for whole numbers
        stay, go = n_left * to_rest, (n_rest - 1) * to_left
        gains = np.where(leaves, -np.inf, stay - go)
        best = int(gains.argmax())
        if gains[best] <= rounding * (stay[best] + go[best]):
            break
        leaves[best] = True
        to_rest -= D[best]
        to_left += D[best]
        n_left += 1
    return leaves


def divisive_coefficient(tree: Dendrogram) -> float:
    """Return the mean over rows of 1 less the width of the last cluster they were in with others, in parts of all."""
    if tree.heights[-1] == 0.0:
        return 0.0
    alone = np.empty(tree.n_leaves)
    for height, pair in zip(tree.heights, tree.children, strict=True):
        rows = pair[pair < tree.n_leaves]
        alone[rows] = height
    return float(np.mean(1.0 - alone / tree.heights[-1]))
