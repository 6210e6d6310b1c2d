"""Checks of weights, means and precisions that a user gives to start from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array

SUM_ERROR = 1e-6
"""How far from 1 given weights may add up."""
ASYMMETRY = 1e-8
"""Difference between mirrored entries of a given precision, relative to its largest."""


def check_given(estimator: Any, d: int) -> dict[str, Array]:
    """Return what is given as float64, by the name of its parameter; refuse what no mixture can have."""
    k, kind = estimator.n_components, estimator.covariance_type
    shapes = {
        "weights_init": (k,),
        "means_init": (k, d),
        "precisions_init": {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind],
    }
    given = {}
    for name, shape in shapes.items():
        value = getattr(estimator, name)
        if value is None:
            continue
        given[name] = np.array(value, dtype=np.float64)
        if given[name].shape != shape or not np.isfinite(given[name]).all():
            known = {"weights_init": "weights", "means_init": "means", "precisions_init": f"{kind} precision"}[name]
            raise ValueError(
                f"{name} must be finite numbers of shape {shape}, got shape {given[name].shape}. (The parameter "
                f"'{known}' should have the shape of {shape}, but got {given[name].shape}.) Give one for each component."
            )
    if "weights_init" in given:
        _check_weights(given["weights_init"])
    if "precisions_init" in given:
        _check_precisions(given["precisions_init"], kind)
    return given


def _check_weights(weights: Array) -> None:
    if weights.min() < 0.0 or weights.max() > 1.0:
        worst = weights.min() if weights.min() < 0.0 else weights.max()
        raise ValueError(f"weights_init must be between 0 and 1, got {worst:g}. Divide by their sum.")
    if abs(weights.sum() - 1.0) > SUM_ERROR:
        raise ValueError(
            f"weights_init must add up to 1, got {weights.sum():.5f}. (The parameter 'weights' should be normalized, "
            f"but got sum(weights) = {weights.sum():.5f}.) Divide by their sum."
        )


def _check_precisions(precisions: Array, kind: str) -> None:
    if kind in ("diag", "spherical"):
        if not (precisions > 0.0).all():
            raise ValueError(
                f"precisions_init must be above 0, got {precisions.min():g}. '{kind} precision' should be positive."
            )
        return
    for matrix in precisions if kind == "full" else precisions[None]:
        size = float(np.abs(matrix).max())
        if np.abs(matrix - matrix.T).max() > ASYMMETRY * size or not (np.linalg.eigvalsh(matrix) > 0.0).all():
            raise ValueError(
                "precisions_init must be symmetric and positive definite, got a matrix that is not. "
                f"('{kind} precision' should be symmetric, positive-definite.) Take the inverses of covariances."
            )
