r"""Proof of a model learned by stochastic gradient descent: how far above its minimum the objective is, at most.

.. math:: P(w, b) = \frac1n\sum_i c_i\,\ell_i(w'x_i + b) + \tfrac{\lambda}{2}\|w\|_2^2 + \mu\|w\|_1

With :math:`v = \frac1n\sum c_i g_i x_i`, any slopes with :math:`\sum c_i g_i = 0` bound it from below by weak duality,

.. math:: P \ge -\frac1n\sum_i c_i\,\ell_i^*(g_i) - \frac{1}{2\lambda}\sum_j\max(|v_j| - \mu, 0)^2 .

Two choices of :math:`g` are tried, drawn towards 0 by several factors: the slopes at the fitted scores, and those that
the descent itself has averaged: it writes :math:`w = \sum_i a_i x_i`, which is right at the minimum for
:math:`g_i = -\lambda n a_i / c_i`. The method stops by its own rule and far from its minimum, so the gap is stated, not
held to a bound: what must hold is that it is no larger than ``dual_gap_`` says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.linear_classifier import class_weights, dense, machine_costs, machine_signs
from pellucid.linear_model.sgd.sgd_rule import SPARSE_INTERCEPT_RATE, Rule, make_rule
from pellucid.losses.loss import MarginLoss, ResidualLoss
from pellucid.losses.named_losses import named_loss
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, sum_error
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


def prove_sgd(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate; nothing is claimed of a model that has seen its data in parts."""
    if not (hasattr(fitted, "objective_") or hasattr(fitted, "dual_coef_")):
        return no_proof_of_parts()
    objective, gap = objective_and_gap(fitted, parameters, data)
    return sgd_certificate(objective, gap, fitted.objective_, fitted.dual_gap_, sum_claims(fitted, parameters, data))


def descent_rule(parameters: Any, X: Any) -> Rule:
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


def machine_gaps(X: Any, signs: Array, cost: Array, total: float, model: Descended) -> tuple[Array, Array]:
    """Return objective and gap of each machine, given the sign and cost of every row and the sum of their weights."""
    found = [_machine(X, signs[k], cost[k], total, model, k) for k in range(len(signs))]
    objective, bound = np.array(found).T
    is_wrong = bound - objective > PART * np.abs(objective)  # a bound above the objective bounds nothing
    return objective, np.where(is_wrong, np.nan, np.maximum(objective - bound, 0.0))


def sgd_certificate(
    objective: Array, gap: Array, stored_objective: Array, stored_gap: Array, claims: tuple[Claim, ...]
) -> Certificate:
    """Return the certificate for what was measured and what the model says."""
    size = np.maximum(np.maximum(np.abs(objective), np.abs(stored_objective)), np.finfo(float).tiny)
    value = Claim(
        "objective",
        "part by which objective_ differs from the objective of coef_ and intercept_",
        float(np.max(np.abs(objective - stored_objective) / size)),
        PART,
    )
    worst = int(np.argmax(stored_gap / size))
    bound = Claim(
        "duality gap",
        "part of its objective by which the worst machine is above its minimum, at most",
        float(gap[worst] / size[worst]),
        float(stored_gap[worst] / size[worst]) + PART,
        "Fit again, with a smaller tol for a smaller gap.",
    )
    reported = Claim(
        "reported gap",
        "part by which dual_gap_ differs from the gap of coef_ and intercept_",
        float(np.max(np.abs(gap - stored_gap) / size)),
        PART,
    )
    if stored_gap[worst] < stored_objective[worst] or stored_gap[worst] == 0.0:
        return Certificate("bounded", (value, bound, reported, *claims))
    reason = "The descent stopped by its rule, and its slopes bound the minimum by nothing better than 0."
    return Certificate("none", (value, bound, reported, *claims), reason)


def sum_claims(fitted: Any, parameters: Any, data: TrainingData) -> tuple[Claim, ...]:
    """Return the claim that the weights are the sum of the rows that the updates have added up, where they are."""
    model, X = _descended(fitted, parameters, data), plain_rows(data.X)
    if model.dual is None:
        return ()
    rounding = max(float(np.finfo(data.X.dtype).eps), sum_error(X.shape[0])) * 16.0
    error = np.inf
    if model.dual.shape == (len(model.coef), X.shape[0]):
        dual = model.dual.toarray()
        error = float(np.max(np.abs(dual @ X - model.coef) / size_of_sums(X, dual)))
    return (Claim("sum of updates", "part by which coef_ differs from the rows times dual_coef_", error, rounding),)


def size_of_sums(X: Any, dual: Array) -> Array:
    """Return what the sums ``dual @ X`` are at most, by the largest entries: rounding errors are parts of it."""
    largest, smallest = _flat(X.max(axis=0)), _flat(X.min(axis=0))
    return np.abs(dual).sum(axis=1)[:, None] * np.maximum(largest, -smallest) + np.finfo(float).tiny


def _flat(extremes: Any) -> Array:
    return np.asarray(extremes.toarray() if sparse.issparse(extremes) else extremes, dtype=np.float64).ravel()


def no_proof_of_parts() -> Certificate:
    """Return the certificate of a model that has seen its data in parts."""
    return Certificate(
        "none", (), "Learned by partial_fit: the rows of earlier parts are gone, and with them the proof."
    )


def _machine(X: Any, y: Array, cost: Array, total: float, model: Descended, k: int) -> tuple[float, float]:
    w, loss = model.coef[k], model.loss
    scores = np.asarray(X @ w) + model.intercept[k]
    penalty = 0.5 * model.l2 * float(w @ w) + model.l1 * float(np.abs(w).sum())
    candidates = [loss.score_slope(y, scores)]
    if model.dual is not None and model.l2 > 0.0:
        a = model.dual[[k]].toarray()[0] if model.dual.shape[1] == len(y) else np.zeros(len(y))
        candidates.append(loss.score_slopes_within(y, -model.l2 * total * a / np.where(cost > 0.0, cost, 1.0)))
    bound = max(_lower_bound(X, y, cost, total, model, slopes) for slopes in candidates)
    return float(cost @ loss.of(y, scores)) / total + penalty, bound


def _lower_bound(X: Any, y: Array, cost: Array, total: float, model: Descended, slopes: Array) -> float:
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


def plain_rows(X: Any) -> Any:
    """Return the rows in float64."""
    return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
