"""Merges of neighbors only: a heap of the edges between clusters, as in scikit-learn.

Complete and average linkage know the distances along edges of the graph and no others: where only one of two clusters
that merge has an edge to a third, its distance stays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.dendrogram import Dendrogram
from pellucid.cluster.agglomerative.distances import paired_gaps
from pellucid.core.types import Array

Neighbors = dict[int, float]
Edge = tuple[float, int, int, int, int]


class Clusters:
    """The clusters of now by node: size, last row, and the distances to those they may merge with."""

    def __init__(self, n_rows: int, edges: Array, gaps: Array) -> None:
        self.sizes: dict[int, int] = dict.fromkeys(range(n_rows), 1)
        self.names = list(range(n_rows))
        self.neighbors: dict[int, Neighbors] = {i: {} for i in range(n_rows)}
        for (i, j), gap in zip(edges.tolist(), gaps.tolist(), strict=True):
            self.neighbors[i][j] = self.neighbors[j][i] = gap

    def edge(self, i: int, j: int, gap: float) -> Edge:
        """Return what the heap is ordered by: the distance, then the lower name, then the higher."""
        low, high = sorted((self.names[i], self.names[j]))
        return gap, low, high, i, j

    def merge(self, i: int, j: int, new: int, measure: Callable[[int, Neighbors, Neighbors], Neighbors]) -> None:
        """Put a new cluster in the place of two; ``measure`` tells its distances from theirs."""
        one, other = self.neighbors.pop(i), self.neighbors.pop(j)
        del one[j], other[i]
        self.names.append(max(self.names[i], self.names[j]))
        self.sizes[new] = self.sizes[i] + self.sizes[j]
        self.neighbors[new] = measure(new, one, other)
        for k, gap in self.neighbors[new].items():
            self.neighbors[k].pop(i, None)
            self.neighbors[k].pop(j, None)
            self.neighbors[k][new] = gap


def constrained_tree(X: Array, edges: Array, linkage: str, metric: Any, n_merges: int) -> Dendrogram:
    """Return the tree of the first merges, each of the nearest two clusters that an edge joins."""
    n = X.shape[0]
    ward = _WardMeans(X) if linkage == "ward" else None
    gaps = ward.between(edges) if ward else paired_gaps(X, edges[:, 0], edges[:, 1], metric)
    clusters = Clusters(n, edges, gaps)
    heap = [clusters.edge(i, j, gap) for (i, j), gap in zip(edges.tolist(), gaps.tolist(), strict=True)]
    heapify(heap)
    children, heights = np.empty((n_merges, 2), np.int64), np.empty(n_merges)
    for k in range(n_merges):
        gap, _, _, i, j = heappop(heap)
        while i not in clusters.neighbors or j not in clusters.neighbors:
            gap, _, _, i, j = heappop(heap)
        children[k], heights[k], sizes = sorted((i, j)), gap, (clusters.sizes[i], clusters.sizes[j])
        if ward:
            ward.join(i, j, n + k)
            clusters.merge(i, j, n + k, ward.measure)
        else:
            clusters.merge(i, j, n + k, partial(_combined, linkage, sizes))
        for other, gap in clusters.neighbors[n + k].items():
            heappush(heap, clusters.edge(n + k, other, gap))
    return Dendrogram(children, np.sqrt(2.0 * heights) if ward else heights, n)


def _combined(linkage: str, sizes: tuple[int, int], _new: int, one: Neighbors, other: Neighbors) -> Neighbors:
    a, b = sizes
    rules: dict[str, Callable[[float, float], float]] = {
        "complete": max,
        "single": min,
        "average": lambda x, y: (a * x + b * y) / (a + b),
    }
    rule, found = rules[linkage], {**one, **other}
    for k in one.keys() & other.keys():
        found[k] = rule(one[k], other[k])
    return found


class _WardMeans:
    """Sums and sizes of clusters; distances are half the squared heights at which they would merge."""

    def __init__(self, X: Array) -> None:
        self.sums = np.concatenate([np.asarray(X, np.float64), np.empty((len(X) - 1, X.shape[1]))])
        self.sizes = np.ones(2 * len(X) - 1)

    def between(self, pairs: Array) -> Array:
        i, j = pairs[:, 0], pairs[:, 1]
        a, b = self.sizes[i], self.sizes[j]
        gaps = self.sums[i] / a[:, None] - self.sums[j] / b[:, None]
        return np.asarray(a * b / (a + b) * np.square(gaps).sum(axis=1))

    def join(self, i: int, j: int, new: int) -> None:
        self.sums[new], self.sizes[new] = self.sums[i] + self.sums[j], self.sizes[i] + self.sizes[j]

    def measure(self, new: int, one: Neighbors, other: Neighbors) -> Neighbors:
        around = list(one.keys() | other.keys())
        pairs = np.stack([np.full(len(around), new), np.array(around, dtype=np.int64)], axis=1)
        return dict(zip(around, self.between(pairs).tolist(), strict=True))
