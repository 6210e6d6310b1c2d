"""Proof of MDS: the distances are those of the data, the stress is as stored, and no step lowers it by much.

Non-metric maps aim at disparities, found again by a monotone regression of the distances on the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from pellucid.manifold.dissimilarities import all_distances, is_given
from pellucid.manifold.mds.mds_parameters import is_metric, is_normalized, metric_name, metric_of
from pellucid.manifold.monotone import Disparities
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.manifold.classical_mds import distances_claim, rows_claim
from pellucid.proofs.manifold.stress import orientation_claim, stress_claims
from pellucid.proofs.training_data import TrainingData

REMEDY = "Raise max_iter, or eps."


def prove_mds(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate, with everything computed again from the data."""
    n = data.X.shape[0]
    if fitted.embedding_.ndim != 2 or len(fitted.embedding_) != n or fitted.dissimilarity_matrix_.shape != (n, n):
        shape = Claim("shape", "embedding_ or dissimilarity_matrix_ have not one row per training row", 1.0, 0.0)
        return Certificate("stationary", (shape,))
    distances = all_distances(metric_of(parameters), data.X)
    return mds_claims(fitted, parameters, data, distances)


def mds_claims(fitted: Any, parameters: Any, data: TrainingData, distances: Array) -> Certificate:
    """Return what is claimed, given the distances of the data."""
    claims = [] if is_given(metric_name(parameters)) else [rows_claim(fitted.X_fit_, data.X)]
    places = fitted.embedding_
    wanted = distances if is_metric(parameters) else Disparities(distances)(places, 1)
    stored = float(fitted.stress_)
    if is_normalized(parameters):
        stored = stored * abs(stored) * float(np.sum(pdist(places) ** 2))
    return Certificate(
        "stationary",
        (
            *claims,
            distances_claim(fitted.dissimilarity_matrix_, distances),
            orientation_claim(places),
            *stress_claims(places, wanted, None, stored, eps=float(parameters.eps), remedy=REMEDY),
        ),
    )
