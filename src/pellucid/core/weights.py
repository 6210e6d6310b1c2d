"""Sample weights: a weight of k means the row stands there k times."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from pellucid.core.types import Array, Data


def check_sample_weight(sample_weight: Data | None, X: Array) -> Array | None:
    """Return the weights as float64 of shape (n_samples,), or None for equal weights; refuse negative or all zero."""
    if sample_weight is None:
        return None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if weight.min() < 0:
        raise ValueError(
            f"sample_weight must be at least 0, got {float(weight.min())!r}. Negative values in data passed as "
            "sample_weight have no meaning as repetitions: drop those rows."
        )
    return weight


def mean_about_first(rows: Array, weight: Array) -> Array:
    """Return the weighted mean of rows, taken about the first of them so that a large offset costs no digits."""
    origin = np.asarray(rows[0], dtype=np.float64)
    return np.asarray(origin + weight @ (rows - origin) / weight.sum())


def relative_weights(weight: Array | None) -> Array | None:
    """Return the weights scaled to mean 1: only their ratios matter, as the loss is a weighted mean."""
    if weight is None:
        return None
    total = weight.sum()
    if total == 0.0:
        raise ValueError("sample_weight must be above 0 for a row of each training fold, got all 0. Shuffle the folds.")
    return weight * (len(weight) / total)
