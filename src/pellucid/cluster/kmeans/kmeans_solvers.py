"""Lloyd's method for k-means: rows go to their nearest center, centers to the mean of their rows, until nothing moves.

A cluster that loses all its rows gets the row farthest from its own center, of those that are not alone in theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.center_answers import (
    FEW_ROWS,
    NOTHING,
    ClusterSums,
    labels_claim,
    own_distances,
    with_gap,
    with_known_gap,
)
from pellucid.cluster.kmeans.kmeans_starts_kernels import add_cluster
from pellucid.cluster.kmeans.measured_rows import DenseRows, measured_rows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters
from pellucid.cluster.kmeans.nearest_centers_kernels import plain_rounds
from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace, is_recording
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import ignore
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, ROUNDING, sum_error
from pellucid.proofs.training_data import TrainingData

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
    rows, trace, stopped = measured_rows(data.X), Trace(), "max_iter"
    sums, nearest = ClusterSums(rows, data.weight, len(centers)), NearestCenters(rows, centers)
    moved = math.inf
    for n_iter in range(1, effort.max_iter + 1):
        changed = reassign(nearest, sums, centers)
        if not sums.counts.all():
            changed += _fill_empty_clusters(nearest, sums)
        if changed == 0:
            sums.gather(nearest.bounds.labels)
        means = nearest.as_given(sums.means(nearest.centers))
        way = (means - centers).ravel()
        last, moved = moved, float(way @ way)
        if n_iter == 1:
            goal = effort.goal * sums.mean_variance()
        trace.add(iteration=n_iter, objective=sums.objective(nearest.centers), changed=changed, moved=moved)
        if is_recording():
            trace.keep(centers=centers, labels=nearest.names)
        is_settled = changed == 0 and are_same(means, centers, rows.middle)
        if is_settled or moved == 0.0 or max(last, moved) <= goal:  # twice: the next step from here is as short
            stopped = SHORT_STEPS if changed and moved else UNCHANGED
            break
        if effort.watch(means):
            stopped = "callback"
            break
        centers = means
    return _finished(data, nearest, sums, centers, goal, least, trace, stopped)


def _is_small(data: TrainingData, centers: Array, max_iter: int) -> bool:
    return not sparse.issparse(data.X) and data.X.shape[0] * centers.size <= SMALL and max_iter <= MOST_LISTED


def _small_lloyd(data: TrainingData, centers: Array, effort: Effort, least: float | None) -> Fit | None:
    """Return the same fit for small data, by the plain method in one compiled loop; None if a cluster lost its rows."""
    rows, centers = DenseRows(data.X), centers.copy()
    sums = ClusterSums(rows, data.weight, len(centers))
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
    return _finished(data, NearestCenters(rows, centers), sums, centers, goal, least, trace, stopped)


def are_same(means: Array, centers: Array, middle: Array) -> bool:
    """Return whether centers are means that were summed in another order."""
    moves, sizes = np.square(means - centers).sum(axis=1), np.square(centers - middle).sum(axis=1)
    return bool(np.all(moves <= ROUNDING**2 * sizes))


def reassign(nearest: NearestCenters, sums: ClusterSums, centers: Array) -> int:
    """Give each row its nearest center; return how many rows changed their cluster."""
    is_first = not sums.counts.any()
    moves = nearest.assign(centers)
    if is_first:
        sums.gather(nearest.bounds.labels)
        return nearest.rows.shape[0]
    sums.move(moves, nearest.bounds.labels)
    return sum(len(move.rows) for move in moves)


def _fill_empty_clusters(nearest: NearestCenters, sums: ClusterSums) -> int:
    """Give clusters without rows the rows farthest from their own centers; return how many rows moved."""
    labels, distances = nearest.bounds.labels, np.empty(len(nearest.bounds.labels))
    own_distances(nearest.rows, NOTHING, nearest.centers, labels, distances)
    farthest = iter(np.argsort(-distances, kind="stable"))
    n_moved = 0
    for empty in sorted(np.flatnonzero(sums.counts == 0), key=lambda k: nearest.order[k]):
        row = next((row for row in farthest if sums.counts[labels[row]] > 1), None)
        if row is None or distances[row] == 0.0:  # fewer different rows than clusters
            break
        sums.move([nearest.move(int(row), int(empty))], labels)
        n_moved += 1
    return n_moved


def _finished(
    data: TrainingData,
    nearest: NearestCenters,
    sums: ClusterSums,
    centers: Array,
    goal: float,
    least: float | None,
    trace: Trace,
    stopped: str,
) -> Fit:
    """Return the fit, with centers stored as the data are, and what is claimed of it."""
    X = data.X
    centers = centers.astype(X.dtype).astype(np.float64)
    reassign(nearest, sums, centers)
    moved = float(np.sum((sums.means(nearest.centers) - nearest.centers) ** 2))
    labels = nearest.finish()
    inertia = own_distances(nearest.rows, sums.weight, centers, labels)
    attributes = {
        "cluster_centers_": centers.astype(X.dtype),
        "labels_": data.spread(labels, fill=-1),
        "inertia_": inertia,
        "n_iter_": len(trace),
    }
    if X.shape[0] <= FEW_ROWS:
        return Fit(attributes, trace, stopped)
    certificate = Certificate(
        "stationary", (labels_claim(X, centers, labels), _centers_claim(moved, goal, X, len(centers)))
    )
    if least is None:
        certificate = with_gap(certificate, inertia, X, len(centers), data.weight)
    else:
        certificate = with_known_gap(certificate, inertia, least)
    return Fit(attributes, trace, stopped, certificate.with_claims(descent_claim(trace, sums.scatter)))


def _centers_claim(moved: float, goal: float, X: SparseOrDense, n_clusters: int) -> Claim:
    """Return the claim that one more step is within the goal, but for centers being stored as the data are."""
    largest = float(abs(X).max()) if sparse.issparse(X) else float(max(X.max(), -X.min()))
    rounding = 8.0 * float(np.finfo(X.dtype).eps) + sum_error(X.shape[0])
    allowed = goal + n_clusters * X.shape[1] * (rounding * largest) ** 2
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
