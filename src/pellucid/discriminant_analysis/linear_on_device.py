"""What linear discriminant analysis answers about rows on a device."""

from __future__ import annotations

from typing import Any

from pellucid.core.device.linear_answers import decision_function, predict, predict_log_proba, predict_proba

__all__ = ["decision_function", "predict", "predict_log_proba", "predict_proba", "transform"]


def transform(model: Any, X: Any) -> Any:
    """Return Fisher's projection."""
    if model.solver == "lsqr":
        raise NotImplementedError("transform not implemented for 'lsqr' solver (use 'svd' or 'eigen').")
    centered = X - model.xbar_ if model.solver == "svd" else X
    return (centered @ model.scalings_)[:, : model._n_features_out]
