r"""Proofs of medoids, of which no swap with another row lowers the objective, and of medians, which are a fixed point.

With :math:`a_i` and :math:`b_i` the distances of row i to its nearest and second nearest medoid, row x in the place of
medoid k changes the objective by

.. math:: \sum_i w_i g_i + \sum_{i \in k} w_i (\min(d_{ix}, b_i) - a_i - g_i), \qquad g_i = \min(d_{ix} - a_i, 0)

which one pass over the rows gives for all k at once. Of many rows a random sample is tried.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.cluster_trees import row_distances
from pellucid.proofs.cluster.kmeans import counted_labels, objective_claim
from pellucid.proofs.distances import is_given, lost_digits
from pellucid.proofs.rounding import rounding_unit, sum_error
from pellucid.proofs.sampling import drawn, in_percent, is_fitting, most_wrong
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

AT_FIT = 300_000
"""Distances of rows that a fit may compute again, beside those to the medoids."""
TO_VERIFY = 400_000_000
AT_ONCE = 256


def prove_kmedoids(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, weight, metric = data.X, data.weights, parameters.metric
    wrong, rows = _wrong_medoids(fitted, parameters, data)
    medoids = Claim("medoids", "medoids that are no rows, or not those that are stored", float(wrong), 0.0)
    if wrong:
        return Certificate("replayed", (medoids,))
    gaps = X[:, fitted.medoid_indices_].astype(np.float64) if is_given(metric) else row_distances(X, X[rows], metric)
    lost = lost_digits(metric)
    objective, error = float(weight @ gaps.min(axis=1)), abs(fitted.inertia_)
    if objective > 0.0:
        error = max(abs(fitted.inertia_ - objective) - lost * float(weight.sum()), 0.0) / objective
    counted, strays = counted_labels(fitted.labels_, data, gaps.shape[1]), data.n_given
    if counted is not None:
        own, strays = counted
        # the order of a sum decides between medoids that are equally near up to rounding
        near = gaps.min(axis=1) * (1.0 + sum_error(data.X.shape[1])) + lost
        strays += int(np.sum(~(gaps[np.arange(len(own)), own] <= near)))
    return Certificate(
        "replayed",
        (
            medoids,
            Claim("assignment", "rows that are nearer to another medoid than to their own", float(strays), 0.0),
            Claim("objective", "relative distance of inertia_ from its value", error, sum_error(len(weight))),
            _swap_claim(gaps, data, metric, rows),
        ),
    )


def _wrong_medoids(fitted: Seen, parameters: Seen, data: TrainingData) -> tuple[int, Array]:
    """Return how many medoids are wrong, and where they stand among the rows that count."""
    given, k = np.asarray(fitted.medoid_indices_), parameters.n_clusters
    if given.shape != (k,) or given.dtype.kind != "i" or given.min() < 0 or given.max() >= data.n_given:
        return k, given
    rows = data.places(given)
    if len(rows) < k or len(np.unique(given)) < k:
        return k, rows
    if is_given(parameters.metric):
        return 0, rows
    centers = np.asarray(fitted.cluster_centers_)
    return (k, rows) if centers.shape != (k, data.X.shape[1]) else (int(np.sum(centers != data.X[rows])), rows)


def _swap_claim(gaps: Array, data: TrainingData, metric: Any, rows: Array) -> Claim:
    """Return the claim that no swap lowers the objective by more than rounding."""
    X, weight, n = data.X, data.weights, data.X.shape[0]
    work = AT_FIT if is_fitting() else TO_VERIFY
    order = np.argsort(gaps, axis=1)[:, :2]
    owner, near = order[:, 0], gaps.min(axis=1)
    second = gaps[np.arange(n), order[:, 1]] if gaps.shape[1] > 1 else np.full(n, math.inf)
    members = np.zeros(gaps.shape)
    members[np.arange(n), owner] = weight
    others = np.setdiff1d(np.arange(n), rows)
    tried = others if n * len(others) <= work else others[drawn(len(others), max(1, work // n))]
    best, counted = 0.0, data.given_rows(np.arange(n))
    for start in range(0, len(tried), AT_ONCE):
        block = tried[start : start + AT_ONCE]
        D = X[np.ix_(block, counted)] if is_given(metric) else row_distances(X[block], X, metric)
        gain = np.minimum(D - near, 0.0)
        changes = (gain @ weight)[:, None] + (np.minimum(D, second) - near - gain) @ members
        best = float(np.min([best, changes.min()]))  # a NaN stays
    objective = float(weight @ near)
    of = f"of swaps with {len(tried):,} rows"
    if len(tried) < len(others):
        wrong = f"at most {in_percent(most_wrong(len(tried)))} better, at 99 %"
        of = f"of swaps with {len(tried):,} of {len(others):,} rows ({wrong})"
    lowered = max(-best - lost_digits(metric) * float(weight.sum()), 0.0)
    lowered = lowered / objective if objective > 0.0 else lowered
    statement = f"{of}, the share of the objective that the best would save"
    return Claim("swaps", statement, lowered, 4 * sum_error(n), "Raise max_iter.")


# Proof of a k-medians clustering: it is a fixed point, every row nearest to the median of its own cluster.
#
# All distances are summed from absolute differences, and all medians found by sorting, in float64.


ROWS_AT_ONCE = 1024


def prove_kmedians(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, weight = data.X, data.weights
    centers = np.asarray(fitted.cluster_centers_, dtype=np.float64)
    counted = counted_labels(fitted.labels_, data, len(centers))
    if centers.shape != (parameters.n_clusters, X.shape[1]) or counted is None:
        return _certificate(math.inf, Claim("objective", "of no clusters", math.inf, 0.0), math.inf, len(weight))
    (own, strays), objective = counted, 0.0
    for start in range(0, len(weight), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = np.asarray(X[rows], dtype=np.float64)
        distances = np.stack([np.abs(block - center).sum(axis=1) for center in centers], axis=1)
        mine = distances[np.arange(len(block)), own[rows]]
        # two ways to sum absolute differences differ by their rounding
        strays += int(np.sum(~(mine <= distances.min(axis=1) * (1.0 + sum_error(X.shape[1])))))
        objective += float(weight[rows] @ mine)
    off = float(np.max([_distance_from_median(X, weight, own, k, centers[k]) for k in range(len(centers))]))
    right = objective_claim(fitted.inertia_, objective, len(weight))
    return _certificate(float(strays), right, off / rounding_unit(X.dtype), len(weight))


def _certificate(strays: float, objective: Claim, off: float, n_rows: int) -> Certificate:
    unit = "distance of a center from the median of its rows, in units of rounding"
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Certificate(
        "stationary",
        (
            Claim("assignment", statement, strays, 0.0),
            Claim("medians", unit, off, 1.0, "Raise max_iter."),
            objective,
        ),
    )


def _distance_from_median(X: Array, weight: Array, labels: Array, k: int, center: Array) -> float:
    """Return how far a center is from halfway between the middle values, as a part of the largest value."""
    rows = np.flatnonzero(labels == k)
    if not len(rows):
        return 0.0
    inside = np.asarray(X[rows], dtype=np.float64)
    order = np.argsort(inside, axis=0)
    values, weights = np.take_along_axis(inside, order, axis=0), weight[rows][order]
    half = weights.sum(axis=0) * (0.5 - sum_error(len(rows)))
    below, above = np.cumsum(weights, axis=0), np.cumsum(weights[::-1], axis=0)  # up to a value, and from it on
    columns = np.arange(inside.shape[1])
    low = values[np.argmax(below >= half, axis=0), columns]
    high = values[::-1][np.argmax(above >= half, axis=0), columns]
    size = np.abs(inside).max(axis=0)
    return float(np.max(np.abs(center - (low + (high - low) / 2)) / np.where(size > 0.0, size, 1.0)))


PROVES = {"KMedians": prove_kmedians, "KMedoids": prove_kmedoids}
