r"""Proof of a linear support vector machine: its duality gap, recomputed from the data in float64.

Any :math:`\alpha \ge 0` bounds the least objective from below by
:math:`\sum\alpha_i - \sum\alpha_i^2/(4c_i) - \tfrac12\|v\|^2,\ v = \sum\alpha_i t_i a_i`. The middle term is that of
the squared hinge; the plain hinge has :math:`\alpha_i \le c_i` instead. An l1 penalty has
:math:`\|v\|_\infty \le 1` instead of the last term. For the squared hinge :math:`\alpha_i = 2c_i\max(0, 1 - m_i)`
follows from the weights; for the hinge it is ``dual_coef_``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.types import Array
from pellucid.losses.classification_losses import HingeLoss, SquaredHingeLoss

LARGEST_GAP = 1e-6
"""Part of the objective that the gap may be at most, whatever ``tol``."""

ROUNDING = 1e-12
"""Relative error that sums over the rows may have."""


@dataclass(frozen=True)
class FittedMachines:
    """What the proof may see of a model: one row of weights, and for the hinge of dual variables, per machine.

    ``u`` has the intercept over ``constant`` as last column, unless ``constant`` is 0.
    """

    u: Array
    dual: Array | None
    loss: str
    penalty: str
    constant: float
    tol: float


def certificate_of(relative_gap: float, violation: float | None, tol: float) -> Certificate:
    """Return the certificate for the gap of the worst machine and, for the hinge, how far the dual leaves its box."""
    gap = Claim(
        "duality gap",
        "part of its objective by which the worst machine is above its minimum, at most",
        relative_gap,
        min(tol, LARGEST_GAP) + ROUNDING,
        "Raise max_iter, or standardize X.",
    )
    if violation is None:
        return Certificate("optimal", (gap,))
    box = Claim("dual feasibility", "part of its cost by which a dual variable leaves [0, cost]", violation, ROUNDING)
    return Certificate("optimal", (gap, box))


def prove_machines(X: Any, signs: Array, cost: Array, model: FittedMachines) -> Certificate:
    """Return the certificate; ``signs`` and ``cost`` have one row per machine and one column per row of ``X``."""
    X = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    kind = HingeLoss() if model.loss == "hinge" else SquaredHingeLoss()
    gaps, violations = [], []
    for k, u in enumerate(model.u.astype(np.float64)):
        margins = signs[k] * _scores(X, u, model.constant)
        loss = float(cost[k] @ kind.value(margins))
        norm = float(np.abs(u).sum()) if model.penalty == "l1" else 0.5 * float(u @ u)
        alpha = -cost[k] * kind.gradient(margins)
        if model.loss == "hinge":
            alpha = _signed_to_dual(model.dual, k, signs[k])
            violations.append(_violation(alpha, cost[k]))
            alpha = np.clip(alpha, 0.0, cost[k])
        bound = _dual_value(alpha, _pull(X, signs[k] * alpha, model.constant), cost[k], model)
        gaps.append(max(0.0, norm + loss - bound) / max(norm + loss, np.finfo(float).tiny))
    return certificate_of(max(gaps), max(violations) if violations else None, model.tol)


def _dual_value(alpha: Array, v: Array, cost: Array, model: FittedMachines) -> float:
    total = float(alpha.sum())
    if model.loss == "hinge":
        return total - 0.5 * float(v @ v)
    squares = float(np.sum(alpha[cost > 0.0] ** 2 / cost[cost > 0.0])) / 4.0
    if model.penalty == "l2":
        return total - squares - 0.5 * float(v @ v)
    if squares == 0.0:
        return 0.0
    shrink = min(total / (2.0 * squares), 1.0 / max(float(np.abs(v).max()), np.finfo(float).tiny))
    return shrink * total - shrink**2 * squares


def _signed_to_dual(dual: Array | None, k: int, signs: Array) -> Array:
    """Return the dual variables of one machine, of which ``dual_coef_`` holds the product with the signs."""
    if dual is None or dual.shape[1] != len(signs):
        return np.full(len(signs), np.nan)
    return np.asarray(dual[k] * signs, dtype=np.float64)


def _violation(alpha: Array, cost: Array) -> float:
    outside = np.maximum(-alpha, alpha - cost)
    return float(np.max(np.maximum(outside, 0.0) / np.where(cost > 0.0, cost, 1.0)))


def _scores(X: Any, u: Array, constant: float) -> Array:
    return np.asarray(X @ u[: X.shape[1]]) + (constant * u[-1] if constant else 0.0)


def _pull(X: Any, r: Array, constant: float) -> Array:
    return np.append(np.asarray(X.T @ r), constant * r.sum() if constant else 0.0)
