r"""Proof of a k-means clustering: it is a fixed point of Lloyd's method, and how far from the best of all.

Every row is with its nearest center, one more step would move the centers by no more than ``tol`` allows, and the
stored objective is that of the stored centers. All is summed from squared differences, in float64. A cluster has rows,
unless all rows lie in the other centers; its center is then a row, or one of the start. How far the objective is above
that of the best clustering of all, a lower bound says; if nothing is left, the grade is ``optimal``.

From batches, a center is the mean of the rows that they gave it. Were they given for good, the mean of c rows would
lie beside the cluster's by its variance over c, and moving the centers to the means of all their rows would save
:math:`\sum_k W_k V_k / c_k`, about the part K / (number of rows drawn) of the objective. Earlier rows were given by
centers that have moved since, which no theorem bounds: ``STEP`` of the objective is the goal, more for small batches.
A change of the centers that raises the objective by less than this part is not seen, but by ``inertia_``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.cluster.kmeans_bounds import CLOSED, MOST_STEPS, lower_bound
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 1024
STARTS_THAT_ARE_NO_ROWS = ("random-partition", "k-log-k")
"""Of these, or of a function, is only asked that they lie between the rows."""
EMPTY = "centers without rows while some row is not in its center, or that are neither a row nor one of the start"

STEP = 0.05
"""Part of the objective that one step over all rows may save after large batches."""

STEP_SAYS = "part of the objective that moving the centers to the means of all their rows would save"
ONE_PASS = "The batches have drawn no more rows than there are: nothing is claimed of how far the centers have come."
NO_LABELS = "compute_labels is False: nothing is known of the training rows."


@dataclass(frozen=True)
class MeasuredClusters:
    """What stored centers and labels are worth, summed from squared differences in float64."""

    labels: Array
    strays: float
    """Rows nearer to another center than to their own."""
    objective: float
    moved: float
    """Sum of squared moves of the centers in one more step."""
    saved: float
    """What one more step would save of the objective, before rows change their clusters."""
    variance: float
    """Mean over the features of their variance."""
    n_empty: int
    """Centers without rows that have no reason to be where they are."""


def prove_kmeans(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    found = measure_clusters(fitted, parameters, data)
    if found is None:
        return kmeans_certificate(math.inf, math.inf, math.inf, 0)
    allowed = parameters.tol * found.variance + rounding_of_centers(data.X, parameters.n_clusters)
    certificate = kmeans_certificate(found.strays, found.moved, allowed, data.X.shape[0])
    certificate = certificate.with_claims(
        objective_claim(fitted.inertia_, found.objective, data.X.shape[0]),
        Claim("empty clusters", EMPTY, float(found.n_empty), 0.0, "Raise max_iter, or ask for fewer clusters."),
    )
    bound = lower_bound(data.X, data.weights, found.labels, parameters.n_clusters)
    return with_gap(certificate, found.objective, bound)


def prove_minibatch_kmeans(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    if not parameters.compute_labels:
        return Certificate("none", (), NO_LABELS)
    n_rows, k = data.X.shape[0], parameters.n_clusters
    found = measure_clusters(fitted, parameters, data)
    strays, objective = (math.inf, math.inf) if found is None else (found.strays, found.objective)
    claims = (
        Claim("assignment", f"of {n_rows:,} rows, those nearer to another center than to their own", strays, 0.0),
        objective_claim(fitted.inertia_, objective, n_rows),
    )
    if found is None:
        return Certificate("bounded", claims)
    value = found.saved / objective if objective > 0.0 else found.saved
    allowed = STEP + 0.5 * k / min(parameters.batch_size, n_rows)
    step = Claim("step", STEP_SAYS, value, allowed, "Raise max_iter, max_no_improvement or batch_size.")
    # after one pass nobody expects the centers to have come to rest
    has_rested = fitted.n_iter_ > 1
    certificate = Certificate("bounded", (*claims, step)) if has_rested else Certificate("none", claims, ONE_PASS)
    return with_gap(certificate, objective, lower_bound(data.X, data.weights, found.labels, k, MOST_STEPS))


def measure_clusters(fitted: Seen, parameters: Seen, data: TrainingData) -> MeasuredClusters | None:
    """Return what the data say of stored centers and labels; None if these cannot be any."""
    X, weight = data.X, data.weights
    centers, shape = np.asarray(fitted.cluster_centers_, dtype=np.float64), (parameters.n_clusters, X.shape[1])
    counted = counted_labels(fitted.labels_, data, len(centers))
    if centers.shape != shape or counted is None:
        return None
    (labels, strays), objective, sums = counted, 0.0, np.zeros(shape)
    mean, square = np.asarray(X.T @ weight).ravel() / weight.sum(), np.zeros(shape[1])
    for start in range(0, len(weight), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = dense(X[rows]).astype(np.float64)
        distances = np.stack([np.square(block - center).sum(axis=1) for center in centers], axis=1)
        own = distances[np.arange(len(block)), labels[rows]]
        # two ways to sum a squared distance differ by its rounding
        strays += int(np.sum(~(own <= distances.min(axis=1) * (1.0 + 4 * EPSILON * shape[1]))))
        objective += float(weight[rows] @ own)
        square += weight[rows] @ np.square(block - mean)
        np.add.at(sums, labels[rows], weight[rows, None] * (block - centers[labels[rows]]))
    total = np.bincount(labels, weights=weight, minlength=len(centers))
    moves = sums / np.where(total > 0.0, total, 1.0)[:, None]
    saved = float(total @ np.sum(moves**2, axis=1))
    variance = float(square.mean()) / float(weight.sum())
    is_spread = objective > sum_error(len(weight)) * float(square.sum())
    n_empty = _without_reason(centers[total == 0.0], X, parameters.init, is_spread=is_spread)
    return MeasuredClusters(labels, float(strays), objective, float(np.sum(moves**2)), saved, variance, n_empty)


def _without_reason(empty: Array, X: SparseOrDense, init: Any, *, is_spread: bool) -> int:
    """Return how many centers without rows no fit would leave."""
    if is_spread or not len(empty):
        return len(empty)
    rows = dense(X).astype(np.float64)
    if callable(init) or (isinstance(init, str) and init in STARTS_THAT_ARE_NO_ROWS):
        return int(np.sum(((empty < rows.min(axis=0)) | (empty > rows.max(axis=0))).any(axis=1)))
    starts = rows if isinstance(init, str) else np.vstack([rows, np.asarray(init, dtype=X.dtype)])
    return sum(not (starts == center).all(axis=1).any() for center in empty)


def objective_claim(stored: float, objective: float, n_rows: int) -> Claim:
    """Return the claim that the stored objective is that of the stored centers."""
    error = abs(stored - objective) / objective if objective > 0.0 else abs(stored)
    return Claim("objective", "relative distance of inertia_ from its recomputed value", error, sum_error(n_rows))


def kmeans_certificate(strays: float, moved: float, allowed: float, n_rows: int) -> Certificate:
    """Return what is claimed of a fixed point."""
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Certificate(
        "stationary",
        (
            Claim("assignment", statement, strays, 0.0),
            Claim("centers", "sum of squared moves in one more step", moved, allowed, "Raise max_iter, or tol."),
        ),
    )


def with_gap(certificate: Certificate, objective: float, bound: float | None) -> Certificate:
    """Return the certificate with the distance to the best clustering of all, if a bound says anything about it."""
    if objective > 0.0 and not (bound or 0.0) > 0.0:
        return certificate
    below = (bound or 0.0) / objective if objective > 0.0 else 1.0
    statement = "part of the objective that the best clustering of all could save, at most"
    gap = gap_claim("gap", statement, 1.0, below, CLOSED, rounding=CLOSED)
    if gap.holds:
        return replace(certificate, grade="optimal").with_claims(gap)
    if below > 1.0:
        return certificate.with_claims(gap)
    # no claim: how far a bound is from the objective says as much of the bound as of the clustering
    saved = f"The best clustering of all could save at most {100.0 * (1.0 - below):.3g} % of the objective."
    return replace(certificate, reason=f"{certificate.reason} {saved}".strip())


def counted_labels(labels: Any, data: TrainingData, n_clusters: int) -> tuple[Array, int] | None:
    """Return the labels of the rows that count, and how many of the others are not -1; None if they are no labels."""
    labels, counted = np.asarray(labels), data.given_rows(np.arange(data.X.shape[0]))
    if labels.shape != (data.n_given,) or labels.dtype.kind != "i":
        return None
    own = labels[counted]
    return (own, int(np.sum(np.delete(labels, counted) != -1))) if np.all((own >= 0) & (own < n_clusters)) else None


def rounding_of_centers(X: SparseOrDense, n_clusters: int) -> float:
    """Return by how much, squared and summed, centers differ from means because they are stored as the data are."""
    largest = float(abs(X).max())
    rounding = 8.0 * float(np.finfo(X.dtype).eps) + sum_error(X.shape[0])
    return n_clusters * X.shape[1] * (rounding * largest) ** 2


PROVES = {"KMeans": prove_kmeans, "MiniBatchKMeans": prove_minibatch_kmeans}
