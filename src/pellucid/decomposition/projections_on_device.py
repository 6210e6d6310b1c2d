"""What decompositions answer about rows on a device: their projections on components, and the way back."""

from __future__ import annotations

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


def _deviations(model: Any) -> Any:
    xp = array_namespace(model.components_)
    found = xp.sqrt(model.explained_variance_)
    return xp.where(found > 0.0, found, xp.full_like(found, xp.finfo(found.dtype).eps))
