r"""Proof of a linear support vector regression: its duality gap, recomputed from the data in float64.

Any :math:`\beta` bounds the least objective from below by
:math:`\sum y_i\beta_i - \varepsilon\sum|\beta_i| - \sum\beta_i^2/(4c_i) - \tfrac12\|v\|^2,\ v = \sum\beta_i a_i`: for
every residual r the loss is at least :math:`-\beta r` less its conjugate. The third term is that of the squared loss;
the plain one has :math:`|\beta_i| \le c_i` instead, and there it is ``dual_coef_``. For the squared loss
:math:`\beta_i = 2c_i\,\mathrm{sign}(r_i)\max(0, |r_i| - \varepsilon)`, with :math:`r = y - Au`, follows from the
weights. Rows far from 0 multiply the rounding of these residuals: their sum is a little wrong, and v by that many times
the mean row. So :math:`\beta` is moved along the products of its rows with the mean row, as far as the bound rises.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.svm.linear_svc import box_violation, constant_of, gap_certificate
from pellucid.proofs.training_data import TrainingData


def prove_linear_svr(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the line."""
    X = sparse.csr_array(data.X, dtype=np.float64) if sparse.issparse(data.X) else np.asarray(data.X, dtype=np.float64)
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
        violation = box_violation(np.abs(beta), cost)
        duals = [np.clip(beta, -cost, cost)]
        conjugate = np.zeros_like(cost)
    else:
        loss, beta = float(cost @ beyond**2), 2.0 * cost * np.sign(residual) * beyond
        conjugate = 0.25 / cost
        balanced = _balanced(X, y, beta, cost, parameters.epsilon, constant)
        duals = [beta, balanced, _balanced(X, y, balanced, cost, parameters.epsilon, constant)]
    bound = np.max([_bound(X, y, beta, conjugate, parameters.epsilon, constant) for beta in duals])
    gap = (norm + loss - bound) / max(norm + loss, np.finfo(float).tiny)
    return gap_certificate(float(gap), violation, parameters)


def _bound(X: Any, y: Array, beta: Array, conjugate: Array, epsilon: float, constant: float) -> float:
    """Return the lower bound of the least objective; ``conjugate`` are the factors of the squares of ``beta``."""
    gain = float(beta @ y) - epsilon * float(np.abs(beta).sum()) - float(conjugate @ beta**2)
    return gain - 0.5 * float(np.sum((X.T @ beta) ** 2)) - 0.5 * float(np.square(constant * beta.sum()))


def _balanced(X: Any, y: Array, beta: Array, cost: Array, epsilon: float, constant: float) -> Array:
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


def _stored_dual(fitted: Any, data: TrainingData) -> Array:
    """Return the dual variables of the rows that count."""
    beta = np.asarray(getattr(fitted, "dual_coef_", np.empty(0)), dtype=np.float64)
    if beta.shape != (data.n_given,):
        return np.full(len(data.y), np.nan)
    return beta if data.kept is None else beta[data.kept]
