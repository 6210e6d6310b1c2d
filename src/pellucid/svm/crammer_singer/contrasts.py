r"""The second derivative of the loss of one machine for all classes, between the classes.

What is added to the weights of all classes alike changes no excess: there the second derivative is 1. Between classes
it grows with the squared lengths of the rows, and long rows leave nothing of a 1 beside it. So weights are split into
their mean over the classes and :math:`k - 1` contrasts, and only the equations of the contrasts are solved.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import helmert

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.svm.crammer_singer.shared_rows import SharedRows

ROUNDING = 16.0 * EPSILON
"""Part of the largest weight below which a mean over the classes is rounding."""


class Contrasts:
    """The second derivative that ``shared`` has, for weights of shape (n_classes - 1, width), one contrast by one."""

    def __init__(self, shared: SharedRows) -> None:
        self.shared = shared
        self.E = helmert(shared.n_classes)  # (k - 1, k), orthonormal rows that each add up to 0

    def split(self, g: Array) -> tuple[Array, Array]:
        """Return the mean over the classes, 0 where rounding has made it, and the contrasts."""
        G = g.reshape(self.shared.n_classes, -1)
        mean = G.mean(axis=0)
        is_rounding = np.abs(mean) <= ROUNDING * np.abs(G).max(axis=0)
        return np.where(is_rounding, 0.0, mean), (self.E @ G).ravel()

    def join(self, common: Array, v: Array) -> Array:
        """Return the weights with this mean and these contrasts."""
        return np.asarray(common + self.E.T @ v.reshape(len(self.E), -1)).ravel()

    def hessian(self, loss: object) -> Array:
        """Return the second derivative."""
        k, width, size = self.shared.n_classes, self.shared.rows.width, len(self.E) * self.shared.rows.width
        H = self.shared.hessian(loss).reshape(k, width, k, width)
        return np.einsum("sa,aibj,tb->sitj", self.E, H, self.E, optimize=True).reshape(size, size)

    def hessian_product(self, loss: object, d: Array) -> Array:
        """Return the second derivative times a vector."""
        return self.split(self.shared.hessian_product(loss, self.join(np.zeros(1), d)))[1]

    def hessian_diagonal(self, _loss: object) -> Array:
        """Return the diagonal of the second derivative."""
        shared = self.shared
        sums, squares = shared.is_in @ self.E.T, shared.is_in @ self.E.T**2
        weights = shared.h[:, None] * (squares - sums**2 / shared.counts[:, None])
        return 1.0 + np.concatenate([shared.rows.gram_diagonal(column) for column in weights.T])
