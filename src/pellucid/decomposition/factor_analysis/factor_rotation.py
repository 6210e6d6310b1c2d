r"""Orthogonal rotations of loadings: each factor shall load high on few columns.

With loadings :math:`\Lambda` (columns of X by factors) the criterion is

.. math:: \tfrac14\sum_{ij}\lambda_{ij}^4 - \tfrac{c}{4d}\sum_j\Bigl(\sum_i\lambda_{ij}^2\Bigr)^2,

with c = 1 for varimax and c = 0 for quartimax. At a maximum over rotations :math:`\Lambda'G` is symmetric, where
:math:`G_{ij} = \lambda_{ij}^3 - \frac cd\lambda_{ij}\sum_h\lambda_{hj}^2` is the gradient.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array

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
