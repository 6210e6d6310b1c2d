r"""One machine for all classes (Crammer and Singer): the own class should score higher than every other by 1.

.. math:: P(U) = \tfrac12\|U\|^2 + \sum_i c_i\max_k r_{ik},\qquad r_{ik} = [k \ne y_i] + (u_k - u_{y_i})'a_i

The maximum is smoothed: :math:`\max_p\ p'r_i - \tfrac\delta2\|p\|^2` over the shares :math:`p \ge 0,\ \sum_k p_k = 1`,
which are the projection of :math:`r_i/\delta` on them. :math:`\alpha_{ik} = c_i([k = y_i] - p_{ik})` is a dual point
of the problem itself, with the gap :math:`\tfrac12\|\nabla P_\delta\|^2 + \sum_i c_i(\max_k r_{ik} - p_i'r_i)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.augmented_rows import AugmentedRows


@dataclass(frozen=True)
class LargestExcess:
    """The loss at scores of shape (n, n_classes), with the shares of the classes and which of them are not 0."""

    f: Array
    value: float
    pull: Array
    excess: float
    curvature: Array  # (n,): of a row whose shares are all free
    is_in: Array  # (n, n_classes)

    def bend(self, S: Array) -> Array:
        """Return the second derivative by the scores times ``S``: each row less its mean over the classes in it."""
        inside = np.where(self.is_in, S, 0.0)
        mean = inside.sum(axis=1) / self.is_in.sum(axis=1)
        return self.curvature[:, None] * np.where(self.is_in, S - mean[:, None], 0.0)

    def bend_along(self, slopes: Array) -> float:
        """Return the second derivative along a direction of the scores."""
        return float(np.vdot(slopes, self.bend(slopes)))


@dataclass(frozen=True)
class CrammerSinger:
    """Rows, their classes numbered from 0, and the cost of each; the weights are those of all classes, one by one."""

    rows: AugmentedRows
    labels: Array
    n_classes: int
    cost: Array

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.n_classes * self.rows.width

    @property
    def entries(self) -> int:
        """Number of entries of the data, for each class."""
        return self.n_classes * self.rows.n * self.rows.width

    @property
    def own(self) -> Array:
        """1 for the class of each row, of shape (n, n_classes)."""
        return np.eye(self.n_classes)[self.labels]

    def scores(self, w: Array) -> Array:
        """Return the scores of all rows and classes."""
        return np.column_stack([self.rows.scores(u) for u in w.reshape(self.n_classes, -1)])

    def pull(self, r: Array) -> Array:
        """Return the rows summed with these weights, class by class."""
        return np.concatenate([self.rows.pull(np.ascontiguousarray(column)) for column in r.T])

    def loss(self, f: Array, smoothing: float) -> LargestExcess:
        """Return the loss smoothed by ``smoothing``."""
        own = self.own
        r = f - f[np.arange(len(f)), self.labels][:, None] + 1.0 - own
        p = nearest_shares(r / smoothing)
        largest = r.max(axis=1)
        return LargestExcess(
            f=f,
            value=float(self.cost @ largest),
            pull=self.cost[:, None] * (own - p),
            excess=max(0.0, float(self.cost @ (largest - np.sum(p * r, axis=1)))),
            curvature=self.cost / smoothing,
            is_in=p > 0.0,
        )

    def hessian(self, loss: LargestExcess) -> Array:
        """Return the second derivative of the smoothed objective."""
        k, width = self.n_classes, self.rows.width
        H = np.zeros((k, width, k, width))
        each = loss.curvature / loss.is_in.sum(axis=1)
        for a in range(k):
            H[a, :, a] = self.rows.gram((loss.curvature - each) * loss.is_in[:, a])
            for b in range(a):
                H[a, :, b] = H[b, :, a] = -self.rows.gram(each * (loss.is_in[:, a] & loss.is_in[:, b]))
        return H.reshape(self.size, self.size) + np.eye(self.size)

    def hessian_product(self, loss: LargestExcess, d: Array) -> Array:
        """Return the second derivative times ``d``."""
        return d + self.pull(loss.bend(self.scores(d)))

    def hessian_diagonal(self, loss: LargestExcess) -> Array:
        """Return the diagonal of the second derivative."""
        h = (loss.curvature * (1.0 - 1.0 / loss.is_in.sum(axis=1)))[:, None] * loss.is_in
        return 1.0 + np.concatenate([self.rows.gram_diagonal(column) for column in h.T])


def nearest_shares(r: Array) -> Array:
    """Return for each row the nearest vector whose entries are at least 0 and add up to 1.

    Examples
    --------
    >>> nearest_shares(np.array([[0.5, 0.25, 0.25], [3.0, 1.0, 1.0], [1.0, 0.5, -9.0]]))
    array([[0.5 , 0.25, 0.25],
           [1.  , 0.  , 0.  ],
           [0.75, 0.25, 0.  ]])
    """
    r = r - r.max(axis=1, keepdims=True)
    ordered = -np.sort(-r, axis=1)
    levels = (np.cumsum(ordered, axis=1) - 1.0) / np.arange(1, r.shape[1] + 1)
    count = np.sum(ordered > levels, axis=1)
    return np.maximum(r - levels[np.arange(len(r)), count - 1][:, None], 0.0)
