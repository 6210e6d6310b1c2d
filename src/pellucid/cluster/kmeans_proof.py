r"""Proof of a k-means clustering: it is a fixed point of Lloyd's method, up to its tolerance.

Every row is with its nearest center, one more step would move the centers by no more than ``tol`` allows, and the
stored objective is that of the stored centers. All is summed from squared differences, in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON, sum_error
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array

ROWS_AT_ONCE = 1024


def prove_kmeans(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, weight = data.X, data.weights
    centers, labels = np.asarray(fitted.cluster_centers_, dtype=np.float64), _labels_of_rows(fitted.labels_, data)
    shape = (parameters.n_clusters, X.shape[1])
    if centers.shape != shape or labels.shape != weight.shape or not _are_places(labels, len(centers)):
        return kmeans_certificate(math.inf, math.inf, math.inf, 0)
    strays, objective, sums = 0, 0.0, np.zeros(shape)
    mean, square = np.asarray(X.T @ weight).ravel() / weight.sum(), np.zeros(shape[1])
    for start in range(0, len(weight), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = np.asarray(X[rows].toarray() if sparse.issparse(X) else X[rows], dtype=np.float64)
        distances = np.stack([np.square(block - center).sum(axis=1) for center in centers], axis=1)
        own = distances[np.arange(len(block)), labels[rows]]
        # two ways to sum a squared distance differ by its rounding
        strays += int(np.sum(~(own <= distances.min(axis=1) * (1.0 + 4 * EPSILON * shape[1]))))
        objective += float(weight[rows] @ own)
        square += weight[rows] @ np.square(block - mean)
        np.add.at(sums, labels[rows], weight[rows, None] * (block - centers[labels[rows]]))
    total = np.bincount(labels, weights=weight, minlength=len(centers))
    moves = sums / np.where(total > 0.0, total, 1.0)[:, None]
    rounding = rounding_of_centers(X, len(centers))
    allowed = parameters.tol * float(square.mean()) / float(weight.sum()) + rounding
    error = abs(fitted.inertia_ - objective) / objective if objective > 0.0 else abs(fitted.inertia_)
    certificate = kmeans_certificate(float(strays), float(np.sum(moves**2)), allowed, X.shape[0])
    statement = "relative distance of inertia_ from its recomputed value"
    return certificate.with_claims(Claim("objective", statement, error, sum_error(X.shape[0])))


def kmeans_certificate(strays: float, moved: float, allowed: float, n_rows: int) -> Certificate:
    """Return what is claimed of a fixed point; a fit looks at ``n_rows`` of the rows, ``verify`` at all."""
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Certificate(
        "stationary",
        (
            Claim("assignment", statement, strays, 0.0),
            Claim("centers", "sum of squared moves in one more step", moved, allowed, "Raise max_iter, or tol."),
        ),
    )


def _labels_of_rows(labels: Array, data: TrainingData) -> Array:
    labels = np.asarray(labels)
    return labels if data.kept is None or len(labels) != data.n_given else labels[data.kept]


def _are_places(labels: Array, n_clusters: int) -> bool:
    return labels.dtype.kind == "i" and bool(np.all((labels >= 0) & (labels < n_clusters)))


def rounding_of_centers(X: Any, n_clusters: int) -> float:
    """Return by how much, squared and summed, centers differ from means because they are stored as the data are."""
    largest = float(np.abs(X.data if sparse.issparse(X) else X).max(initial=0.0))
    return n_clusters * X.shape[1] * (8.0 * float(np.finfo(X.dtype).eps) * largest) ** 2
