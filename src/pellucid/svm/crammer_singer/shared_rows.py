r"""The second derivative of the loss of one machine for all classes: only rows shared by several classes have one.

.. math:: H = I + \sum_i h_i\,\Pi_i \otimes a_ia_i' = I + B'B

:math:`\Pi_i` takes the mean over the classes that share row :math:`i` away. Its image has one dimension less than
there are classes; with a basis of it, :math:`e_1, e_2, \dots`, the rows of :math:`B` are
:math:`\sqrt{h_i}\,e_t \otimes a_i`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.curvature_equations import scaled_cholesky
from pellucid.svm.augmented_rows import AugmentedRows

MOST_UNKNOWNS = 3000
"""Rows of ``B`` up to which ``I + B B'`` is factored."""


class SharedRows:
    """The rows whose shares, of shape (n, n_classes), are not 0 for several classes; ``h`` is their curvature."""

    def __init__(self, rows: AugmentedRows, shares: Array, h: Array) -> None:
        counts = np.count_nonzero(shares, axis=1)
        chosen = np.flatnonzero((counts > 1) & (h > 0.0))
        self.rows = rows.part(chosen)
        self.is_in, self.counts, self.h = shares[chosen] > 0.0, counts[chosen], h[chosen]
        self.n_classes = shares.shape[1]

    @property
    def rank(self) -> int:
        """Number of rows of ``B``."""
        return int(np.sum(self.counts - 1))

    @property
    def is_dual_safe(self) -> bool:
        """Whether ``I + B B'`` is small enough to factor, and has not lost its ``I`` to rounding."""
        return self.rank <= MOST_UNKNOWNS and self.rows.keeps_unit(self.h)

    def solve_dual(self, g: Array) -> Array:
        """Return :math:`(I + B'B)^{-1}g = g - B'(I + BB')^{-1}Bg`."""
        at, basis = self.basis
        root = np.sqrt(self.h)[at]
        scaled = basis * root[:, None]
        K = self.rows.inner_products()[np.ix_(at, at)] * (scaled @ scaled.T)
        K.flat[:: len(K) + 1] += 1.0
        scores = self.rows.scores_by_class(g.reshape(self.n_classes, -1))
        inner = scaled_cholesky(K)(np.einsum("tk,tk->t", scaled, scores[at]))
        spread = np.zeros_like(scores)
        np.add.at(spread, at, inner[:, None] * scaled)
        return g - self.rows.pull_by_class(spread).ravel()

    @cached_property
    def basis(self) -> tuple[Array, Array]:
        """The row of each ``e``, and the ``e`` themselves: t times 1, then -t, over its length, by order of class."""
        place = np.cumsum(self.is_in, axis=1)
        at, last = np.nonzero(self.is_in & (place > 1))
        t = place[at, last] - 1
        basis = np.where(self.is_in[at] & (place[at] <= t[:, None]), 1.0, 0.0)
        basis[np.arange(len(at)), last] = -t
        return at, basis / np.sqrt(t * (t + 1.0))[:, None]

    def hessian(self, _loss: object) -> Array:
        """Return ``H``."""
        k, width = self.n_classes, self.rows.width
        H = np.zeros((k, width, k, width))
        each = self.h / self.counts
        for a in range(k):
            H[a, :, a] = self.rows.gram((self.h - each) * self.is_in[:, a])
            for b in range(a):
                H[a, :, b] = H[b, :, a] = -self.rows.gram(each * (self.is_in[:, a] & self.is_in[:, b]))
        H = H.reshape(k * width, k * width)
        H.flat[:: k * width + 1] += 1.0
        return H

    def hessian_product(self, _loss: object, d: Array) -> Array:
        """Return ``H d``."""
        scores = np.where(self.is_in, self.rows.scores_by_class(d.reshape(self.n_classes, -1)), 0.0)
        mean = scores.sum(axis=1) / self.counts
        bent = self.h[:, None] * np.where(self.is_in, scores - mean[:, None], 0.0)
        return d + self.rows.pull_by_class(bent).ravel()

    def hessian_diagonal(self, _loss: object) -> Array:
        """Return the diagonal of ``H``."""
        weights = (self.h * (1.0 - 1.0 / self.counts))[:, None] * self.is_in
        return 1.0 + np.concatenate([self.rows.gram_diagonal(column) for column in weights.T])
