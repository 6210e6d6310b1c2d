"""Covariance of some rows as the user wants it: plain, shrunken, or by an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from pellucid.core.types import Array


def check_covariance_parameters(estimator: Any) -> None:
    """Refuse combinations of solver, shrinkage and covariance estimator that have no meaning."""
    shrinkage, given = estimator.shrinkage, estimator.covariance_estimator
    if estimator.solver == "svd" and shrinkage is not None:
        raise NotImplementedError(
            f"shrinkage must be None with solver='svd', got {shrinkage!r}: shrinkage not supported there. "
            "Use solver='eigen'."
        )
    if estimator.solver == "svd" and given is not None:
        raise ValueError(
            f"covariance_estimator must be None with solver='svd', got {given!r}: covariance estimator is not "
            "supported there. Use solver='eigen'."
        )
    if given is not None and shrinkage is not None and shrinkage != 0:
        raise ValueError("covariance_estimator and shrinkage must not both be given, got both. Leave one out.")


def covariance(X: Array, rows: Array, scatter: Array, shrinkage: Any, estimator: Any) -> Array:
    """Return the covariance of some rows, whose scatter around their mean is given, divided by their number."""
    from sklearn.covariance import ledoit_wolf, shrunk_covariance

    if estimator is not None:
        fitted = clone(estimator, safe=False)  # any object with fit and covariance_ will do, whatever its fit returns
        fitted.fit(X[rows])
        if not hasattr(fitted, "covariance_"):
            raise ValueError(
                f"covariance_estimator must have covariance_ after fit, got {type(fitted).__name__}, which does not "
                "have a covariance_ attribute."
            )
        return np.asarray(fitted.covariance_, dtype=np.float64)
    if shrinkage == "auto":
        scaler = StandardScaler()
        shrunken = ledoit_wolf(scaler.fit_transform(X[rows].astype(np.float64)))[0]
        return np.asarray(shrunken * np.outer(scaler.scale_, scaler.scale_))
    plain = scatter / len(rows)
    return plain if shrinkage is None else np.asarray(shrunk_covariance(plain, shrinkage))
