r"""One machine for all classes (Crammer and Singer): the own class should score higher than every other by 1.

.. math:: P(U) = \tfrac12\|U\|^2 + \sum_i c_i\max_k r_{ik},\qquad r_{ik} = [k \ne y_i] + (u_k - u_{y_i})'a_i

The maximum is smoothed: :math:`\max_p\ p'r_i - \tfrac\delta2\|p - q_i\|^2` over the shares
:math:`p \ge 0,\ \sum_k p_k = 1`, which are the projection of :math:`q_i + r_i/\delta` on them.
:math:`\alpha_{ik} = c_i([k = y_i] - p_{ik})` is a dual point of the problem itself, with the gap
:math:`\tfrac12\|\nabla P_\delta\|^2 + \sum_i c_i(\max_k r_{ik} - p_i'r_i)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.linalg import helmert

from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.curvature_equations import scaled_cholesky, solve_curvature
from pellucid.svm.augmented_rows import AugmentedRows
from pellucid.svm.svm_kernels import bend_pass, largest_excess_pass


@dataclass(frozen=True)
class LargestExcess:
    """The loss at scores of shape (n, n_classes), with the shares of the classes."""

    f: Array
    value: float
    minus_slope: Array
    excess: float
    shares: Array  # (n, n_classes)
    curvature: Array  # (n,): of a row whose shares are all free

    def bend_along(self, slopes: Array) -> float:
        """Return the second derivative along a direction of the scores."""
        return float(bend_pass(self.shares, self.curvature, slopes))


@dataclass(frozen=True)
class CrammerSinger:
    """Rows, their classes numbered from 0, the cost of each, and the shares around which the loss is smoothed.

    The weights are those of all classes, one by one.
    """

    rows: AugmentedRows
    labels: Array
    cost: Array
    center: Array  # (n, n_classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.center.shape[1])

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.n_classes * self.rows.width

    @property
    def entries(self) -> int:
        """Number of entries of the data, for each class."""
        return self.n_classes * self.rows.n * self.rows.width

    def centered_at(self, loss: LargestExcess) -> Self:
        """Return the problem smoothed around the shares of this loss."""
        return replace(self, center=loss.shares)

    def scores(self, w: Array) -> Array:
        """Return the scores of all rows and classes."""
        return self.rows.scores_by_class(w.reshape(self.n_classes, -1))

    def transposed_times(self, r: Array) -> Array:
        """Return the rows summed with these weights, which add up to 0 in each row, class by class."""
        pulled = self.rows.transposed_by_class(r)
        return (pulled - pulled.mean(axis=0)).ravel()  # the mean is rounding, and would move all classes

    def loss(self, f: Array, smoothing: float) -> LargestExcess:
        """Return the loss smoothed by ``smoothing``."""
        shares = np.empty_like(self.center)
        value, missing = largest_excess_pass(f, self.labels, self.cost, self.center, smoothing, shares)
        return LargestExcess(f, value, self.dual_point(shares), max(0.0, missing), shares, self.cost / smoothing)

    def loss_of(self, shares: Array, f: Array) -> LargestExcess:
        """Return the loss at these scores, with a dual point that is given, and nothing smoothed."""
        r = self.excess(f)
        value = float(self.cost @ r.max(axis=1))
        missing = max(0.0, value - float(self.cost @ np.sum(shares * r, axis=1)))
        return LargestExcess(f, value, self.dual_point(shares), missing, shares, np.zeros_like(self.cost))

    def excess(self, f: Array) -> Array:
        r"""Return :math:`r_{ik} = [k \ne y_i] + f_{ik} - f_{iy_i}`."""
        each = np.arange(len(f))
        r = f - f[each, self.labels][:, None] + 1.0
        r[each, self.labels] = 0.0
        return r

    def dual_point(self, shares: Array) -> Array:
        """Return :math:`c_i([k = y_i] - p_{ik})`."""
        dual = -self.cost[:, None] * shares
        dual[np.arange(len(dual)), self.labels] += self.cost
        return dual

    def newton_step(self, loss: LargestExcess, gradient: Array) -> Array:
        """Return the second derivative, inverted, times the gradient: from the shared rows where they are fewer."""
        shared = SharedRows(self.rows, loss.shares, loss.curvature)
        if shared.rank <= self.size and shared.is_dual_safe:
            return shared.solve_dual(gradient)
        contrasts = Contrasts(shared)
        common, apart = contrasts.split(gradient)
        return contrasts.join(common, solve_curvature(contrasts, loss, apart))


# The second derivative of the loss of one machine for all classes, between the classes.
#
# What is added to the weights of all classes alike changes no excess: there the second derivative is 1. Between classes
# it grows with the squared lengths of the rows, and long rows leave nothing of a 1 beside it. So weights are split into
# their mean over the classes and :math:`k - 1` contrasts, and only the equations of the contrasts are solved.


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


# The second derivative of the loss of one machine for all classes: only rows shared by several classes have one.
#
# .. math:: H = I + \sum_i h_i\,\Pi_i \otimes a_ia_i' = I + B'B
#
# :math:`\Pi_i` takes the mean over the classes that share row :math:`i` away. Its image has one dimension less than
# there are classes; with a basis of it, :math:`e_1, e_2, \dots`, the rows of :math:`B` are
# :math:`\sqrt{h_i}\,e_t \otimes a_i`.


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
        return g - self.rows.transposed_by_class(spread).ravel()

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
        return d + self.rows.transposed_by_class(bent).ravel()

    def hessian_diagonal(self, _loss: object) -> Array:
        """Return the diagonal of ``H``."""
        weights = (self.h * (1.0 - 1.0 / self.counts))[:, None] * self.is_in
        return 1.0 + np.concatenate([self.rows.gram_diagonal(column) for column in weights.T])
