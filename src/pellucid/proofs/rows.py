"""Rows as proofs use them: in float64, about their mean in blocks, and with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense

ROWS_AT_ONCE = 4096


def in_float64(X: SparseOrDense) -> Any:
    """Return rows as an array, or as sparse rows, of float64."""
    return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def weighted_mean(rows: Array, weight: Array) -> Array:
    """Return the weighted mean of rows, taken about the first of them so that a large offset costs no digits."""
    first = np.asarray(rows[0], dtype=np.float64)
    return np.asarray(first + np.tensordot(weight / weight.sum(), rows - first, axes=1))


def relative_weights(weight: Array) -> Array:
    """Return the weights scaled to mean 1: only their ratios matter where the loss is a weighted mean."""
    return weight / weight.mean()


def centered_times(X: SparseOrDense, mean: Array, W: Array) -> Array:
    """Return ``(X - 1 mean') W``; dense rows are centered before, so that large means cost no digits."""
    if sparse.issparse(X):
        return np.asarray(X @ W - mean @ W)
    return np.concatenate([(X[rows] - mean) @ W for rows in _blocks(len(X))])


def transposed_centered_times(X: SparseOrDense, mean: Array, R: Array) -> Array:
    """Return ``(X - 1 mean')' R``."""
    if sparse.issparse(X):
        return np.asarray(X.T @ R - np.multiply.outer(mean, R.sum(axis=0)))
    return np.sum([(X[rows] - mean).T @ R[rows] for rows in _blocks(len(X))], axis=0)


def _blocks(n: int) -> list[slice]:
    return [slice(start, min(start + ROWS_AT_ONCE, n)) for start in range(0, n, ROWS_AT_ONCE)]
