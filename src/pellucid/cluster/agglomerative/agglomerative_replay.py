"""All merges of neighbors once more, for the proof: was the nearest pair the one that merged."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.connectivity_graph import connectivity_graph
from pellucid.cluster.agglomerative.distances import paired_gaps
from pellucid.cluster.agglomerative.tree_shape import TreeShape
from pellucid.core.types import Array


def constrained_shortfall(X: Array, parameters: Any, children: Array, heights: Array) -> tuple[float, float, int]:
    """Return how much nearer another pair was, how wrong a height is (both relatively), and the pieces of the graph."""
    edges, n_pieces = connectivity_graph(X, parameters.connectivity, parameters.metric)
    is_ward = parameters.linkage == "ward"
    rows = np.asarray(X, np.float64)
    moments = [(1.0, row) for row in (rows - np.median(rows, axis=0))] if is_ward else []
    metric = "euclidean" if is_ward else parameters.metric
    gaps = paired_gaps(X, edges[:, 0], edges[:, 1], metric).tolist()
    around: dict[int, dict[int, float]] = {i: {} for i in range(len(rows))}
    for (i, j), gap in zip(edges.tolist(), gaps, strict=True):
        around[i][j] = around[j][i] = gap
    waiting = [(gap, i, j) for (i, j), gap in zip(edges.tolist(), gaps, strict=True)]
    heapify(waiting)
    scale = float(np.sqrt(max((moment @ moment for _, moment in moments), default=0.0)))
    sizes, shortfall, error = [1] * len(rows), 0.0, 0.0
    for new, (i, j) in enumerate(children.tolist(), start=len(rows)):
        if j not in around.get(i, {}):
            return np.inf, np.inf, n_pieces
        while waiting[0][1] not in around or waiting[0][2] not in around:
            heappop(waiting)
        gap = around[i][j]
        unit = max(gap + scale, np.finfo(float).tiny)
        shortfall = max(shortfall, (gap - waiting[0][0]) / unit)
        error = float(np.max([error, abs(heights[new - len(rows)] - gap) / unit]))  # a NaN stays
        if is_ward:
            (a, one), (b, other) = moments[i], moments[j]
            moments.append((a + b, one + other))
        around[new] = _joined(around.pop(i), around.pop(j), (i, j, new), parameters.linkage, sizes, moments)
        sizes.append(sizes[i] + sizes[j])
        for k, gap in around[new].items():
            around[k].pop(i, None)
            around[k].pop(j, None)
            around[k][new] = gap
            heappush(waiting, (gap, k, new))
    return shortfall, error, n_pieces


def spanning_shortfall(X: Array, parameters: Any, shape: TreeShape, heights: Array) -> tuple[float, float, int]:
    """Return the same for single linkage, without merging: each height is the least of the edges that join at it.

    An edge that was free when a merge was made joins at a later one, whose height is no larger than the edge and, as
    heights never fall, no smaller than that of the merge.
    """
    edges, n_pieces = connectivity_graph(X, parameters.connectivity, parameters.metric)
    gaps = paired_gaps(X, edges[:, 0], edges[:, 1], parameters.metric)
    least = np.full(len(heights), np.inf)
    np.minimum.at(least, shape.merge_of_pairs(edges), gaps)
    if np.isinf(least).any():
        return np.inf, np.inf, n_pieces
    unit = np.maximum(least, np.finfo(float).tiny)
    falls = np.max((heights[:-1] - heights[1:]) / unit[1:], initial=0.0)
    return float(falls), float(np.max(np.abs(heights - least) / unit)), n_pieces


def _joined(
    one: dict[int, float],
    other: dict[int, float],
    nodes: tuple[int, int, int],
    linkage: str,
    sizes: list[int],
    moments: Any,
) -> dict[int, float]:
    """Return the distances of a new cluster to those that one of its two parts may merge with."""
    i, j, new = nodes
    found = {}
    for k in (one.keys() | other.keys()) - {i, j}:
        known = [(part[k], sizes[node]) for part, node in ((one, i), (other, j)) if k in part]
        if linkage == "ward":
            (a, first), (b, second) = moments[new], moments[k]
            gap = first / a - second / b
            found[k] = float(np.sqrt(2.0 * a * b / (a + b) * (gap @ gap)))
        elif linkage == "average":
            found[k] = sum(gap * size for gap, size in known) / sum(size for _, size in known)
        else:
            found[k] = (max if linkage == "complete" else min)(gap for gap, _ in known)
    return found
