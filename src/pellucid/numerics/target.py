"""Centering and weighting of the target of a linear fit."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array


def center_target(y: Array, sample_weight: Array | None, *, fit_intercept: bool) -> tuple[Array, Array]:
    """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``, which is 0 without an intercept."""
    y = np.asarray(y, dtype=np.float64)
    y_mean = weighted_mean(y, sample_weight) if fit_intercept else np.zeros(y.shape[1:])
    b = y - y_mean
    if sample_weight is not None:
        np.multiply(b.T, np.sqrt(sample_weight), out=b.T)
    return b, y_mean


def weighted_mean(y: Array, sample_weight: Array | None) -> Array:
    """Return the mean of the rows; computed about the first row, so that a large common offset costs no digits."""
    shifted = y - y[0]
    if sample_weight is None:
        return np.asarray(y[0] + shifted.mean(axis=0))
    return np.asarray(y[0] + sample_weight @ shifted / sample_weight.sum())
