"""Proof of a k-medians clustering: it is a fixed point, every row nearest to the median of its own cluster.

All distances are summed from absolute differences, and all medians found by sorting, in float64.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import rounding_unit, sum_error
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 1024


def prove_kmedians(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X, weight = data.X, data.weights
    centers, labels = np.asarray(fitted.cluster_centers_, dtype=np.float64), np.asarray(fitted.labels_)
    counted = data.given_rows(np.arange(len(weight)))
    own = labels[counted] if labels.shape == (data.n_given,) and labels.dtype.kind == "i" else np.full(1, -1)
    if centers.shape != (parameters.n_clusters, X.shape[1]) or own.min() < 0 or own.max() >= len(centers):
        return _certificate(math.inf, math.inf, math.inf, len(weight))
    strays, objective = int(np.sum(np.delete(labels, counted) != -1)), 0.0
    for start in range(0, len(weight), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = np.asarray(X[rows], dtype=np.float64)
        distances = np.stack([np.abs(block - center).sum(axis=1) for center in centers], axis=1)
        mine = distances[np.arange(len(block)), own[rows]]
        # two ways to sum absolute differences differ by their rounding
        strays += int(np.sum(~(mine <= distances.min(axis=1) * (1.0 + sum_error(X.shape[1])))))
        objective += float(weight[rows] @ mine)
    error = abs(fitted.inertia_ - objective) / objective if objective > 0.0 else abs(fitted.inertia_)
    off = float(np.max([_distance_from_median(X, weight, own, k, centers[k]) for k in range(len(centers))]))
    return _certificate(float(strays), off / rounding_unit(X.dtype), error, len(weight))


def _certificate(strays: float, off: float, error: float, n_rows: int) -> Certificate:
    unit = "distance of a center from the median of its rows, in units of rounding"
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Certificate(
        "stationary",
        (
            Claim("assignment", statement, strays, 0.0),
            Claim("medians", unit, off, 1.0, "Raise max_iter."),
            Claim("objective", "relative distance of inertia_ from its recomputed value", error, sum_error(n_rows)),
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


PROVES = {"KMedians": prove_kmedians}
