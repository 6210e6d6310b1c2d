"""Proof of a Sammon mapping: distances, weighted stress, what one more step would gain, and orientation."""

from __future__ import annotations

from typing import Any

from pellucid.manifold.dissimilarities import all_distances, is_given
from pellucid.manifold.sammon.weighting import normalizer, weights_for
from pellucid.neighbors.metric import Metric
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.manifold.classical_mds import distances_claim, rows_claim
from pellucid.proofs.manifold.stress import orientation_claim, stress_claims
from pellucid.proofs.training_data import TrainingData

REMEDY = "Raise max_iter, or tol."


def prove_sammon_mapping(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n, k = data.X.shape[0], parameters.n_components
    if fitted.embedding_.shape != (n, k) or fitted.dissimilarity_matrix_.shape != (n, n):
        shape = Claim("shape", f"embedding_ or dissimilarity_matrix_ are not those of {k} dimensions", 1.0, 0.0)
        return Certificate("stationary", (shape,))
    metric = Metric.resolve(parameters.metric, None, parameters.metric_params)
    return sammon_claims(fitted, parameters, data, all_distances(metric, data.X))


def sammon_claims(fitted: Any, parameters: Any, data: TrainingData, distances: Array) -> Certificate:
    """Return what is claimed, given the distances of the data."""
    rows = [] if is_given(parameters.metric) else [rows_claim(fitted.X_fit_, data.X)]
    weights = weights_for(distances, parameters.weighting)
    stored = float(fitted.stress_) * normalizer(distances)
    return Certificate(
        "stationary",
        (
            *rows,
            distances_claim(fitted.dissimilarity_matrix_, distances),
            orientation_claim(fitted.embedding_),
            *stress_claims(fitted.embedding_, distances, weights, stored, eps=float(parameters.tol), remedy=REMEDY),
        ),
    )
