r"""Proof of a tree of merges: each was one of clusters that were nearest to each other.

Let merge t join A and B at height h. If no cluster of that time is nearer to A, or to B, and heights never fall, then A
and B were the nearest pair of all: a nearer pair (C, D) would be there still when C or D first merges, at a height of
at least h, though D was nearer to C. So it is enough to look at two clusters per merge. Where that costs too much, a
random sample of the merges is checked, and the last ones, which say how most rows are clustered. Distances of clusters
are computed from their rows, whatever a method updates.

Ties are checked where all numbers are whole and small, so that equal distances are equal numbers: of clusters as near,
a cluster must have merged with the one of the lowest name, and merges at one height must be in the order of names. Then
the pair is the first of all nearest ones, by the same argument.

With a connectivity heights may fall, and merges are done again from the first, on a heap of the proof's own.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.cluster_trees import (
    TreeShape,
    all_distances,
    label_claim,
    looked_at,
    row_distances,
    tree_problems,
)
from pellucid.proofs.distances import is_given, lost_digits
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.sampling import is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

AT_FIT = 400_000
"""Distances of rows that a fit may compute again: no more than half of all, as looking must not take longer than
fitting, but some merges in any case."""
TO_VERIFY = 200_000_000
WORK_PER_MERGE = 50_000
"""What looking at one merge takes beside its distances, in distances."""
WORK_OF_A_REPLAYED_MERGE = 4000
ROWS_AT_ONCE = 256
NEARLY = 1e-9
"""Part by which distances may differ that are then computed exactly."""
EXACT = 2.0**48
"""Whole numbers below it are exact, and so far apart that their roots differ too."""

PAIR_BY_PAIR = ("euclidean", "l2", "l1", "manhattan", "cityblock", "chebyshev", "canberra", "braycurtis", "sqeuclidean")
"""Metrics in which the distance of two rows does not depend on the others: they are computed where they are needed."""


def prove_agglomerative(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, children, heights = data.X, np.asarray(fitted.children_), np.asarray(fitted.distances_, dtype=np.float64)
    n, n_pieces = X.shape[0], 1
    work = min(AT_FIT, max(WORK_PER_MERGE, n**2 // 2)) if is_fitting() else TO_VERIFY
    problems = tree_problems(children, heights, n, fitted.n_leaves_)
    if problems:
        return _certificate(_tree_claim(problems))
    shape = TreeShape(children, n)
    if parameters.connectivity is None:
        missing = n - 1 - len(children)
        falls = float(np.max(heights[:-1] - heights[1:], initial=0.0))
        claims = [Claim("monotone", "how far the height of a merge is below that of the one before", falls, 0.0)]
        claims += _replayed(X, parameters, shape, heights, work)
    else:
        claims, n_pieces, missing = _constrained(X, parameters, shape, heights, work)
    missing += int(fitted.n_connected_components_ != n_pieces)
    return _certificate(_tree_claim(missing), *claims, _labels(fitted, parameters, shape, heights))


def _certificate(*claims: Claim) -> Certificate:
    return Certificate("replayed", claims)


def _tree_claim(problems: int) -> Claim:
    statement = "merges that are missing or join what is not there, and wrong counts of rows and of pieces"
    return Claim("tree", statement, float(problems), 0.0)


def _replayed(X: Array, parameters: Seen, shape: TreeShape, heights: Array, work: int) -> list[Claim]:
    """Return the claims that the merges checked were of nearest clusters, at the stored heights."""
    gaps = WardGaps(X, shape) if parameters.linkage == "ward" else RowGaps(X, shape, parameters)
    checked, of = looked_at(gaps.cost + WORK_PER_MERGE, work, "merges")
    errors, shortfalls, passed_over = [0.0], [0.0], 0
    for merges in np.split(checked, np.flatnonzero(np.diff(checked // gaps.merges_at_once)) + 1):
        clusters, pairs = shape.clusters_before(merges[0], merges[-1]), shape.children[merges]
        to_all = gaps.to_clusters(clusters, pairs).reshape(len(merges), 2, -1)
        which, own, now = np.arange(len(merges)), np.searchsorted(clusters, pairs), shape.n_rows + merges[:, None]
        height = to_all[which, 0, own[:, 1]]
        is_there = (clusters < now) & (shape.parents[clusters] >= now)
        is_there[which[:, None], own] = False  # the two themselves
        to_all = np.where(is_there[:, None], to_all, np.inf)
        if gaps.settles_ties:
            comes_before = shape.names[clusters] < shape.names[pairs[:, ::-1], None]
            passed_over += int(np.sum(((to_all == height[:, None, None]) & comes_before).any(axis=(1, 2))))
        scale = height + gaps.rounding_scale
        scale[scale == 0.0] = 1.0
        errors.append(np.max(np.abs(heights[merges] - height) / scale))
        shortfalls.append(np.max((height - to_all.min(axis=(1, 2))) / scale))
    bound = sum_error(shape.n_rows) * gaps.factor
    claims = [
        Claim("heights", f"{of}, the largest relative error of a height", float(np.max(errors)), bound),
        Claim("nearest pairs", f"{of}, by how much a third cluster was nearer to one of the two, relatively",
              float(np.max(shortfalls)), bound),
    ]  # fmt: skip
    if gaps.settles_ties:
        passed_over += shape.out_of_order(heights)
        claims.append(Claim("ties", f"{of}, those that an equally near pair should come before", passed_over, 0.0))
    return claims


def _constrained(
    X: Array, parameters: Seen, shape: TreeShape, heights: Array, work: int
) -> tuple[list[Claim], int, int]:
    """Return the claims about merges of neighbors, the pieces of the graph, and how many merges are missing."""
    most = len(heights)
    if parameters.linkage == "single":
        shortfall, error, n_pieces = spanning_shortfall(X, parameters, shape, heights)
    else:
        most = most if work >= TO_VERIFY else min(most, work // WORK_OF_A_REPLAYED_MERGE)
        shortfall, error, n_pieces = constrained_shortfall(X, parameters, shape.children[:most], heights)
    n = X.shape[0]
    is_whole = parameters.n_clusters is None or parameters.compute_full_tree is True or parameters.linkage == "single"
    if parameters.compute_full_tree == "auto" and parameters.n_clusters is not None:
        is_whole = is_whole or parameters.n_clusters < max(100, 0.02 * n)
    missing = abs(n - (1 if is_whole else parameters.n_clusters) - len(heights))
    bound = sum_error(n) * (1.0 + 8 * EPSILON)
    of = f"of {most:,} merges" if most == len(heights) else f"of the first {most:,} of {len(heights):,} merges"
    claims = [
        Claim("heights", f"{of}, the largest relative error of a stored height", error, bound),
        Claim("nearest pairs", f"{of}, by how much another pair of neighbors was nearer, relatively", shortfall, bound),
    ]
    return claims, n_pieces, missing


def _labels(fitted: Seen, parameters: Seen, shape: TreeShape, heights: Array) -> Claim:
    """Return the claim about the labels; a wrong number of clusters makes all of them wrong."""
    wanted = parameters.n_clusters
    if wanted is None:
        wanted = int(np.sum(heights >= parameters.distance_threshold)) + 1
    return label_claim(fitted.labels_ if fitted.n_clusters_ == wanted else None, shape, wanted)


class RowGaps:
    """Single, complete or average: the least, largest or mean distance of the rows of two clusters."""

    merges_at_once = 1
    rounding_scale: float
    """Sums of positive numbers keep their digits; a cosine that is taken from 1 does not."""

    def __init__(self, X: Array, shape: TreeShape, parameters: Seen) -> None:
        metric, linkage = parameters.metric, parameters.linkage
        self.reduce = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
        self.shape = shape
        self.cost = shape.sizes[shape.n_rows :] * shape.n_rows  # how many distances of rows each merge takes
        self.is_mean = linkage == "average"
        self.metric = metric if isinstance(metric, str) and metric in PAIR_BY_PAIR else None
        self.X = np.asarray(X, np.float64) if self.metric else all_distances(X, metric)
        self.factor = 1.0 + X.shape[1] / 16 if self.metric else 1.0
        self.rounding_scale = float(lost_digits(metric) > 0.0)
        # the mean of Manhattan distances is one quotient; of Euclidean ones it is a sum of roots
        is_settled = linkage == "complete" or (linkage == "average" and metric in ("cityblock", "l1", "manhattan"))
        self.settles_ties = is_settled and self.metric is not None and _are_small_and_whole(self.X, len(X) * X.shape[1])

    def to_clusters(self, clusters: Array, pairs: Array) -> Array:
        """Return the distances of one pair to all clusters, which have every row once."""
        by_start = np.argsort(self.shape.starts[clusters])
        found = np.empty((2, len(clusters)))
        for k, node in enumerate(pairs[0]):
            found[k, by_start] = self._from_one(node, clusters[by_start])
        return found

    def _from_one(self, node: int, clusters: Array) -> Array:
        order, starts, sizes = self.shape.order, self.shape.starts, self.shape.sizes
        own, parts = order[starts[node] : starts[node] + sizes[node]], []
        for first in range(0, len(own), ROWS_AT_ONCE):
            nearest = self.reduce.reduce(self._distances(own[first : first + ROWS_AT_ONCE])[:, order], axis=0)
            parts.append(self.reduce.reduceat(nearest, starts[clusters]))
        total = self.reduce.reduce(parts, axis=0)
        return np.asarray(total / (sizes[clusters] * len(own)) if self.is_mean else total)

    def _distances(self, rows: Array) -> Array:
        return row_distances(self.X[rows], self.X, self.metric) if self.metric else self.X[rows]


class WardGaps:
    """Ward's: the distance of the means of two clusters, times what their sizes make of it."""

    merges_at_once = 16

    def __init__(self, X: Array, shape: TreeShape) -> None:
        rows = X - np.median(X, axis=0).astype(np.float64)
        self.sums, self.sizes = shape.sums(rows), shape.sizes.astype(np.float64)
        self.means = self.sums / self.sizes[:, None]
        self.rounding_scale = float(np.sqrt(np.square(rows).sum(axis=1).max(initial=0.0)))
        self.factor = 1.0 + X.shape[1] / 16
        self.settles_ties = _are_small_and_whole(2.0 * rows, len(X) ** 2 * X.shape[1])
        self.cost = np.full(len(shape.children), (2 + X.shape[1]) * shape.n_rows)

    def to_clusters(self, clusters: Array, pairs: Array) -> Array:
        """Return the distances of each of some pairs to clusters."""
        merged = pairs.ravel()
        gaps, sizes, own = (
            cdist(self.means[merged], self.means[clusters]),
            self.sizes[clusters],
            self.sizes[merged, None],
        )
        gaps *= np.sqrt(2.0 * own * sizes / (own + sizes))
        if self.settles_ties:
            partner = np.searchsorted(clusters, pairs[:, ::-1].ravel())
            one, other = np.nonzero(gaps <= (1.0 + NEARLY) * gaps[np.arange(len(merged)), partner, None])
            gaps[one, other] = self._of_pairs(merged[one], clusters[other])
        return np.asarray(gaps)

    def _of_pairs(self, one: Array, other: Array) -> Array:
        """Return distances with no quotient before the last, so that equal ones are equal numbers."""
        a, b = self.sizes[one], self.sizes[other]
        gaps = b[:, None] * self.sums[one] - a[:, None] * self.sums[other]
        return np.asarray(np.sqrt(2.0 * np.square(gaps).sum(axis=1) / ((a * b) * (a + b))))


def _are_small_and_whole(X: Array, terms: int) -> bool:
    """Return whether sums of this many squares of whole numbers as large are exact."""
    size = largest(X)
    return terms * size * (1.0 + size) < EXACT and bool(np.array_equal(X, np.rint(X)))


def constrained_shortfall(X: Array, parameters: Seen, children: Array, heights: Array) -> tuple[float, float, int]:
    """Return how much nearer another pair was, how wrong a height is (both relatively), and the pieces of the graph."""
    edges, n_pieces = _edges(X, parameters)
    is_ward = parameters.linkage == "ward"
    rows = np.asarray(X, np.float64)
    moments = [(1.0, row) for row in (rows - np.median(rows, axis=0))] if is_ward else []
    metric = "euclidean" if is_ward else parameters.metric
    gaps = _paired(X, edges, metric).tolist()
    around: dict[int, dict[int, float]] = {i: {} for i in range(len(rows))}
    for (i, j), gap in zip(edges.tolist(), gaps, strict=True):
        around[i][j] = around[j][i] = gap
    waiting = [(gap, i, j) for (i, j), gap in zip(edges.tolist(), gaps, strict=True)]
    heapify(waiting)
    scale = float(np.sqrt(max((moment @ moment for _, moment in moments), default=float(lost_digits(metric) > 0.0))))
    sizes, shortfall, error = [1] * len(rows), 0.0, 0.0
    for new, (i, j) in enumerate(children.tolist(), start=len(rows)):
        if j not in around.get(i, {}):
            return np.inf, np.inf, n_pieces
        while waiting[0][1] not in around or waiting[0][2] not in around:
            heappop(waiting)
        gap = around[i][j]
        unit = max(gap + scale, TINY)
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


def spanning_shortfall(X: Array, parameters: Seen, shape: TreeShape, heights: Array) -> tuple[float, float, int]:
    """Return the same for single linkage, without merging: each height is the least of the edges that join at it.

    An edge that was free when a merge was made joins at a later one, whose height is no larger than the edge and, as
    heights never fall, no smaller than that of the merge.
    """
    edges, n_pieces = _edges(X, parameters)
    gaps = _paired(X, edges, parameters.metric)
    least = np.full(len(heights), np.inf)
    np.minimum.at(least, shape.merge_of_pairs(edges), gaps)
    if np.isinf(least).any():
        return np.inf, np.inf, n_pieces
    unit = np.maximum(least + float(lost_digits(parameters.metric) > 0.0), TINY)
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


def _edges(X: Array, parameters: Seen) -> tuple[Array, int]:
    """Return who may merge with whom, pairs i < j, and how many pieces the graph had before bridges joined them.

    A bridge joins the two rows of two pieces that are nearest to each other, of equal ones the first.
    """
    given = parameters.connectivity(X) if callable(parameters.connectivity) else parameters.connectivity
    graph = sparse.csr_array(given)
    n_pieces, piece = connected_components(graph != 0, directed=False)
    ends = list(zip(*graph.nonzero(), strict=True))
    for one, other in combinations([np.flatnonzero(piece == k) for k in range(n_pieces)], 2):
        if is_given(parameters.metric):
            gaps = X[np.ix_(one, other)]
        else:
            gaps = row_distances(X[one], X[other], parameters.metric)
        i, j = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
        ends.append((one[i], other[j]))
    pairs = np.sort(np.array(ends, dtype=np.int64).reshape(-1, 2), axis=1)
    return np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0), int(n_pieces)


def _paired(X: Array, pairs: Array, metric: Any) -> Array:
    """Return the distances of pairs of rows."""
    if is_given(metric):
        return X[pairs[:, 0], pairs[:, 1]].astype(np.float64)
    if callable(metric):
        return np.array([metric(X[i], X[j]) for i, j in pairs.tolist()], dtype=np.float64)
    rows = np.asarray(X, np.float64)
    if metric == "cosine":  # half the squared distance of two rows of length 1
        lengths = np.linalg.norm(rows, axis=1)[:, None]
        rows = rows / np.where(lengths > 0.0, lengths, 1.0)
    apart = rows[pairs[:, 0]] - rows[pairs[:, 1]]
    if metric in ("l1", "manhattan", "cityblock"):
        return np.abs(apart).sum(axis=1)
    squares = np.square(apart).sum(axis=1)
    return squares / 2.0 if metric == "cosine" else np.sqrt(squares)


PROVES = {"AgglomerativeClustering": prove_agglomerative}
