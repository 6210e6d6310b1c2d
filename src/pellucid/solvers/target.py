"""Centering and weighting of the target of a linear fit."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array


def center_target(y: Array, sample_weight: Array | None, *, fit_intercept: bool) -> tuple[Array, Array]:
    """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``, which is 0 without an intercept."""
    y = np.asarray(y, dtype=np.float64)
    if not fit_intercept:
        b, y_mean = y.copy(), np.zeros(y.shape[1:])
    else:
        b = y - y[0]  # a mean about the first row: a large common offset costs no digits
        y_mean = np.asarray(y[0] + _mean(b, sample_weight))
        np.subtract(y, y_mean, out=b)
        if sample_weight is not None:  # the first row may be an outlier of little weight
            rest = _mean(b, sample_weight)
            y_mean = y_mean + rest
            b -= rest
    if sample_weight is not None:
        np.multiply(b.T, np.sqrt(sample_weight), out=b.T)
    return b, y_mean


def _mean(b: Array, sample_weight: Array | None) -> Array:
    return np.asarray(b.mean(axis=0) if sample_weight is None else sample_weight @ b / sample_weight.sum())
