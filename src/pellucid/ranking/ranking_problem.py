r"""The problem of a ranking machine, as its solver sees it.

.. math:: P(w) = \tfrac12\|w\|^2 + C\sum_{y_i > y_j} s_is_j\,\ell(f_i - f_j),\qquad f = Xw

The hinge is smoothed: :math:`\ell_\delta(m)` is :math:`(1 - m)^2/(2\delta)` in the window :math:`[1 - \delta, 1)` and
straight below it. Its slope :math:`-a`, with :math:`a = \min(1, \max(0, 1 - m)/\delta)`, gives a point of the dual of
the hinge itself, so that the gap of the real problem is known at any :math:`\delta`:

.. math:: P(w) - D(\alpha) = \tfrac12\|\nabla P_\delta\|^2 + C\sum s_is_j\,(1 - a_{ij})\max(0, 1 - m_{ij})
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, SparseOrDense
from pellucid.ranking.pair_sums import ListablePairs, ListedRows, SortedRows
from pellucid.solvers.curvature_equations import solve_curvature

RESIDUE = 1e-13
"""Part of all weight that may be left of a window whose rows have all been taken out again."""

BLOCK = 16
"""Most columns that are summed over pairs at once."""


Rows = ListedRows | SortedRows
"""Rows at some scores, which know the sums over their pairs."""


@dataclass(frozen=True)
class PairLoss:
    """The loss at some scores: its value, its slope at each row, its smoothing's cost, and its curvature's window."""

    value: float
    minus_slope: Array  # (n,): minus the derivative of the (smoothed) loss by the scores
    excess: float  # what smoothing leaves between the loss and its dual
    rows: Rows
    window: tuple[float, float]
    curvature: float
    near: Array  # (n,): weight of the partners in the window

    def bend(self, V: Array) -> Array:
        """Return the second derivative by the scores, times ``V`` of shape (n, k)."""
        worse, better = self.near_rows.sums(V, *self.window)
        return (self.curvature * self.rows.pairs.weight)[:, None] * (self.near[:, None] * V - worse - better)

    def bend_along(self, slopes: Array) -> float:
        """Return the second derivative along a direction of the scores."""
        return float(slopes @ self.bend(slopes[:, None])[:, 0])

    @property
    def f(self) -> Array:
        """The scores."""
        return self.rows.f

    @cached_property
    def near_rows(self) -> Rows:
        """The rows that have a partner in the window."""
        return self.rows.only(self.near > 0.0)


@dataclass(frozen=True)
class RankingProblem:
    """Rows (of their queries the means subtracted, if dense), pairs and the cost of a pair of weight 1."""

    X: SparseOrDense
    comparable: ListablePairs
    C: float

    @property
    def size(self) -> int:
        """Number of weights."""
        return int(self.X.shape[1])

    @property
    def entries(self) -> int:
        """Number of entries of the data."""
        return int(self.X.shape[0] * self.X.shape[1])

    def scores(self, w: Array) -> Array:
        """Return ``X w``."""
        return np.asarray(self.X @ w)

    def transposed_times(self, r: Array) -> Array:
        """Return ``X' r``."""
        return np.asarray(self.X.T @ r)

    def loss(self, f: Array, smoothing: float) -> PairLoss:
        """Return the hinge loss smoothed by ``smoothing``, or for 0 the squared hinge loss."""
        rows = self.comparable.at(f)
        return _smoothed_hinge(rows, self.C, smoothing) if smoothing else _squared_hinge(rows, self.C)

    def newton_step(self, loss: PairLoss, gradient: Array) -> Array:
        """Return the second derivative, inverted, times the gradient."""
        return solve_curvature(self, loss, gradient)

    def hessian(self, loss: PairLoss) -> Array:
        """Return the second derivative by the weights, of shape (p, p)."""
        p, threads = self.X.shape[1], thread_count()
        blocks = split_evenly(p, threads * -(-p // (BLOCK * threads)))

        def work(block: slice) -> Array:
            V = self.X[:, block].toarray() if sparse.issparse(self.X) else np.ascontiguousarray(self.X[:, block])
            return np.asarray(self.X.T @ loss.bend(V))

        H = np.hstack(run_blocks(work, blocks))
        return 0.5 * (H + H.T) + np.eye(p)

    def hessian_product(self, loss: PairLoss, d: Array) -> Array:
        """Return the second derivative times ``d``."""
        return d + self.transposed_times(loss.bend(self.scores(d)[:, None])[:, 0])

    def hessian_diagonal(self, loss: PairLoss) -> Array:
        """Return a bound of the diagonal of the second derivative."""
        squares = self.X.multiply(self.X) if sparse.issparse(self.X) else self.X * self.X
        return 1.0 + np.asarray(squares.T @ (loss.curvature * self.comparable.pairs.weight * loss.near))


def _lacks(rows: Rows, low: float, high: float) -> tuple[Array, Array, Array]:
    """Return per row the sums of ``1 - m`` over worse and better partners in a window, and both counts."""
    f, residue = rows.f, RESIDUE * rows.pairs.weight.sum()
    sums = rows.sums(np.column_stack([np.ones_like(f), f]), low, high)
    (n_worse, f_worse), (n_better, f_better) = (np.where(side[:, 0] > residue, side.T, 0.0) for side in sums)
    lacks = np.stack([(1.0 - f) * n_worse + f_worse, (1.0 + f) * n_better - f_better])
    return lacks, n_worse, n_better


def _squared_hinge(rows: Rows, C: float) -> PairLoss:
    weight, window = rows.pairs.weight, (-np.inf, 1.0)
    (worse, better), n_worse, n_better = _lacks(rows, *window)
    half_pull = weight * (worse - better)
    value = max(0.0, float(weight @ worse) - float(rows.f @ half_pull))
    return PairLoss(C * value, 2.0 * C * half_pull, 0.0, rows, window, 2.0 * C, n_worse + n_better)


def _smoothed_hinge(rows: Rows, C: float, smoothing: float) -> PairLoss:
    weight, window = rows.pairs.weight, (1.0 - smoothing, 1.0)
    (far, _), far_worse, far_better = _lacks(rows, -np.inf, window[0])
    (worse, better), n_worse, n_better = _lacks(rows, *window)
    in_window = weight * (worse - better)
    total = float(weight @ worse)
    squares = total - float(rows.f @ in_window)
    return PairLoss(
        value=C * (float(weight @ far) + total),
        minus_slope=C * (weight * (far_worse - far_better) + in_window / smoothing),
        excess=C * max(0.0, total - squares / smoothing),
        rows=rows,
        window=window,
        curvature=C / smoothing,
        near=n_worse + n_better,
    )
