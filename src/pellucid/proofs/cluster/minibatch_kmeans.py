r"""Proof of a k-means clustering from batches: it is worth what it says, and one step over all rows would save little.

A center is the mean of the rows that batches gave it. Were they given it for good, the mean of c rows would lie beside
the cluster's by its variance over c, and moving the centers to the means of all their rows would save
:math:`\sum_k W_k V_k / c_k`, about the part K / (number of rows drawn) of the objective. Earlier rows were given by
centers that have moved since, which no theorem bounds: ``STEP`` of the objective is the goal, more for small batches.
A change of the centers that raises the objective by less than this part is not seen, but by ``inertia_``.
"""

from __future__ import annotations

import math
from typing import Any

from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.cluster.kmeans import (
    labels_of_rows,
    lower_bound,
    measure_clusters,
    objective_claim,
    with_gap,
)
from pellucid.proofs.training_data import TrainingData

STEP = 0.05
"""Part of the objective that one step over all rows may save after large batches."""

ONE_PASS = "The batches have drawn no more rows than there are: nothing is claimed of how far the centers have come."
NO_LABELS = "compute_labels is False: nothing is known of the training rows."


def prove_minibatch_kmeans(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    if not parameters.compute_labels:
        return Certificate("none", (), NO_LABELS)
    found, n_rows = measure_clusters(fitted, parameters, data), data.X.shape[0]
    if found is None:
        return Certificate("bounded", minibatch_claims(math.inf, n_rows, objective_claim(1.0, math.inf, n_rows)))
    claims = minibatch_claims(found.strays, n_rows, objective_claim(fitted.inertia_, found.objective, n_rows))
    step = step_claim(found.saved, found.objective, parameters, n_rows)
    bound = lower_bound(data.X, data.weights, labels_of_rows(fitted.labels_, data), parameters.n_clusters)
    return with_gap(minibatch_certificate(claims, step, fitted.n_iter_), found.objective, bound)


def minibatch_claims(strays: float, n_rows: int, objective: Claim) -> tuple[Claim, ...]:
    """Return what is claimed of labels and objective, whatever the centers."""
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Claim("assignment", statement, strays, 0.0), objective


def step_claim(saved: float, objective: float, parameters: Any, n_rows: int) -> Claim:
    """Return the claim that the centers are near the means of their rows."""
    allowed = STEP + 0.5 * parameters.n_clusters / min(parameters.batch_size, n_rows)
    statement = "part of the objective that moving the centers to the means of all their rows would save"
    value = saved / objective if objective > 0.0 else saved
    return Claim("step", statement, value, allowed, "Raise max_iter, max_no_improvement or batch_size.")


def minibatch_certificate(claims: tuple[Claim, ...], step: Claim, n_passes: int) -> Certificate:
    """Return the certificate: after one pass nobody expects the centers to have come to rest."""
    return Certificate("bounded", (*claims, step)) if n_passes > 1 else Certificate("none", claims, ONE_PASS)
