"""Neighbors and centroids as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.distances import power_sums, rooted, squared_distances, summed_differences
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, NotExportableError, Value
from pellucid.neighbors.metric import Metric


def classifier(model: Any, X: Value) -> Answers:
    """Return the label with most votes of the nearest rows, and the shares of the votes."""
    if model.outputs_2d_:
        raise NotExportableError(f"KNeighborsClassifier must have one target to be exported, got {model._y.shape[1]}.")
    distances, places = _nearest(model, X)
    n, k = len(model.classes_), int(model.n_neighbors)
    is_class = places.entries_of(model._y.astype(np.int64)).reshape(-1, k, 1).equals(np.arange(n)).cast(DOUBLE)
    weights = _weights(model, distances)
    votes = is_class if weights is None else is_class * weights.reshape(-1, k, 1)
    votes = votes.sum(axis=1, keep=False)
    return {"label": labels_at(votes.argmax(), model.classes_), "probabilities": votes / votes.sum()}


def regressor(model: Any, X: Value) -> Answers:
    """Return the mean of the nearest rows' numbers."""
    distances, places = _nearest(model, X)
    k, targets = int(model.n_neighbors), places.entries_of(model._y.astype(np.float64))
    weights = _weights(model, distances)
    if weights is None:
        return {"variable": targets.sum(axis=1, keep=False) / float(k)}
    total = weights.sum(axis=1, keep=False)
    if model._y.ndim == 1:
        return {"variable": (targets * weights).sum(axis=1, keep=False) / total}
    return {"variable": (targets * weights.reshape(-1, k, 1)).sum(axis=1, keep=False) / total.reshape(-1, 1)}


def _nearest(model: Any, X: Value) -> tuple[Value, Value]:
    """Return distances and places of the nearest rows, nearest first, of equally near ones the first row."""
    metric = Metric(model.effective_metric_, model.effective_metric_params_)
    rows: Any = model._fit_X
    if metric.name == "precomputed":
        power, sums = 1.0, X
    elif (
        metric.power is None
        or metric.name == "sqeuclidean"
        or not isinstance(rows, (np.ndarray, sparse.sparray, sparse.spmatrix))
    ):
        raise NotExportableError(
            f"{type(model).__name__} must have a metric that sums powers of differences, and its rows in memory, to be "
            f"exported, got {metric.name!r}."
        )
    else:
        known = np.asarray(rows if isinstance(rows, np.ndarray) else rows.toarray(), dtype=np.float64)
        power, sums = metric.power, power_sums(X, known, metric.power)
    found = X.graph.apply(
        "TopK", sums, np.array([int(model.n_neighbors)]), dtypes=(DOUBLE, WHOLE), largest=0, sorted=1, axis=1
    )
    return rooted(found[0], power), found[1]


def _weights(model: Any, distances: Value) -> Value | None:
    """Return what each neighbor counts; None if all count the same."""
    if model.weights in (None, "uniform"):
        return None
    if model.weights == "exponential":
        return (-float(model.rate) * (distances - distances.apply("ReduceMin", np.array([1])))).exp()
    if model.weights != "distance":
        raise NotExportableError(
            f"{type(model).__name__} must have weights with a name to be exported, got a function."
        )
    inverse = 1.0 / distances
    at_zero = (inverse.apply("IsInf", dtype=np.dtype(bool))).cast(DOUBLE)
    return (at_zero.max() > 0.0).where(at_zero, inverse)


def centroid(model: Any, X: Value) -> Answers:
    """Return the label of the nearest centroid, or of the largest score where priors differ; and probabilities."""
    centers = model.centroids_.astype(np.float64)
    unit = np.where(model.within_class_std_dev_ > 0.0, model.within_class_std_dev_, 1.0).astype(np.float64)
    with np.errstate(divide="ignore"):
        offsets = 2.0 * np.log(model.class_prior_)
    is_sum = model.metric == "manhattan"
    away = summed_differences(X / unit, centers / unit, Value.abs if is_sum else lambda part: part * part)
    scores = offsets[None] - (away * away if is_sum else away)
    if np.allclose(model.class_prior_, 1.0 / len(model.classes_)):
        near = summed_differences(X, centers, Value.abs) if is_sum else squared_distances(X, centers)
        label = labels_at(near.argmin(), model.classes_)
    else:
        label = labels_at(scores.argmax(), model.classes_)
    return {"label": label} if is_sum else {"label": label, "probabilities": scores.softmax()}
