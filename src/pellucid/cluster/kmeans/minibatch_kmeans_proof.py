"""Proof of a k-means clustering from batches: what it is worth, and how much the best of all could save."""

from __future__ import annotations

import math
from typing import Any

from pellucid.cluster.kmeans.kmeans_proof import (
    labels_of_rows,
    lower_bound,
    measure_clusters,
    objective_claim,
    with_gap,
)
from pellucid.core.certificate import Certificate, Claim
from pellucid.core.training_data import TrainingData

NO_BOUND = "Batches end near a fixed point, not in one, and no lower bound was computed for these data."
NO_LABELS = "compute_labels is False: nothing is known of the training rows."


def prove_minibatch_kmeans(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    if not parameters.compute_labels:
        return Certificate("none", (), NO_LABELS)
    found = measure_clusters(fitted, parameters, data)
    n_rows = data.X.shape[0]
    if found is None:
        return minibatch_certificate(math.inf, n_rows, math.inf, math.inf, None)
    bound = lower_bound(data.X, data.weights, labels_of_rows(fitted.labels_, data), parameters.n_clusters)
    return minibatch_certificate(found.strays, n_rows, fitted.inertia_, found.objective, bound)


def minibatch_certificate(
    strays: float, n_rows: int, stored: float, objective: float, bound: float | None
) -> Certificate:
    """Return what is claimed: labels, objective and, where there is a lower bound, the distance to the best of all."""
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    claims = (Claim("assignment", statement, strays, 0.0), objective_claim(stored, objective, n_rows))
    if objective > 0.0 and not (bound or 0.0) > 0.0:
        return Certificate("none", claims, NO_BOUND)
    return with_gap(Certificate("bounded", claims), objective, bound)
