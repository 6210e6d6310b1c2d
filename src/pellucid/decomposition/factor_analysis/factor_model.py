r"""What a factor model says: covariance, precision, factors of a row. Loadings W have one factor per row.

.. math:: x = W'z + \mu + \varepsilon,\quad z \sim N(0, I),\ \varepsilon \sim N(0, \Psi),\qquad
   E[z \mid x] = (I + W\Psi^{-1}W')^{-1}W\Psi^{-1}(x - \mu)
"""

from __future__ import annotations

import numpy as np

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

FLOOR = 1e-12
"""Least noise variance of a column, in parts of its variance, or as it is where the column is constant."""

BLOCK = 1 << 18
"""Numbers of a block of rows."""


def posterior_map(components: Array, noise: Array) -> Array:
    """Return the matrix that a centered row is multiplied by to give its factors, of shape (n_features, k)."""
    scaled, whole = _in_deviations(components, noise)
    return np.asarray(np.linalg.solve(whole, scaled).T / np.sqrt(noise)[:, None])


def factor_scores(X: Array, mean: Array, components: Array, noise: Array) -> Array:
    """Return the factors of rows, of shape (n_samples, k), in blocks: no centered copy of all rows is made."""
    weights = posterior_map(components, noise)
    scores = np.empty((len(X), weights.shape[1]))

    def work(rows: slice) -> None:
        scores[rows] = (X[rows] - mean) @ weights

    run_blocks(work, split_evenly(len(X), -(-X.size // BLOCK)))
    return scores


def precision(components: Array, noise: Array) -> Array:
    """Return the inverse of the covariance by the matrix inversion lemma."""
    scaled, whole = _in_deviations(components, noise)
    inner = np.eye(len(noise)) - scaled.T @ np.linalg.solve(whole, scaled)
    deviation = np.sqrt(noise)
    return np.asarray(inner / deviation / deviation[:, None])


def log_determinant(components: Array, noise: Array) -> float:
    """Return the logarithm of the determinant of the covariance."""
    _, whole = _in_deviations(components, noise)
    return float(np.linalg.slogdet(whole)[1] + np.log(noise).sum())


def _in_deviations(components: Array, noise: Array) -> tuple[Array, Array]:
    """Return the loadings in deviations of the noise, B, and I + BB'."""
    scaled = components / np.sqrt(noise)
    return scaled, np.eye(len(scaled)) + scaled @ scaled.T
