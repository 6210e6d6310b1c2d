"""Lloyd's method for k-means: rows go to their nearest center, centers to the mean of their rows, until nothing moves.

A cluster that loses all its rows gets the row farthest from its own center, of those that are not alone in theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.center_answers import (
    NOTHING,
    ClusterSums,
    labels_claim,
    own_distances,
    scatter_bound,
    with_known_gap,
)
from pellucid.cluster.kmeans.kmeans_starts_kernels import add_cluster
from pellucid.cluster.kmeans.measured_rows import DenseRows, measured_rows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters
from pellucid.cluster.kmeans.nearest_centers_kernels import plain_rounds
from pellucid.core.arrays import is_foreign
from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace, is_recording
from pellucid.core.types import Array
from pellucid.core.watching import ignore
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, ROUNDING, sum_error
from pellucid.proofs.training_data import TrainingData

PROVED_LATER = 1 << 10
"""Rows up to which the proof waits until somebody asks: claims made at the fit would be a fifth of its time."""
SMALL = 1 << 18
"""Differences of a round up to which there is one loop for all of it."""
MOST_LISTED = 10_000
"""Rounds that this loop has room for."""
UNCHANGED, SHORT_STEPS = "no row changed its cluster", "centers moved less than tol"


def best_lloyd(data: TrainingData, start: Callable[[], Array], n_starts: int, effort: Effort) -> Fit:
    """Return the best of several runs, the first of equally good ones."""
    return min((lloyd(data, start(), effort) for _ in range(n_starts)), key=lambda fit: fit.attributes["inertia_"])


def lloyd(data: TrainingData, centers: Array, effort: Effort, least: float | None = None) -> Fit:
    """Return the fit from a start; ``effort.goal`` is a part of the mean variance of the features.

    ``least`` is the objective of the best clustering, where that is known.
    """
    if effort.watch is ignore and _is_small(data, centers, effort.max_iter) and not is_recording():
        found = _small_lloyd(data, centers, effort, least)
        if found is not None:
            return found
    clusters, trace, stopped = clusters_of(data, centers), Trace(), "max_iter"
    moved = math.inf
    for n_iter in range(1, effort.max_iter + 1):
        changed = clusters.assign(centers)
        if not clusters.sums.counts.all():
            changed += fill_empty_clusters(clusters)
        if changed == 0:
            clusters.gather()
        means = clusters.means()
        way = (means - centers).ravel()
        last, moved = moved, float(way @ way)
        if n_iter == 1:
            goal = effort.goal * clusters.sums.mean_variance()
        trace.add(iteration=n_iter, objective=clusters.objective(), changed=changed, moved=moved)
        if is_recording():
            trace.keep(centers=centers, labels=clusters.names)
        is_settled = changed == 0 and are_same(means, centers, clusters.sums.rows.middle)
        if is_settled or moved == 0.0 or max(last, moved) <= goal:  # twice: the next step from here is as short
            stopped = SHORT_STEPS if changed and moved else UNCHANGED
            break
        if effort.watch(means):
            stopped = "callback"
            break
        centers = means
    return _finished(clusters, centers, goal, least, trace, stopped)


class Clusters:
    """The rows of a fit with their nearest centers, and the sums of the clusters, in memory."""

    few_rows = PROVED_LATER

    def __init__(self, data: TrainingData, centers: Array, rows: DenseRows | None = None) -> None:
        rows_here = measured_rows(data.X) if rows is None else rows
        self.data, self.dtype = data, data.X.dtype
        self.sums = ClusterSums(rows_here, data.weight, len(centers))
        self.nearest = NearestCenters(rows_here, centers)

    @property
    def names(self) -> Array:
        """The nearest center of each row."""
        return self.nearest.names

    def assign(self, centers: Array) -> int:
        """Give each row its nearest center; return how many rows changed their cluster."""
        is_first = not self.sums.counts.any()
        moves = self.nearest.assign(centers)
        if is_first:
            self.gather()
            return self.nearest.rows.shape[0]
        self.sums.move(moves, self.nearest.bounds.labels)
        return sum(len(move.rows) for move in moves)

    def gather(self) -> None:
        """Sum all rows anew."""
        self.sums.gather(self.nearest.bounds.labels)

    def means(self) -> Array:
        """Return the means of the clusters, as centers were given."""
        return self.nearest.as_given(self.sums.means(self.nearest.centers))

    def objective(self) -> float:
        """Return the sum of squared distances to the centers."""
        return self.sums.objective(self.nearest.centers)

    def empty(self) -> list[int]:
        """Return the clusters without rows, as they were given."""
        return sorted(np.flatnonzero(self.sums.counts == 0).tolist(), key=lambda k: self.nearest.order[k])

    def farthest(self) -> Iterator[tuple[int, int, float]]:
        """Yield rows with their clusters and squared distances to their centers, the farthest first."""
        labels, distances = self.nearest.bounds.labels, np.empty(len(self.nearest.bounds.labels))
        own_distances(self.nearest.rows, NOTHING, self.nearest.centers, labels, distances)
        for row in np.argsort(-distances, kind="stable"):
            yield int(row), int(labels[row]), float(distances[row])

    def put(self, row: int, cluster: int) -> None:
        """Put a row into another cluster."""
        self.sums.move([self.nearest.move(row, cluster)], self.nearest.bounds.labels)

    def finish(self, centers: Array) -> tuple[Array, float]:
        """Return the labels and the objective; nothing can be assigned any more."""
        labels = self.nearest.finish()
        return labels, own_distances(self.nearest.rows, self.sums.weight, centers, labels)

    def spread(self, labels: Array) -> Array:
        """Return the labels of all given rows; those of weight 0 have none."""
        return self.data.spread(labels, fill=-1)

    def labels_claim(self, centers: Array, labels: Array) -> Claim:
        """Return the claim that rows are with their nearest centers."""
        return labels_claim(self.data.X, centers, labels)

    @property
    def largest(self) -> float:
        """The largest absolute value of the rows."""
        X = self.data.X
        return float(abs(X).max()) if sparse.issparse(X) else float(max(X.max(), -X.min()))

    def least_objective(self, n_clusters: int) -> float:
        """Return what no clustering can beat, 0 if unknown."""
        return scatter_bound(self.data.X, self.data.weight, n_clusters)


def clusters_of(data: TrainingData, centers: Array) -> Clusters:
    """Return the clusters of rows, in memory or on a device."""
    if not is_foreign(data.X):
        return Clusters(data, centers)
    from pellucid.cluster.kmeans.clusters_on_device import ClustersOnDevice

    return ClustersOnDevice(data, centers)


def _is_small(data: TrainingData, centers: Array, max_iter: int) -> bool:
    return isinstance(data.X, np.ndarray) and data.X.shape[0] * centers.size <= SMALL and max_iter <= MOST_LISTED


def _small_lloyd(data: TrainingData, centers: Array, effort: Effort, least: float | None) -> Fit | None:
    """Return the same fit for small data, by the plain method in one compiled loop; None if a cluster lost its rows."""
    rows, centers = DenseRows(data.X), centers.copy()
    clusters = Clusters(data, centers, rows)
    sums = clusters.sums
    labels, history = np.full(rows.shape[0], -1, np.int32), np.empty((effort.max_iter, 3))
    means = np.empty_like(centers)
    n_iter, has_all = plain_rounds(
        data.X,
        rows.middle,
        sums.weight,
        effort.goal,
        sums.scatter,
        centers,
        means,
        labels,
        sums.sums,
        sums.totals,
        history,
    )
    if not has_all:
        return None
    trace = Trace()
    for number, (objective, changed, moved) in enumerate(history[:n_iter].tolist(), start=1):
        trace.add(iteration=number, objective=objective, changed=changed, moved=moved)
    goal = effort.goal * sums.mean_variance()
    stopped = "max_iter"
    if changed == 0 or moved == 0.0:
        stopped = UNCHANGED
    elif n_iter > 1 and max(moved, history[n_iter - 2, 2]) <= goal:
        stopped = SHORT_STEPS
    return _finished(clusters, centers, goal, least, trace, stopped)


def are_same(means: Array, centers: Array, middle: Array) -> bool:
    """Return whether centers are means that were summed in another order."""
    moves, sizes = np.square(means - centers).sum(axis=1), np.square(centers - middle).sum(axis=1)
    return bool(np.all(moves <= ROUNDING**2 * sizes))


def fill_empty_clusters(clusters: Clusters) -> int:
    """Give clusters without rows the rows farthest from their own centers; return how many rows moved."""
    farthest, n_moved = clusters.farthest(), 0
    for empty in clusters.empty():
        found = next((one for one in farthest if clusters.sums.counts[one[1]] > 1), None)
        if found is None or found[2] == 0.0:  # fewer different rows than clusters
            break
        clusters.put(found[0], empty)
        n_moved += 1
    return n_moved


def _finished(clusters: Clusters, centers: Array, goal: float, least: float | None, trace: Trace, stopped: str) -> Fit:
    """Return the fit, with centers stored as the data are, and what is claimed of it."""
    centers = centers.astype(clusters.dtype).astype(np.float64)
    clusters.assign(centers)
    moved = float(np.sum((clusters.means() - centers) ** 2))
    labels, inertia = clusters.finish(centers)
    attributes = {
        "cluster_centers_": centers.astype(clusters.dtype),
        "labels_": clusters.spread(labels),
        "inertia_": inertia,
        "n_iter_": len(trace),
    }
    if len(labels) <= clusters.few_rows:
        return Fit(attributes, trace, stopped, reached=stopped in (UNCHANGED, SHORT_STEPS))
    claims = clusters.labels_claim(centers, labels), _centers_claim(moved, goal, clusters)
    if least is None:
        least = clusters.least_objective(len(centers)) if inertia > 0.0 else 0.0
    certificate = with_known_gap(Certificate("stationary", claims), inertia, least)
    return Fit(attributes, trace, stopped, certificate.with_claims(descent_claim(trace, clusters.sums.scatter)))


def _centers_claim(moved: float, goal: float, clusters: Clusters) -> Claim:
    """Return the claim that one more step is within the goal, but for centers being stored as the data are."""
    n, d = clusters.sums.rows.shape
    rounding = 8.0 * float(np.finfo(clusters.dtype).eps) + sum_error(n)
    allowed = goal + len(clusters.sums.counts) * d * (rounding * clusters.largest) ** 2
    return Claim("centers", "sum of squared moves in one more step", moved, allowed, "Raise max_iter, or tol.")


def descent_claim(trace: Trace, scatter: float) -> Claim:
    """Return the claim that the objective never rose."""
    rises = np.diff(trace["objective"])
    statement = "largest rise of the objective from one round to the next, as a part of the scatter of all rows"
    return Claim("descent", statement, max(float(rises.max(initial=0.0)), 0.0) / (scatter or 1.0), ROUNDING)


MOST_ENTRIES = 1 << 24
"""Of the table of cuts, different values times clusters, up to which it is made."""


def best_line_centers(data: TrainingData, n_clusters: int) -> tuple[Array, float] | None:
    """Return the centers of the best clustering of one column, and its objective, less what rounding can add.

    None for several columns, and for too many or too few different values.
    """
    if data.X.shape[1] != 1:
        return None
    column = (data.X.toarray() if sparse.issparse(data.X) else data.X).ravel().astype(np.float64)
    values, places = np.unique(column, return_inverse=True)
    if not n_clusters < len(values) <= MOST_ENTRIES // n_clusters:
        return None
    weight = np.bincount(places, weights=data.weight, minlength=len(values))
    middle = weight @ values / weight.sum()
    moved = values - middle
    sums = [np.concatenate(([0.0], np.cumsum(terms))) for terms in (weight, weight * moved, weight * moved**2)]
    before, cuts = np.full(len(values) + 1, np.inf), np.zeros((n_clusters, len(values) + 1), np.int32)
    before[0] = 0.0
    for k in range(n_clusters):
        after = np.full(len(values) + 1, np.inf)
        add_cluster(*sums, before, after, cuts[k])
        before = after
    stop, centers = len(values), np.empty((n_clusters, 1))
    for k in reversed(range(n_clusters)):
        start = int(cuts[k, stop])
        centers[k] = middle + weight[start:stop] @ moved[start:stop] / weight[start:stop].sum()
        stop = start
    return centers, max(float(before[-1]) - 8 * EPSILON * np.sqrt(len(values)) * float(sums[2][-1]), 0.0)
