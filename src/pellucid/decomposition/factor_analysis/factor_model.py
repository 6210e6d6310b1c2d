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


# Orthogonal rotations of loadings: each factor shall load high on few columns.
#
# With loadings :math:`\Lambda` (columns of X by factors) the criterion is
#
# .. math:: \tfrac14\sum_{ij}\lambda_{ij}^4 - \tfrac{c}{4d}\sum_j\Bigl(\sum_i\lambda_{ij}^2\Bigr)^2,
#
# with c = 1 for varimax and c = 0 for quartimax. At a maximum over rotations :math:`\Lambda'G` is symmetric, where
# :math:`G_{ij} = \lambda_{ij}^3 - \frac cd\lambda_{ij}\sum_h\lambda_{hj}^2` is the gradient.


COLUMN_PART = {"varimax": 1.0, "quartimax": 0.0}
"""The c of each criterion."""

SYMMETRIC = 1e-10
"""Asymmetry of the gradient at which the rotation ends, in parts of its size."""

MOST_TURNS = 3000


def rotation_gradient(loadings: Array, rotation: str) -> Array:
    """Return the gradient of the criterion at loadings of shape (n_features, n_components)."""
    squares = np.sum(loadings**2, axis=0) / len(loadings)
    return np.asarray(loadings**3 - COLUMN_PART[rotation] * loadings * squares)


def asymmetry(loadings: Array, rotation: str) -> float:
    """Return how far from a stationary rotation loadings are: 0 is one."""
    size = np.abs(loadings).max(initial=0.0)
    if not size > 0.0:
        return 0.0
    unit = loadings / size
    turned = unit.T @ rotation_gradient(unit, rotation)
    return float(np.max(np.abs(turned - turned.T), initial=0.0) / max(np.abs(turned).max(initial=0.0), 1e-300))


def rotated(loadings: Array, rotation: str) -> Array:
    """Return loadings turned to a stationary point of the criterion: each turn is the best one for its gradient.

    Where a turn lowers the criterion, a multiple of the loadings is added to the gradient from then on. It stands for
    their sum of squares, which no rotation changes, and is enough to make the criterion convex: it cannot fall then.
    """
    size = np.abs(loadings).max(initial=0.0)
    if loadings.shape[1] < 2 or not size > 0.0:
        return loadings
    start, turn = loadings / size, np.eye(loadings.shape[1])
    shift, before = 0.0, -np.inf
    for _ in range(MOST_TURNS):
        current = start @ turn
        gradient = rotation_gradient(current, rotation)
        value = float(np.sum(gradient * current))  # four times the criterion
        if value < before:
            shift = 3.0 * float(np.sum(start**2)) / len(start)
        if asymmetry(current, rotation) <= SYMMETRIC:
            break
        left, _, right = np.linalg.svd(start.T @ (gradient + shift * current))
        turn, before = left @ right, value
    return np.asarray(loadings @ turn)
