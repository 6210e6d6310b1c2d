r"""The problem of logistic regression, as its solvers see it.

.. math:: \min_{W,\,b}\ \sum_i s_i\,\ell(y_i, a_i'W + b) + l_1\|W\|_1 + \tfrac{l_2}{2}\|W\|_2^2

with the rows :math:`a_i` centered where there is an intercept, which changes :math:`b` alone. Two classes have one
column of logits, for the second class; more have one each. The intercept is always at its best for ``W``, so the
probabilities of a point have the right sum for every class and give a point of the dual problem as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import entr

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_kernels import sigmoid_pass, softmax_pass
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty
from pellucid.numerics.design import Design, make_design

ROUNDING = 1e-13
"""Relative error that sums may have."""

BALANCED = 1e-14
"""Excess of a class's probabilities over its weight, as a part of the loss, at which the intercept is settled."""

MOST_SETTLING = 60
LONGEST_SETTLING = 4.0
"""Steps of the intercept, and its longest step: far from the minimum Newton's would leave the range of exp."""

LONGEST_POSSIBLE = 1e100

WORTH_SHARING = 1 << 14
"""Logits from which a pass over them is split between threads."""


class Passed(NamedTuple):
    """What a pass over the logits finds for an intercept."""

    b: Array  # (K,), of the centered rows
    P: Array  # (n, K)
    loss: float
    slope: Array  # (K,)
    curvature: Array  # (K, K)


@dataclass(frozen=True)
class Point:
    """Coefficients with what was computed from them."""

    W: Array  # (p, K)
    b: Array  # (K,), of the centered rows
    Z: Array  # (n, K): A W, without b
    P: Array  # (n, K)
    pull: Array  # (p, K): the gradient of the loss by W
    objective: float
    gap: float


@dataclass(frozen=True)
class LogisticProblem:
    """Data, weights (times ``C``) and penalty."""

    X: Array
    labels: Array  # (n,), from 0
    n_classes: int
    weight: Array  # (n,)
    penalty: ElasticNetPenalty
    fit_intercept: bool
    design: Design = field(init=False)
    total_weight: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "design", make_design(self.X, fit_intercept=self.fit_intercept))
        object.__setattr__(self, "total_weight", float(self.weight.sum()))

    @property
    def n_columns(self) -> int:
        """Columns of logits."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def is_penalized(self) -> bool:
        """Whether there is a penalty, and so a finite minimum and a duality gap."""
        return self.penalty.l1 + self.penalty.l2 > 0.0

    @cached_property
    def columns(self) -> Any:
        """The data as they were given, by columns if they are sparse."""
        return sparse.csc_array(self.X, dtype=np.float64) if sparse.issparse(self.X) else self.X

    @cached_property
    def column_lengths(self) -> Array:
        """Weighted norms of the columns of ``A``."""
        return np.sqrt(make_design(self.X, fit_intercept=self.fit_intercept, sample_weight=self.weight).sq_norms())

    def every(self, stride: int) -> LogisticProblem | None:
        """Return the problem on every ``stride``-th row, each counted ``stride`` times; None if a class is lost."""
        labels, weight = self.labels[::stride], stride * self.weight[::stride]
        if np.any(np.bincount(labels, weights=weight, minlength=self.n_classes) == 0.0):
            return None
        X = self.X[::stride] if sparse.issparse(self.X) else np.ascontiguousarray(self.X[::stride])  # read many times
        return LogisticProblem(X, labels, self.n_classes, weight, self.penalty, self.fit_intercept)

    def residual(self, P: Array) -> Array:
        """Return the weighted differences of probabilities and labels, of shape (n, K)."""
        residual = P * self.weight[:, None]
        if self.n_columns == 1:
            residual[:, 0] -= self.weight * self.labels
        else:
            residual[np.arange(len(P)), self.labels] -= self.weight
        return residual

    def residual_length(self, P: Array) -> float:
        """Return the weighted norm of the differences of probabilities and labels."""
        residual = self.residual(P)
        return float(np.sqrt(np.sum(residual**2 / np.where(self.weight > 0.0, self.weight, 1.0)[:, None])))

    def margins(self, logits: Array) -> Array:
        """Return by how much the logit of each row's own class exceeds the largest other."""
        if self.n_columns == 1:
            return np.where(self.labels == 1, logits[:, 0], -logits[:, 0])
        rows, others = np.arange(len(logits)), logits.copy()
        others[rows, self.labels] = -np.inf
        return logits[rows, self.labels] - others.max(axis=1)

    def settle(self, Z: Array, b: Array) -> Passed:
        """Return the best intercept for logits ``Z``, at which each class has as much probability as weight.

        Newton's method from ``b``; without an intercept ``b`` is 0 and stays.
        """
        now = self._pass(Z, b)
        for _ in range(MOST_SETTLING if self.fit_intercept else 0):
            size = np.abs(now.slope).max()
            if size <= BALANCED * now.loss:
                break
            step = _intercept_step(now.slope, now.curvature)
            moved = self._pass(Z, now.b + step)
            while np.abs(moved.slope).max() > size and np.abs(step).max() > ROUNDING * (1.0 + np.abs(now.b).max()):
                step *= 0.25
                moved = self._pass(Z, now.b + step)
            if np.abs(moved.slope).max() >= size:  # all that is left is rounding
                break
            now = moved
        return now

    def point(self, W: Array, b: Array) -> Point:
        """Return the point at ``W``, the intercept moved to its best."""
        Z = self.design.times(W)
        return self.point_at(W, Z, self.settle(Z, b))

    def point_at(self, W: Array, Z: Array, settled: Passed) -> Point:
        """Return the point with logits ``Z``, once its intercept is settled."""
        pull = self.design.transposed_times(self.residual(settled.P))
        objective = settled.loss + self.penalty.at(W.ravel())
        return Point(W, settled.b, Z, settled.P, pull, objective, self._gap(W, settled, pull, objective))

    def _gap(self, W: Array, settled: Passed, pull: Array, objective: float) -> float:
        r"""Return how far, at most, the objective is above its minimum: the duality gap, infinite without a penalty.

        Probabilities :math:`P` with the right sums, moved towards the labels by :math:`1 - t`, give the dual value
        :math:`\sum_i s_i H(p_i) - \Omega^*(tA'S(P - Y))` with the entropy :math:`H`. For :math:`t = 1` the loss
        less the entropy is :math:`\langle W, A'S(P - Y)\rangle`, and a sum of terms that are at least 0 is left.
        """
        l1, l2 = self.penalty.l1, self.penalty.l2
        gaps = [np.inf]
        if l2 > 0.0:
            excess = np.maximum(np.abs(pull) - l1, 0.0)
            terms = l1 * np.abs(W) + 0.5 * l2 * W**2 + W * pull + excess**2 / (2.0 * l2)
            gaps.append(float(terms.sum()) if l1 > 0.0 else float(np.sum((pull + l2 * W) ** 2)) / (2.0 * l2))
        if l1 > 0.0:
            steepest = float(np.abs(pull).max(initial=0.0))
            moved = self._towards_labels(settled.P, 1.0 if steepest <= l1 else l1 / steepest)
            gaps.append(objective - self._entropy(moved))
        return max(0.0, min(gaps))

    def rounded(self, at: Point, dtype: Any) -> Point:
        """Return the point whose coefficients and intercept a model of this dtype stores, with the gap they leave."""
        W, b = at.W.astype(dtype).astype(np.float64), self.intercept(at).astype(dtype).astype(np.float64)
        settled = self.point(W, at.b)
        excess = self._pass(settled.Z, b + self.design.mean @ W).loss - self._pass(settled.Z, settled.b).loss
        return replace(settled, objective=settled.objective + excess, gap=settled.gap + excess)

    def intercept(self, at: Point) -> Array:
        """Return the intercept of the rows as they were given; of several classes, the one that sums to 0."""
        b = at.b - self.design.mean @ at.W
        return b if self.n_columns == 1 else b - b.mean()

    def _pass(self, Z: Array, b: Array) -> Passed:
        P, k = np.empty_like(Z), Z.shape[1]
        kernel = sigmoid_pass if k == 1 else softmax_pass

        def work(rows: slice) -> tuple[float, Array, Array]:
            slope, curvature = np.empty(k), np.empty((k, k))
            loss = kernel(Z[rows], b, self.labels[rows], self.weight[rows], P[rows], slope, curvature)
            return loss, slope, curvature

        parts = split_evenly(len(Z), thread_count() if Z.size >= WORTH_SHARING else 1)
        losses, slopes, curvatures = zip(*run_blocks(work, parts), strict=True)
        return Passed(b, P, float(sum(losses)), np.sum(slopes, axis=0), np.sum(curvatures, axis=0))

    def _towards_labels(self, P: Array, t: float) -> Array:
        moved = t * P
        if self.n_columns == 1:
            moved[:, 0] += (1.0 - t) * self.labels
        else:
            moved[np.arange(len(P)), self.labels] += 1.0 - t
        return moved

    def _entropy(self, P: Array) -> float:
        entropy = entr(P).sum(axis=1)
        if self.n_columns == 1:
            entropy += entr(1.0 - P[:, 0])
        return float(self.weight @ entropy)


def _intercept_step(slope: Array, curvature: Array) -> Array:
    """Return Newton's step, its length limited; adding a constant to all classes changes nothing and is left out."""
    k, size = len(slope), float(np.trace(curvature))
    fixed = curvature + size / k**2 * (k > 1) + (1e-14 * size + np.finfo(float).tiny) * np.eye(k)
    step = np.clip(np.linalg.solve(fixed, -slope), -LONGEST_POSSIBLE, LONGEST_POSSIBLE)  # infinite on a plateau
    return step * min(1.0, LONGEST_SETTLING / max(float(np.abs(step).max()), 1e-300))
