r"""Proof of a model learned by stochastic gradient descent: how far above its minimum the objective is, at most.

.. math:: P(w, b) = \frac1n\sum_i c_i\,\ell_i(w'x_i + b) + \tfrac{\lambda}{2}\|w\|_2^2 + \mu\|w\|_1

With :math:`v = \frac1n\sum c_i g_i x_i`, any slopes with :math:`\sum c_i g_i = 0` bound it from below by weak duality,

.. math:: P \ge -\frac1n\sum_i c_i\,\ell_i^*(g_i) - \frac{1}{2\lambda}\sum_j\max(|v_j| - \mu, 0)^2 .

Two choices of :math:`g` are tried, drawn towards 0 by several factors: the slopes at the fitted scores, and those that
the descent itself has averaged: it writes :math:`w = \sum_i a_i x_i`, which is right at the minimum for
:math:`g_i = -\lambda n a_i / c_i`. The method stops by its own rule and far from its minimum, so the gap is stated: it
must be a smaller part of the objective than all of it, which is known without slopes, as losses are not negative.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, xlogy

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.classes import class_weights, machine_costs, machine_signs
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.rows import in_float64
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

FACTORS = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03, 0.01, 0.0)
"""Slopes far from the best are better when drawn towards 0; at 0 the bound says that losses are not negative."""

PART = 1e-9
"""Part of the objective that two ways to compute it may differ by."""


@dataclass(frozen=True)
class RowLoss:
    """A loss of one number: its value, its slope (at a kink the steeper), its conjugate and where that is finite."""

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    conjugate: Callable[[Array], Array]
    slopes: tuple[float, float]


def row_loss(name: str, epsilon: float) -> tuple[RowLoss, bool]:
    """Return the loss of this name in scikit-learn, and whether it is one of margins, or else of residuals."""
    if name in MARGIN_LOSSES:
        return MARGIN_LOSSES[name], True
    bend = np.inf if name == "squared_error" else epsilon

    def inside(r: Array) -> Array:
        return np.minimum(np.abs(r), bend)

    def over(r: Array) -> Array:
        return np.maximum(np.abs(r) - epsilon, 0.0)

    huber = RowLoss(
        lambda r: inside(r) * (np.abs(r) - 0.5 * inside(r)), lambda r: np.clip(r, -bend, bend), lambda s: s**2 / 2.0,
        (-bend, bend),
    )  # fmt: skip
    tube = RowLoss(over, lambda r: np.sign(r) * (over(r) > 0.0), lambda s: epsilon * np.abs(s), (-1.0, 1.0))
    squared_tube = RowLoss(
        lambda r: over(r) ** 2, lambda r: 2.0 * np.sign(r) * over(r), lambda s: epsilon * np.abs(s) + s**2 / 4.0,
        (-np.inf, np.inf),
    )  # fmt: skip
    return {"squared_error": huber, "huber": huber, "epsilon_insensitive": tube}.get(name, squared_tube), False


def _short(m: Array) -> Array:
    return np.maximum(1.0 - m, 0.0)


def _square(s: Array) -> Array:
    return s + s**2 / 4.0


def _entropy(s: Array) -> Array:
    return np.asarray(xlogy(-s, -s) + xlogy(1.0 + s, 1.0 + s))


MARGIN_LOSSES = {
    "hinge": RowLoss(_short, lambda m: np.where(m <= 1.0, -1.0, 0.0), lambda s: s, (-1.0, 0.0)),
    "perceptron": RowLoss(
        lambda m: np.maximum(-m, 0.0), lambda m: np.where(m <= 0.0, -1.0, 0.0), np.zeros_like, (-1.0, 0.0)
    ),
    "squared_hinge": RowLoss(lambda m: _short(m) ** 2, lambda m: -2.0 * _short(m), _square, (-np.inf, 0.0)),
    "modified_huber": RowLoss(
        lambda m: np.where(m < -1.0, -4.0 * m, _short(m) ** 2), lambda m: np.maximum(-2.0 * _short(m), -4.0), _square,
        (-4.0, 0.0),
    ),
    "log_loss": RowLoss(lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m), _entropy, (-1.0, 0.0)),
}  # fmt: skip


@dataclass(frozen=True)
class DescentProblem:
    """The problem of one machine and the point found for it."""

    X: SparseOrDense
    y: Array
    cost: Array
    total: float
    loss: RowLoss
    of_margins: bool
    l2: float
    l1: float
    fit_intercept: bool

    def objective_and_bound(self, w: Array, b: float, sums: Array | None) -> tuple[float, float]:
        """Return the objective of a line, and the best lower bound from its slopes or from the sums of the updates."""
        scores, sign = np.asarray(self.X @ w) + b, self.y if self.of_margins else 1.0
        argument = self.y * scores if self.of_margins else scores - self.y
        penalty = 0.5 * self.l2 * float(w @ w) + self.l1 * float(np.abs(w).sum())
        candidates = [sign * self.loss.slope(argument)]
        if sums is not None and self.l2 > 0.0:
            slopes = -self.l2 * self.total * sums / np.where(self.cost > 0.0, self.cost, 1.0)
            candidates.append(sign * np.clip(sign * slopes, *self.loss.slopes))
        objective = float(self.cost @ self.loss.value(argument)) / self.total + penalty
        return objective, max(map(self._bound_by, candidates))

    def _bound_by(self, slopes: Array) -> float:
        if self.fit_intercept:
            slopes = _balanced(slopes, self.cost)
        v = np.abs(np.asarray(self.X.T @ (self.cost * slopes))) / self.total
        largest = float(v.max(initial=0.0))
        limit = self.l1 / largest if self.l2 == 0.0 and largest > 0.0 else np.inf
        values = []
        for factor in (min(factor, limit) for factor in FACTORS):
            g = factor * slopes
            conjugate = self.loss.conjugate(self.y * g) if self.of_margins else self.y * g + self.loss.conjugate(g)
            over = np.maximum(factor * v - self.l1, 0.0)
            square = float(over @ over) / (2.0 * self.l2) if self.l2 > 0.0 else 0.0
            values.append(-float(self.cost @ conjugate) / self.total - square)
        return max(values)


def prove_sgd(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate; nothing is claimed of a model that has seen its data in parts."""
    if not (hasattr(fitted, "objective_") or hasattr(fitted, "dual_coef_")):
        reason = "Learned by partial_fit: the rows of earlier parts are gone, and with them the proof."
        return Certificate("none", (), reason)
    objective, gap = _measured(fitted, parameters, data)
    stored, stored_gap = fitted.objective_, fitted.dual_gap_
    size = np.maximum(np.maximum(np.abs(objective), np.abs(stored)), TINY)
    worst = int(np.argmax(gap / size))
    of, remedy = "of coef_ and intercept_", "Fit again, with a smaller tol for a smaller gap."
    said = "part of its objective by which the worst machine is above its minimum, at most"
    off, off_gap = (float(np.max(np.abs(error) / size)) for error in (objective - stored, gap - stored_gap))
    claims = (
        Claim("objective", f"part by which objective_ differs from the objective {of}", off, PART),
        Claim("duality gap", said, float(gap[worst] / size[worst]), 1.0 + PART, remedy),
        Claim("reported gap", f"part by which dual_gap_ differs from the gap {of}", off_gap, PART),
        *_sum_claims(fitted, data),
    )
    if not gap[worst] >= objective[worst] or gap[worst] == 0.0:
        return Certificate("bounded", claims)
    reason = "The descent stopped by its rule, and its slopes bound the minimum by nothing better than 0."
    return Certificate("none", claims, reason)


def _measured(fitted: Seen, parameters: Seen, data: TrainingData) -> tuple[Array, Array]:
    """Return the objective of each machine and how far above its minimum it is, at most."""
    X, (signs, costs), dual = in_float64(data.X), signs_and_costs(parameters, data), kept_dual(fitted, data)
    loss, of_margins = row_loss(getattr(parameters, "loss", "perceptron"), getattr(parameters, "epsilon", 0.0))
    l2, l1 = _penalties(parameters)
    coef, intercept = dense(fitted.coef_).astype(np.float64), np.asarray(fitted.intercept_, dtype=np.float64)
    total, found = float(data.weights.sum()), []
    for k, (y, cost) in enumerate(zip(signs, costs, strict=True)):
        problem = DescentProblem(X, y, cost, total, loss, of_margins, l2, l1, bool(parameters.fit_intercept))
        sums = None
        if dual is not None:
            sums = dual[[k]].toarray()[0] if dual.shape[1] == len(y) else np.zeros(len(y))
        found.append(problem.objective_and_bound(coef[k], intercept[k], sums))
    objective, bound = np.array(found).T
    is_wrong = bound - objective > PART * np.abs(objective)  # a bound above the objective bounds nothing
    return objective, np.where(is_wrong, np.nan, np.maximum(objective - bound, 0.0))


def _penalties(parameters: Seen) -> tuple[float, float]:
    """Return the rates of the l2 and the l1 penalty."""
    share = {"l1": 1.0, "elasticnet": parameters.l1_ratio}.get(str(parameters.penalty), 0.0) or 0.0
    rate = 0.0 if parameters.penalty is None else parameters.alpha
    return float(rate * (1.0 - share)), float(rate * share)


def _balanced(slopes: Array, cost: Array) -> Array:
    """Return the slopes with the heavier sign drawn towards 0 until they add up to 0."""
    up, down = float(cost @ np.maximum(slopes, 0.0)), float(cost @ np.maximum(-slopes, 0.0))
    least = min(up, down)
    if least <= EPSILON * max(up, down):
        return np.zeros_like(slopes)
    return np.where(slopes > 0.0, slopes * (least / up), slopes * (least / down))


def _sum_claims(fitted: Seen, data: TrainingData) -> tuple[Claim, ...]:
    """Return the claim that the weights are the sum of the rows that the updates have added up, where they are."""
    dual, X, coef = kept_dual(fitted, data), in_float64(data.X), dense(fitted.coef_).astype(np.float64)
    if dual is None:
        return ()
    error = np.inf
    if dual.shape == (len(coef), X.shape[0]):
        error = float(np.max(np.abs(dual.toarray() @ X - coef) / size_of_sums(X, dual.toarray())))
    rounding = max(float(np.finfo(data.dtype).eps), sum_error(X.shape[0])) * 16.0
    return (Claim("sum of updates", "part by which coef_ differs from the rows times dual_coef_", error, rounding),)


def signs_and_costs(parameters: Seen, data: TrainingData) -> tuple[Array, Array]:
    """Return the sign and the cost of each row in each machine."""
    signs = machine_signs(data.y, len(data.classes))
    return signs, machine_costs(signs, data.weights, class_weights(parameters.class_weight, data))


def kept_dual(fitted: Seen, data: TrainingData) -> Any:
    """Return ``dual_coef_`` of the rows that have weight, None if there is none."""
    dual = getattr(fitted, "dual_coef_", None)
    return dual if dual is None or data.kept is None or dual.shape[1] != data.n_given else dual[:, data.kept]


def size_of_sums(X: SparseOrDense, dual: Array) -> Array:
    """Return what the sums ``dual @ X`` are at most, by the largest entries: rounding errors are parts of it."""
    return np.abs(dual).sum(axis=1)[:, None] * dense(abs(X).max(axis=0)).ravel() + TINY


PROVES = {"SGDClassifier": prove_sgd}
