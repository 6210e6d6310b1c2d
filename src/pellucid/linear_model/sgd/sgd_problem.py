r"""The objective of a model learned by stochastic gradient descent, and how far above its minimum it is, at most.

Slopes of the losses that add up to 0 bound the minimum by weak duality: those at the fitted scores, and those that the
descent itself has averaged, each drawn towards 0 by several factors. The proof tells it in formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.core.linear_classifier import class_weights, dense, machine_costs, machine_signs
from pellucid.core.types import SparseOrDense
from pellucid.losses.loss import MarginLoss, ResidualLoss
from pellucid.losses.named_losses import LOSS_NUMBERS, named_loss
from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

FACTORS = (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.03, 0.01, 0.0)
"""Slopes far from the best are better when drawn towards 0; at 0 the bound says that losses are not negative."""

PART = 1e-9
"""Part of the objective that two ways to compute it may differ by."""


@dataclass(frozen=True)
class Descended:
    """What the proof may see of a model: one row per machine of ``coef``, ``intercept``, ``dual``."""

    coef: Array
    intercept: Array
    dual: Any
    loss: MarginLoss | ResidualLoss
    l2: float
    l1: float
    fit_intercept: bool


def descent_rule(parameters: Any, X: SparseOrDense) -> StepRule:
    """Return the rule of the steps; a perceptron has fewer parameters."""
    rate = SPARSE_INTERCEPT_RATE if sparse.issparse(X) else 1.0
    return make_rule(
        loss=getattr(parameters, "loss", "perceptron"),
        epsilon=getattr(parameters, "epsilon", 0.0),
        learning_rate=getattr(parameters, "learning_rate", "constant"),
        eta0=parameters.eta0,
        power_t=getattr(parameters, "power_t", 0.5),
        penalty=parameters.penalty,
        alpha=parameters.alpha,
        l1_ratio=parameters.l1_ratio,
        intercept_rate=rate if parameters.fit_intercept else 0.0,
        average=int(getattr(parameters, "average", 0)),
    )


def signs_and_costs(parameters: Any, data: TrainingData) -> tuple[Array, Array]:
    """Return the sign and the cost of each row in each machine."""
    signs = machine_signs(data.y, len(data.classes))
    costs = machine_costs(signs, data.weights, class_weights(parameters.class_weight, data))
    return signs, np.atleast_2d(costs)


def kept_dual(fitted: Any, data: TrainingData) -> Any:
    """Return ``dual_coef_`` of the rows that have weight, None if there is none."""
    dual = getattr(fitted, "dual_coef_", None)
    return dual if dual is None or data.kept is None or dual.shape[1] != data.n_given else dual[:, data.kept]


def _descended(fitted: Any, parameters: Any, data: TrainingData) -> Descended:
    rule = descent_rule(parameters, data.X)
    return Descended(
        coef=dense(fitted.coef_).astype(np.float64),
        intercept=np.asarray(fitted.intercept_, dtype=np.float64),
        dual=kept_dual(fitted, data),
        loss=named_loss(getattr(parameters, "loss", "perceptron"), getattr(parameters, "epsilon", 0.0)),
        l2=rule.shrink,
        l1=rule.truncate,
        fit_intercept=parameters.fit_intercept,
    )


def objective_and_gap(fitted: Any, parameters: Any, data: TrainingData) -> tuple[Array, Array]:
    """Return the objective of each machine and how far above its minimum it is, at most."""
    X, (signs, cost), total = plain_rows(data.X), signs_and_costs(parameters, data), float(data.weights.sum())
    return machine_gaps(X, signs, cost, total, _descended(fitted, parameters, data))


def machine_gaps(X: SparseOrDense, signs: Array, cost: Array, total: float, model: Descended) -> tuple[Array, Array]:
    """Return objective and gap of each machine, given the sign and cost of every row and the sum of their weights."""
    found = [_machine(X, signs[k], cost[k], total, model, k) for k in range(len(signs))]
    objective, bound = np.array(found).T
    is_wrong = bound - objective > PART * np.abs(objective)  # a bound above the objective bounds nothing
    return objective, np.where(is_wrong, np.nan, np.maximum(objective - bound, 0.0))


def _machine(X: SparseOrDense, y: Array, cost: Array, total: float, model: Descended, k: int) -> tuple[float, float]:
    w, loss = model.coef[k], model.loss
    scores = np.asarray(X @ w) + model.intercept[k]
    penalty = 0.5 * model.l2 * float(w @ w) + model.l1 * float(np.abs(w).sum())
    candidates = [loss.score_slope(y, scores)]
    if model.dual is not None and model.l2 > 0.0:
        a = model.dual[[k]].toarray()[0] if model.dual.shape[1] == len(y) else np.zeros(len(y))
        candidates.append(loss.score_slopes_within(y, -model.l2 * total * a / np.where(cost > 0.0, cost, 1.0)))
    bound = max(_lower_bound(X, y, cost, total, model, slopes) for slopes in candidates)
    return float(cost @ loss.of(y, scores)) / total + penalty, bound


def _lower_bound(X: SparseOrDense, y: Array, cost: Array, total: float, model: Descended, slopes: Array) -> float:
    if model.fit_intercept:
        slopes = _balanced(slopes, cost)
    v = np.abs(np.asarray(X.T @ (cost * slopes))) / total
    largest = float(v.max(initial=0.0))
    limit = np.inf if model.l2 > 0.0 else (model.l1 / largest if largest > 0.0 else np.inf)
    values = []
    for factor in (min(f, limit) for f in FACTORS):
        conjugate = float(cost @ model.loss.score_conjugate(y, factor * slopes)) / total
        over = np.maximum(factor * v - model.l1, 0.0)
        values.append(-conjugate - (float(over @ over) / (2.0 * model.l2) if model.l2 > 0.0 else 0.0))
    return max(values)


def _balanced(slopes: Array, cost: Array) -> Array:
    """Return the slopes with the heavier sign drawn towards 0 until they add up to 0."""
    up, down = float(cost @ np.maximum(slopes, 0.0)), float(cost @ np.maximum(-slopes, 0.0))
    least = min(up, down)
    if least <= EPSILON * max(up, down):
        return np.zeros_like(slopes)
    return np.where(slopes > 0.0, slopes * (least / up), slopes * (least / down))


def plain_rows(X: SparseOrDense) -> Any:
    """Return the rows in float64."""
    return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


SCHEDULES = {"constant": 0, "adaptive": 0, "optimal": 1, "invscaling": 2, "pa1": 3, "pa2": 4}
"""The number by which the kernels know a step size; 'adaptive' is constant within an epoch."""

SPARSE_INTERCEPT_RATE = 0.01
"""On sparse rows the intercept, which every row moves, learns more slowly than the weights, as in scikit-learn."""


class StepRule(NamedTuple):
    """Numbers only: it is passed to compiled code."""

    loss: int
    width: float
    """Where the hinge bends, or the epsilon of the losses that have one."""
    schedule: int
    eta0: float
    power_t: float
    alpha: float
    optimal_start: float
    shrink: float
    """Rate of the l2 penalty: ``alpha (1 - l1_ratio)``."""
    truncate: float
    """Rate of the l1 penalty: ``alpha l1_ratio``."""
    intercept_rate: float
    """What an update of the intercept is multiplied by; 0 without one."""
    average_from: float
    """The step from which the iterates are averaged; 0 for never."""


def make_rule(
    *,
    loss: str,
    epsilon: float = 0.1,
    learning_rate: str = "constant",
    eta0: float = 1.0,
    power_t: float = 0.5,
    penalty: str | None = None,
    alpha: float = 0.0001,
    l1_ratio: float | None = 0.15,
    intercept_rate: float = 1.0,
    average: int = 0,
) -> StepRule:
    """Return the rule for parameters in scikit-learn's words."""
    width = {"hinge": 1.0, "squared_hinge": 1.0, "perceptron": 0.0}.get(loss, epsilon)
    mixture = {"l1": 1.0, "elasticnet": l1_ratio}.get(str(penalty), 0.0) or 0.0
    rate = 0.0 if penalty is None else alpha
    return StepRule(
        loss=LOSS_NUMBERS[loss],
        width=float(width),
        schedule=SCHEDULES[learning_rate],
        eta0=float(eta0),
        power_t=float(power_t),
        alpha=float(alpha),
        # Bottou's rule: the first step is 1 / sqrt(sqrt(alpha)), the size that a weight typically has
        optimal_start=float(alpha) ** -0.75 if learning_rate == "optimal" else 0.0,
        shrink=float(rate * (1.0 - mixture)),
        truncate=float(rate * mixture),
        intercept_rate=float(intercept_rate),
        average_from=float(average),
    )
