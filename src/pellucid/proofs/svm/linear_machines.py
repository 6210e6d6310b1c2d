r"""Proofs of linear support vector machines: their duality gap, recomputed from the data in float64.

Classification: any :math:`\alpha \ge 0` bounds the least objective from below by
:math:`\sum\alpha_i - \sum\alpha_i^2/(4c_i) - \tfrac12\|v\|^2,\ v = \sum\alpha_i t_i a_i`. The middle term is that of
the squared hinge; the plain hinge has :math:`\alpha_i \le c_i` instead. An l1 penalty has
:math:`\|v\|_\infty \le 1` instead of the last term. For the squared hinge :math:`\alpha_i = 2c_i\max(0, 1 - m_i)`
follows from the weights; for the hinge it is ``dual_coef_``.

One machine for all classes: any :math:`\alpha_{ik} \le c_i[k = y_i]` whose rows add up to 0 bounds the least objective
from below by :math:`\sum_i\alpha_{iy_i} - \tfrac12\sum_k\|\sum_i\alpha_{ik}a_i\|^2`.

Regression: any :math:`\beta` bounds the least objective from below by
:math:`\sum y_i\beta_i - \varepsilon\sum|\beta_i| - \sum\beta_i^2/(4c_i) - \tfrac12\|v\|^2,\ v = \sum\beta_i a_i`: for
every residual r the loss is at least :math:`-\beta r` less its conjugate. The third term is that of the squared loss;
the plain one has :math:`|\beta_i| \le c_i` instead, and there it is ``dual_coef_``. For the squared loss
:math:`\beta_i = 2c_i\,\mathrm{sign}(r_i)\max(0, |r_i| - \varepsilon)`, with :math:`r = y - Au`, follows from the
weights. Rows far from 0 multiply the rounding of these residuals: their sum is a little wrong, and v by that many times
the mean row. So :math:`\beta` is moved along the products of its rows with the mean row, as far as the bound rises.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.classes import class_weights, machine_costs, machine_signs
from pellucid.proofs.rounding import ROUNDING, TINY
from pellucid.proofs.rows import in_float64
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""


def prove_linear_svc(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the worst machine, or of the one for all classes.

    There is a row ``u`` of weights per machine: the last is the intercept over the ``constant``, unless that is 0.
    """
    u, dual = dense(fitted.coef_).astype(np.float64), getattr(fitted, "dual_coef_", None)
    if dual is not None and data.kept is not None and dual.shape[1] == data.n_given:
        dual = dual[:, data.kept]
    constant = constant_of(parameters)
    if constant:
        u = np.hstack([u, np.reshape(fitted.intercept_, (-1, 1)) / constant])
    elif np.any(fitted.intercept_):
        return gap_certificate(np.inf, None, parameters)
    if parameters.multi_class != "crammer_singer":
        return _prove_machines(data, u, dual, constant, parameters)
    if len(u) == 1:  # the weights of two classes add up to 0
        u, dual = np.vstack([-0.5 * u, 0.5 * u]), None if dual is None else np.vstack([-dual, dual])
    cost = class_weights(parameters.class_weight, data)[data.y] * parameters.C * data.weights
    gap, violation = _together(data.X, data.y, cost, u, dual, constant)
    return gap_certificate(gap, violation, parameters)


def constant_of(parameters: Seen) -> float:
    """Return the constant feature whose weight the intercept is; 0 without an intercept."""
    return float(parameters.intercept_scaling) if parameters.fit_intercept else 0.0


def gap_certificate(relative_gap: float, violation: float | None, parameters: Seen) -> Certificate:
    """Return the certificate for the gap of the worst machine and, for the hinge, how far the dual leaves its box.

    A gap below 0, by as much as it may be above, is an error of the lower bound.
    """
    bound, remedy = min(parameters.tol, LARGEST_GAP) + ROUNDING, "Raise max_iter, or standardize X."
    said = "part of its objective by which the worst machine is above its minimum, at most"
    gap = gap_claim("duality gap", said, relative_gap, 0.0, bound, rounding=bound, remedy=remedy)
    if violation is None:
        return Certificate("optimal", (gap,))
    box = Claim("dual feasibility", "part of its cost by which a dual variable leaves [0, cost]", violation, ROUNDING)
    return Certificate("optimal", (gap, box))


def _prove_machines(
    data: TrainingData, weights: Array, dual: Array | None, constant: float, parameters: Seen
) -> Certificate:
    X, signs = in_float64(data.X), machine_signs(data.y, len(data.classes))
    costs = machine_costs(signs, parameters.C * data.weights, class_weights(parameters.class_weight, data))
    if weights.shape != (len(signs), X.shape[1] + bool(constant)):
        return gap_certificate(np.inf, None, parameters)
    gaps, violations = [], []
    for k, (u, sign, cost) in enumerate(zip(weights, signs, np.atleast_2d(costs), strict=True)):
        scores = np.asarray(X @ u[: X.shape[1]]) + (constant * u[-1] if constant else 0.0)
        short = np.maximum(1.0 - sign * scores, 0.0)
        loss = float(cost @ (short if parameters.loss == "hinge" else short**2))
        norm = float(np.abs(u).sum()) if parameters.penalty == "l1" else 0.5 * float(u @ u)
        alpha = 2.0 * cost * short
        if parameters.loss == "hinge":  # dual_coef_ holds the products with the signs
            alpha = np.full(len(sign), np.nan)
            if dual is not None and dual.shape[1] == len(sign):
                alpha = np.asarray(dual[k] * sign, dtype=np.float64)
            violations.append(_box_violation(alpha, cost))
            alpha = np.clip(alpha, 0.0, cost)
        combined = _combined(X, sign * alpha, constant)
        bound = _dual_value(alpha, combined, cost, parameters)
        if parameters.penalty == "l1":
            up = _combined(X, np.where(sign > 0.0, alpha, 0.0), constant)
            bound = max(bound, _value_in_balance(sign > 0.0, alpha, up, up - combined, cost, u, parameters))
        gaps.append((norm + loss - bound) / max(norm + loss, TINY))
    worst = float(gaps[int(np.argmax(np.abs(gaps)))])
    return gap_certificate(worst, float(np.max(violations)) if violations else None, parameters)


def _dual_value(alpha: Array, v: Array, cost: Array, parameters: Seen) -> float:
    total = float(alpha.sum())
    if parameters.loss == "hinge":
        return total - 0.5 * float(v @ v)
    squares = float(np.sum(alpha[cost > 0.0] ** 2 / cost[cost > 0.0])) / 4.0
    if parameters.penalty == "l2":
        return total - squares - 0.5 * float(v @ v)
    if squares == 0.0:
        return 0.0
    shrink = min(total / (2.0 * squares), 1.0 / max(float(np.abs(v).max()), TINY))
    return shrink * total - shrink**2 * squares


def _value_in_balance(
    positive: Array, alpha: Array, up: Array, down: Array, cost: Array, u: Array, parameters: Seen
) -> float:
    """Return the dual objective of another point, whose positive part, of the sum ``up``, is multiplied by a number.

    Rounding of the margins leaves the sum of both parts a little wrong, and columns far from 0 multiply that. The
    number is the one with which the columns in use come closest to the slope of the penalty.
    """
    used = np.flatnonzero(u)
    square = float(up[used] @ up[used])
    if not square > 0.0:
        return 0.0
    factor = max(0.0, float(up[used] @ (down[used] + np.sign(u[used]))) / square)
    return _dual_value(np.where(positive, factor * alpha, alpha), factor * up - down, cost, parameters)


def _box_violation(alpha: Array, cost: Array) -> float:
    """Return how far, as a part of its cost, a dual variable is outside of its box; of any shape."""
    outside = np.maximum(-alpha, alpha - cost)
    return float(np.max(np.maximum(outside, 0.0) / np.where(cost > 0.0, cost, 1.0)))


def _combined(X: SparseOrDense, r: Array, constant: float) -> Array:
    return np.append(np.asarray(X.T @ r), constant * r.sum() if constant else 0.0)


def _together(
    X: SparseOrDense, labels: Array, cost: Array, u: Array, dual: Array | None, constant: float
) -> tuple[float, float]:
    """Return the relative gap of weights and dual variables, a row of each per class, and how far the dual strays."""
    X = in_float64(X)
    if dual is None or dual.shape != (len(u), len(labels)):
        return np.inf, np.inf
    A, alpha, each = X, dual.T, np.arange(len(labels))
    if constant:
        column = np.full((X.shape[0], 1), constant)
        A = sparse.hstack([X, column], format="csr") if sparse.issparse(X) else np.hstack([X, column])
    scores = np.asarray(A @ u.T)
    lacks = scores - scores[each, labels][:, None] + 1.0
    lacks[each, labels] = 0.0
    objective = 0.5 * float(np.sum(u**2)) + float(cost @ lacks.max(axis=1))
    bound = float(alpha[each, labels].sum()) - 0.5 * float(np.sum(np.asarray(A.T @ alpha) ** 2))
    most = np.zeros_like(alpha)
    most[each, labels] = cost
    outside = np.maximum((alpha - most).max(axis=1), np.abs(alpha.sum(axis=1)))
    violation = np.max(np.maximum(outside, 0.0) / np.where(cost > 0.0, cost, 1.0))
    return (objective - bound) / max(objective, TINY), float(violation)


def prove_linear_svr(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the line."""
    X = in_float64(data.X)
    y, cost, constant = np.asarray(data.y, dtype=np.float64), parameters.C * data.weights, constant_of(parameters)
    w, b = np.asarray(fitted.coef_, dtype=np.float64), np.ravel(fitted.intercept_).astype(np.float64)
    if w.shape != (X.shape[1],) or b.shape != (1,) or (not constant and b[0] != 0.0):
        return gap_certificate(np.inf, None, parameters)
    residual = y - X @ w - b[0]
    beyond = np.maximum(np.abs(residual) - parameters.epsilon, 0.0)
    norm = 0.5 * float(w @ w) + (0.5 * float(b[0] / constant) ** 2 if constant else 0.0)
    violation, duals = None, []
    if parameters.loss == "epsilon_insensitive":
        loss, beta = float(cost @ beyond), _stored_dual(fitted, data)
        violation = _box_violation(np.abs(beta), cost)
        duals = [np.clip(beta, -cost, cost)]
        conjugate = np.zeros_like(cost)
    else:
        loss, beta = float(cost @ beyond**2), 2.0 * cost * np.sign(residual) * beyond
        conjugate = 0.25 / cost
        balanced = _balanced(X, y, beta, cost, parameters.epsilon, constant)
        duals = [beta, balanced, _balanced(X, y, balanced, cost, parameters.epsilon, constant)]
    bound = np.max([_bound(X, y, beta, conjugate, parameters.epsilon, constant) for beta in duals])
    gap = (norm + loss - bound) / max(norm + loss, TINY)
    return gap_certificate(float(gap), violation, parameters)


def _bound(X: SparseOrDense, y: Array, beta: Array, conjugate: Array, epsilon: float, constant: float) -> float:
    """Return the lower bound of the least objective; ``conjugate`` are the factors of the squares of ``beta``."""
    gain = float(beta @ y) - epsilon * float(np.abs(beta).sum()) - float(conjugate @ beta**2)
    return gain - 0.5 * float(np.sum((X.T @ beta) ** 2)) - 0.5 * float(np.square(constant * beta.sum()))


def _balanced(X: SparseOrDense, y: Array, beta: Array, cost: Array, epsilon: float, constant: float) -> Array:
    """Return the dual point of the squared loss where the bound is largest along the products with the mean row."""
    mean = np.asarray(X.mean(axis=0)).ravel()
    length = float(np.sqrt(mean @ mean + constant**2))
    used = beta != 0.0
    if not used.any() or not length > 0.0:
        return beta
    direction = np.where(used, (X @ mean + constant**2) / length, 0.0)
    slope = y - epsilon * np.sign(beta) - beta / (2.0 * cost) - X @ (X.T @ beta) - constant**2 * beta.sum()
    curvature = float(np.sum(direction**2 / (2.0 * cost)) + np.sum((X.T @ direction) ** 2))
    curvature += float(np.square(constant * direction.sum()))
    return beta + float(slope @ direction) / curvature * direction if curvature > 0.0 else beta


def _stored_dual(fitted: Seen, data: TrainingData) -> Array:
    """Return the dual variables of the rows that count."""
    beta = np.asarray(getattr(fitted, "dual_coef_", np.empty(0)), dtype=np.float64)
    if beta.shape != (data.n_given,):
        return np.full(len(data.y), np.nan)
    return beta if data.kept is None else beta[data.kept]


PROVES = {"LinearSVC": prove_linear_svc, "LinearSVR": prove_linear_svr}
