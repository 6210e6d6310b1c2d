r"""The problem of logistic regression, as its solvers see it: points, the best intercept, the duality gap.

The rows are centered where there is an intercept, which changes :math:`b` alone. The intercept of a point is the best
for its ``W``, so its probabilities have the right sum for every class and give a point of the dual problem as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import entr

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_kernels import sigmoid_pass, softmax_pass
from pellucid.linear_model.logistic.logistic_objective import LogisticObjective
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.design import Design, make_design

BALANCED = 1e-14
"""Excess of a class's probabilities over its weight, as a part of the loss, at which the intercept is the best."""

MOST_MOVES, LONGEST_MOVE, SHORTEST_MOVE = 60, 4.0, 1e-13
"""Steps of the intercept; its longest step, as far from the minimum Newton's would leave the range of exp; and the
shortest, as a part of the intercept."""

LONGEST_POSSIBLE = 1e100

ARMIJO, SHORTEST = 1e-4, 1e-10
"""Part of the predicted descent a step must achieve, and the shortest part of a step tried."""

RECEDING = 1e-6
"""How far below 0 a margin may be, as a part of the largest, for a direction to count as separating the classes."""

EXPONENTIAL = 8
"""What an exponential costs in multiplications."""

TINY = float(np.finfo(np.float64).tiny)


class Probabilities(NamedTuple):
    """What an intercept makes of some logits: probabilities, the loss and its first two derivatives by ``b``."""

    b: Array  # (K,), of the centered rows
    P: Array  # (n, K)
    loss: float
    slope: Array  # (K,)
    curvature: Array  # (K, K)


@dataclass(frozen=True)
class LogisticPoint:
    """Coefficients with what was computed from them."""

    W: Array  # (p, K)
    b: Array  # (K,), of the centered rows
    intercept: Array  # (K,), of the rows as they were given
    Z: Array  # (n, K): A W, without b
    P: Array  # (n, K)
    gradient: Array  # (p, K): of the loss, by W
    slope: Array  # (K,): of the loss, by b; 0 where b is the best
    loss: float
    objective: float
    gap: float
    distance: float
    """The gap as a part of the objective or, without a penalty, the gradient as a part of its largest size."""
    steepest: float = np.inf
    """The largest slope of the mean objective along a weight, where somebody may want to stop by it."""


@dataclass(frozen=True)
class LogisticProblem(LogisticObjective):
    """The objective, with all that its solvers ask about it."""

    @cached_property
    def design(self) -> Design:
        """The rows, centered if there is an intercept."""
        return make_design(self.X, fit_intercept=self.fit_intercept)

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
        if np.any(np.bincount(labels, weights=weight, minlength=len(self.classes)) == 0.0):
            return None
        X = self.X[::stride] if sparse.issparse(self.X) else np.ascontiguousarray(self.X[::stride])  # read many times
        return replace(self, X=X, labels=labels, weight=weight)

    def start(self, last: tuple[Array, Array] | None) -> tuple[Array, Array]:
        """Return weights and intercept to start from: those of the attributes of the last fit if they suit, or 0."""
        W, b = (None if last is None else self.coefficients(*last)) or (
            np.zeros((self.X.shape[1], self.n_columns)),
            np.zeros(self.n_columns),
        )
        return W, b if self.fit_intercept else np.zeros_like(b)

    def point(self, W: Array, b: Array) -> LogisticPoint:
        """Return the point at ``W``, the intercept moved from ``b``, of the centered rows, to its best."""
        Z = self.design.times(W)
        return self.point_at(W, Z, self.best_intercept(Z, b))

    def point_at(self, W: Array, Z: Array, best: Probabilities) -> LogisticPoint:
        """Return the point with logits ``Z``, once its best intercept is known."""
        residual = self.residual(best.P)
        gradient = self.design.transposed_times(residual)
        objective = best.loss + self.penalty.at(W.ravel())
        gap = self._gap(W, best.P, gradient, objective)
        distance = gap / max(objective, TINY) if self.is_penalized else self._steepness(gradient, residual)
        slope, intercept = np.zeros(len(best.b)), self.given_intercept(W, best.b)
        steepest = self.steepest(gradient, W) if self.rough else np.inf
        return LogisticPoint(
            W, best.b, intercept, Z, best.P, gradient, slope, best.loss, objective, gap, distance, steepest
        )

    def given_intercept(self, W: Array, b: Array) -> Array:
        """Return the intercept of the rows as they were given; of several classes, the one that sums to 0."""
        intercept = b - self.design.mean @ W
        return intercept if self.n_columns == 1 else intercept - intercept.mean()

    def best_intercept(self, Z: Array, b: Array) -> Probabilities:
        """Return the best intercept for logits ``Z``, at which each class has as much probability as weight.

        Newton's method from ``b``; without an intercept ``b`` is 0 and stays.
        """
        now = self.probabilities(Z, b)
        for _ in range(MOST_MOVES if self.fit_intercept else 0):
            size = _largest(now.slope)
            if size <= BALANCED * now.loss:
                break
            step = _intercept_step(now.slope, now.curvature)
            moved = self.probabilities(Z, now.b + step)
            while _largest(moved.slope) > size and _largest(step) > SHORTEST_MOVE * (1 + _largest(now.b)):
                step *= 0.25
                moved = self.probabilities(Z, now.b + step)
            if _largest(moved.slope) >= size:  # all that is left is rounding
                break
            now = moved
        return now

    def search(self, point: LogisticPoint, D: Array, db: Array | float, along: float) -> LogisticPoint | None:
        """Return the point a step of ``W`` and ``b`` leads to, halved until it descends enough; None if no step does.

        ``along`` is the change that the whole step promises: below 0, or no step is tried.
        """
        if not along < 0.0:
            return None
        whole, t = self.design.times(point.W + D), 1.0  # from the weights, so that rounding does not pile up
        rounding = 10 * EPSILON * abs(point.objective)
        while t > SHORTEST:
            W, Z = point.W + t * D, whole if t == 1.0 else (1.0 - t) * point.Z + t * whole
            best = self.best_intercept(Z, point.b + t * db)
            if best.loss + self.penalty.at(W.ravel()) <= point.objective + ARMIJO * t * along + rounding:
                return self.point_at(W, Z, best)
            t *= 0.5
        return None

    def recedes(self, before: LogisticPoint, after: LogisticPoint) -> bool:
        """Return whether a step only raised margins: without a penalty it could then be repeated for ever.

        The steps of Newton's method tend to such a direction where one exists, and to 0 where none does.
        """
        margins = self.margins((after.Z + after.b) - (before.Z + before.b))[self.weight > 0.0]
        return bool(margins.min() >= -RECEDING * margins.max() and margins.max() > 0.0)

    def stored(self, point: LogisticPoint, goal: float) -> LogisticPoint:
        """Return the point that the attributes of a model stand for, rounded as they are, with the gap they leave.

        Rounding to float32 hardly raises the objective, but columns of large numbers then make a poor dual point: where
        its gap misses the goal, that of the point before is taken, which bounds the same minimum.
        """
        W, b = (value.astype(self.X.dtype).astype(np.float64) for value in (point.W, point.intercept))
        best = point if self.X.dtype == np.float64 else self.point(W, point.b)
        error = b + self.design.mean @ W - best.b
        given = self.probabilities(best.Z, best.b + error - (0.0 if self.n_columns == 1 else error.mean()))
        excess = max(0.0, given.loss - best.loss)
        objective, gap, distance = best.objective + excess, best.gap + excess, best.distance
        if self.is_penalized and gap > goal * objective:
            gap = min(gap, max(0.0, objective - (point.objective - point.gap)))
        if not self.is_penalized and self.fit_intercept:
            unit = np.sqrt(self.weight.sum()) * max(self._residual_length(self.residual(given.P)), TINY)
            distance = max(distance, float(np.abs(given.slope).max() / unit))
        return replace(best, objective=objective, gap=gap, distance=distance)

    def attributes(self, W: Array, intercept: Array) -> dict[str, Array]:
        """Return the fitted attributes for weights and the intercept of the rows as they were given."""
        if self.constant is not None:
            W, intercept = W[:-1], self.constant * W[-1]
        dtype = self.X.dtype
        return {
            "classes_": self.classes,
            "coef_": np.ascontiguousarray(W.T, dtype=dtype),
            "intercept_": intercept.astype(dtype),
        }

    def residual(self, P: Array) -> Array:
        """Return the weighted differences of probabilities and labels, of shape (n, K)."""
        residual = P * self.weight[:, None]
        if self.n_columns == 1:
            residual[:, 0] -= self.weight * self.labels
        else:
            residual[np.arange(len(P)), self.labels] -= self.weight
        return residual

    def probabilities(self, Z: Array, b: Array) -> Probabilities:
        """Return what an intercept makes of logits."""
        P, k = np.empty_like(Z), Z.shape[1]
        kernel = sigmoid_pass if k == 1 else softmax_pass

        def work(rows: slice) -> tuple[float, Array, Array]:
            slope, curvature = np.empty(k), np.empty((k, k))
            loss = kernel(Z[rows], b, self.labels[rows], self.weight[rows], P[rows], slope, curvature)
            return loss, slope, curvature

        parts = shares(len(Z), EXPONENTIAL * Z.size)
        if len(parts) == 1:
            return Probabilities(b, P, *work(parts[0]))
        losses, slopes, curvatures = zip(*run_blocks(work, parts), strict=True)
        return Probabilities(b, P, float(sum(losses)), np.sum(slopes, axis=0), np.sum(curvatures, axis=0))

    def _gap(self, W: Array, P: Array, gradient: Array, objective: float) -> float:
        r"""Return how far, at most, the objective is above its minimum: the duality gap, infinite without a penalty.

        Probabilities :math:`P` with the right sums, moved towards the labels by :math:`1 - t`, give the dual value
        :math:`\sum_i s_i H(p_i) - \Omega^*(tA'S(P - Y))` with the entropy :math:`H`. For :math:`t = 1` the loss
        less the entropy is :math:`\langle W, A'S(P - Y)\rangle`, and a sum of terms that are at least 0 is left.
        """
        l1, l2 = self.penalty.l1, self.penalty.l2
        gaps = [np.inf]
        if l2 > 0.0:
            if l1 > 0.0:
                excess = np.maximum(np.abs(gradient) - l1, 0.0)
                terms = l1 * np.abs(W) + 0.5 * l2 * W**2 + W * gradient + excess**2 / (2.0 * l2)
                gaps.append(float(terms.sum()))
            else:
                gaps.append(float(np.sum((gradient + l2 * W) ** 2)) / (2.0 * l2))
        if l1 > 0.0:
            steepest = float(np.abs(gradient).max(initial=0.0))
            gaps.append(objective - self._entropy_towards_labels(P, 1.0 if steepest <= l1 else l1 / steepest))
        return max(0.0, min(gaps))

    def _entropy_towards_labels(self, P: Array, t: float) -> float:
        """Return the weighted entropy of probabilities moved towards the labels, to the part ``t`` of their way."""
        moved = t * P
        if self.n_columns == 1:
            moved[:, 0] += (1.0 - t) * self.labels
            entropy = entr(moved[:, 0]) + entr(1.0 - moved[:, 0])
        else:
            moved[np.arange(len(P)), self.labels] += 1.0 - t
            entropy = entr(moved).sum(axis=1)
        return float(self.weight @ entropy)

    def _steepness(self, gradient: Array, residual: Array) -> float:
        """Return the largest correlation of a column with the residual."""
        slopes = np.abs(gradient) / np.where(self.column_lengths > 0.0, self.column_lengths, np.inf)[:, None]
        return float(slopes.max(initial=0.0) / max(self._residual_length(residual), TINY))

    def _residual_length(self, residual: Array) -> float:
        return float(np.sqrt(np.sum(residual**2 / np.where(self.weight > 0.0, self.weight, 1.0)[:, None])))

    def margins(self, logits: Array) -> Array:
        """Return by how much the logit of each row's own class exceeds the largest other."""
        if self.n_columns == 1:
            return np.where(self.labels == 1, logits[:, 0], -logits[:, 0])
        rows, others = np.arange(len(logits)), logits.copy()
        others[rows, self.labels] = -np.inf
        return logits[rows, self.labels] - others.max(axis=1)


def _largest(values: Array) -> float:
    """Return the largest absolute value; NumPy takes ten times as long for a single one."""
    return abs(float(values[0])) if len(values) == 1 else float(np.abs(values).max())


def _intercept_step(slope: Array, curvature: Array) -> Array:
    """Return Newton's step, its length limited; adding a constant to all classes changes nothing and is left out."""
    if len(slope) == 1:
        move = -float(slope[0]) / (float(curvature[0, 0]) * (1.0 + 1e-14) + TINY)
        return np.array([min(max(move, -LONGEST_MOVE), LONGEST_MOVE)])
    k, size = len(slope), float(np.trace(curvature))
    fixed = curvature + size / k**2 * (k > 1) + (1e-14 * size + TINY) * np.eye(k)
    step = np.clip(np.linalg.solve(fixed, -slope), -LONGEST_POSSIBLE, LONGEST_POSSIBLE)  # infinite on a plateau
    return step * min(1.0, LONGEST_MOVE / max(float(np.abs(step).max()), 1e-300))
