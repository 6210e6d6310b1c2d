"""Rows as proofs use them: in float64, about their mean in blocks, and with weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svdvals

from pellucid.proofs.arrays import Array, SparseOrDense

ROWS_AT_ONCE = 4096
QR_ROWS = 512


def in_float64(X: SparseOrDense) -> Any:
    """Return rows as an array, or as sparse rows, of float64."""
    return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def weighted_mean(rows: Array, weight: Array) -> Array:
    """Return the weighted mean of rows, taken about the first of them so that a large offset costs no digits.

    A long sum of equal terms rounds the same way again and again, so what it has lost is looked for about the mean.
    """
    near = np.asarray(rows[0], dtype=np.float64)
    for _ in range(2):
        near = near + np.tensordot(weight, rows - near, axes=1) / weight.sum()
    return np.asarray(near)


def tall_qr(A: Array) -> tuple[Array, Array]:
    """Return ``Q`` and ``R`` of ``A = QR``, by halves down to a few rows.

    Rounding grows with the rows that one factorization takes, most where rows repeat: then it goes the same way.
    """
    n, p = A.shape
    if n <= max(QR_ROWS, 4 * p):
        return qr(A, mode="economic", check_finite=False)  # type: ignore[no-any-return]
    (upper, first), (lower, second) = tall_qr(A[: n // 2]), tall_qr(A[n // 2 :])
    turned, R = qr(np.vstack([first, second]), mode="economic", check_finite=False)
    return np.vstack([upper @ turned[: len(first)], lower @ turned[len(first) :]]), R


def tall_root(A: Array) -> Array:
    """Return ``R`` alone."""
    p = A.shape[1]
    height = max(QR_ROWS, 4 * p)
    while len(A) > height:
        parts = [A[start : start + height] for start in range(0, len(A), height)]
        A = np.vstack([qr(part, mode="r", check_finite=False)[0][:p] for part in parts])
    return np.asarray(qr(A, mode="r", check_finite=False)[0][:p])


def tall_singular_values(A: Array) -> Array:
    """Return the singular values, from triangles of a few rows at a time."""
    n, p = A.shape
    return np.asarray(svdvals(tall_root(A) if n > p else A, check_finite=False))


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
