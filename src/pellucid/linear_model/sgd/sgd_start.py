"""Where learning row by row starts: at 0, at given weights, or where an earlier part of the data has led."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array, Data


@dataclass(frozen=True)
class Start:
    """Weights of shape (n_machines, n_features) and intercepts, and their averages so far."""

    coef: Array
    intercept: Array
    average_coef: Array
    average_intercept: Array
    is_zero: bool


def make_start(n_machines: int, n_features: int, coef: Data | None = None, intercept: Data | None = None) -> Start:
    """Return copies of the given weights, or 0; with averages of 0. Two classes take weights of any one row's shape."""
    w = np.zeros((n_machines, n_features)) if coef is None else np.array(coef, dtype=np.float64)
    b = np.zeros(n_machines) if intercept is None else np.array(intercept, dtype=np.float64)
    if n_machines == 1:
        w, b = w.reshape(1, -1), b.reshape(-1)
    if w.shape != (n_machines, n_features):
        raise ValueError(f"coef_init must have shape {(n_machines, n_features)}, got {np.asarray(coef).shape}.")
    if b.shape != (n_machines,):
        raise ValueError(f"intercept_init must have shape {(n_machines,)}, got {np.asarray(intercept).shape}.")
    return Start(w, b, np.zeros_like(w), np.zeros_like(b), is_zero=not w.any() and not b.any())
