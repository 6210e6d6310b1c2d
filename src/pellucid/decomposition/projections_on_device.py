"""What decompositions answer about rows on a device: their projections on components, and the way back."""

from __future__ import annotations

import math
from typing import Any

from pellucid.core.array_api import array_namespace


def transform(model: Any, X: Any) -> Any:
    """Return the coordinates along the components, of centered rows where the model has a mean."""
    mean = getattr(model, "mean_", None)
    X = array_namespace(X).astype(X, model.components_.dtype)
    Z = (X if mean is None else X - mean) @ model.components_.T
    whiten = getattr(model, "whiten", False)
    if whiten:
        Z = Z / _deviations(model)
    return Z @ model.components_ if whiten == "zca" else Z


def inverse_transform(model: Any, X: Any) -> Any:
    """Return the rows with these coordinates."""
    whiten, mean = getattr(model, "whiten", False), getattr(model, "mean_", None)
    X = array_namespace(X).astype(X, model.components_.dtype)
    Z = X @ model.components_.T if whiten == "zca" else X
    rows = (Z * _deviations(model) if whiten else Z) @ model.components_
    return rows if mean is None else rows + mean


def score_samples(model: Any, X: Any) -> Any:
    """Return the log density of each row under the normal distribution of a PCA, in double precision."""
    xp, noise = array_namespace(X), float(model._positive_noise())
    V, mean, found, rows = (
        xp.astype(part, xp.float64) for part in (model.components_, model.mean_, model.explained_variance_, X)
    )
    rows, variances = rows - mean, xp.where(found > noise, found, xp.full_like(found, noise))
    Z, (k, p) = rows @ V.T, V.shape
    distance, log_volume = xp.sum(Z * Z / variances, axis=1), xp.sum(xp.log(variances))
    if k < p:
        distance = distance + (xp.sum(rows * rows, axis=1) - xp.sum(Z * Z, axis=1)) / noise
        log_volume = log_volume + (p - k) * math.log(noise)
    return -0.5 * (distance + log_volume + p * math.log(2.0 * math.pi))


def score(model: Any, X: Any, _y: Any = None, _sample_weight: Any = None) -> float:
    """Return the mean log density of the rows."""
    return float(array_namespace(X).mean(score_samples(model, X)))


def _deviations(model: Any) -> Any:
    xp = array_namespace(model.components_)
    found = xp.sqrt(model.explained_variance_)
    return xp.where(found > 0.0, found, xp.full_like(found, xp.finfo(found.dtype).eps))
