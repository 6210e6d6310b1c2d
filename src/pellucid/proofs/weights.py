"""Weights of rows, as proofs use them: means, and weights of mean 1."""

from __future__ import annotations

import numpy as np

from pellucid.proofs.arrays import Array


def weighted_mean(rows: Array, weight: Array) -> Array:
    """Return the weighted mean of rows, taken about the first of them so that a large offset costs no digits."""
    first = np.asarray(rows[0], dtype=np.float64)
    return np.asarray(first + np.tensordot(weight / weight.sum(), rows - first, axes=1))


def relative_weights(weight: Array) -> Array:
    """Return the weights scaled to mean 1: only their ratios matter where the loss is a weighted mean."""
    return weight / weight.mean()
