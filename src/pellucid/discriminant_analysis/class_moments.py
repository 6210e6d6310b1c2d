"""Means and scatter of each class, from blocks of rows that fit in cache."""

from __future__ import annotations

import numpy as np

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array

BLOCK = 1 << 16
"""Numbers of a block of rows."""


def class_moments(X: Array, rows_of: tuple[Array, ...]) -> tuple[Array, list[Array]]:
    r"""Return the mean of each class, of shape (n_classes, n_features), and its :math:`\sum (x - \bar x)(x - \bar x)'`.

    Each row is read once: deviations are taken from the mean of the class's first rows. It is so near the mean of all
    that correcting for it afterwards costs no digits.
    """
    height = max(1, BLOCK // X.shape[1])
    means, scatters = [], []
    for rows in rows_of:
        near = X[rows[:height]].mean(axis=0, dtype=np.float64)
        total, scatter = _sums_around(X, rows, near)
        shift = total / len(rows)
        means.append(near + shift)
        scatters.append(scatter - len(rows) * np.outer(shift, shift))
    return np.stack(means), scatters


def class_scatter(X: Array, rows: Array, mean: Array) -> Array:
    r"""Return :math:`\sum (x - \bar x)(x - \bar x)'` over some rows, without a centered copy of all of them."""
    return _sums_around(X, rows, mean)[1]


def _sums_around(X: Array, rows: Array, center: Array) -> tuple[Array, Array]:
    """Return the sum of the deviations of some rows from a center, and of their outer products."""
    height, p = max(1, BLOCK // X.shape[1]), X.shape[1]

    def work(part: slice) -> tuple[Array, Array]:
        total, scatter, product = np.zeros(p), np.zeros((p, p)), np.empty((p, p))
        buffer = np.empty((min(height, part.stop - part.start), p), X.dtype)
        for start in range(part.start, part.stop, height):
            these = rows[start : min(start + height, part.stop)]
            taken = np.take(X, these, axis=0, out=buffer[: len(these)], mode="clip")  # other modes copy once more
            block = taken.astype(np.float64, copy=False)
            block -= center
            total += block.sum(axis=0)
            scatter += np.matmul(block.T, block, out=product)
        return total, scatter

    totals, scatters = zip(*run_blocks(work, shares(len(rows), len(rows) * p * p)), strict=True)
    return np.sum(totals, axis=0), np.sum(scatters, axis=0)


def centered_triangle(X: Array, rows_of: tuple[Array, ...], means: Array) -> Array:
    """Return the triangular factor R with ``R'R`` the pooled scatter, by QR of blocks: no digit is lost to squares."""
    height = max(X.shape[1], BLOCK // X.shape[1])
    triangle: Array = np.zeros((0, X.shape[1]))
    for rows, mean in zip(rows_of, means, strict=True):
        for start in range(0, len(rows), height):
            block = X[rows[start : start + height]].astype(np.float64, copy=False) - mean
            triangle = np.asarray(np.linalg.qr(np.vstack([triangle, block]), mode="r"))
    return triangle
