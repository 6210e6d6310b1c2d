"""The cluster of each row as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.distances import power_distances, squared_distances, summed_differences
from pellucid.core.onnx.graph import Answers, NotExportableError, Value

POWERS = {"euclidean": 2.0, "l2": 2.0, "sqeuclidean": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0}


def nearest_center(model: Any, X: Value) -> Answers:
    """Return the nearest center, the first of equally near ones."""
    return {"label": squared_distances(X, model.cluster_centers_.astype(np.float64)).argmin()}


def soft(model: Any, X: Value) -> Answers:
    """Return the nearest center and the responsibilities."""
    squares = squared_distances(X, model.cluster_centers_.astype(np.float64))
    return {"label": squares.argmin(), "probabilities": (squares * (-0.5 * float(model.beta))).softmax()}


def nearest_median(model: Any, X: Value) -> Answers:
    """Return the nearest center by the sum of differences."""
    return {"label": summed_differences(X, model.cluster_centers_.astype(np.float64), Value.abs).argmin()}


def nearest_medoid(model: Any, X: Value) -> Answers:
    """Return the nearest medoid."""
    if model.metric == "precomputed":
        return {"label": X.columns(model.medoid_indices_).argmin()}
    if model.metric not in POWERS:
        raise NotExportableError(
            f"KMedoids must have one of the metrics {tuple(POWERS)} to be exported, got {model.metric!r}."
        )
    return {"label": power_distances(X, model.cluster_centers_.astype(np.float64), POWERS[model.metric]).argmin()}
