r"""What bridge regression claims, and the proof of it from the data alone.

For :math:`q \ge 1` the problem is convex. With :math:`N = \sum_i s_i`, any :math:`\theta` bounds the minimum from
below:

.. math:: \theta'b - \tfrac{N}{2}\|\theta\|^2 - \sum_j \omega^*(a_j'\theta), \qquad
          \omega^*(v) = \alpha (q - 1)\left(\frac{|v|}{\alpha q}\right)^{q/(q-1)}

(for :math:`q = 1`, :math:`\omega^*` is 0 where :math:`|v| \le \alpha` and infinite elsewhere). The proof takes the best
multiple of :math:`\theta = (b - Aw)/N`. Rounding of :math:`w` changes that bound in proportion, though the objective
by its square only; so where Newton's step is no longer than rounding, it also takes the residual after that step. For
:math:`q < 1` the problem is not convex and only this is claimed: no change of one coefficient lowers the objective.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import svd
from scipy.optimize import brentq, minimize_scalar

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.linear_model.least_squares import intercept_evidence
from pellucid.proofs.rounding import EPSILON, rounding_unit
from pellucid.proofs.rows import weighted_mean
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

REMEDY = "Raise max_iter or tol, or standardize X."


def bridge_objective(residual: Array, w: Array, alpha: float, q: float, total: float) -> float:
    """Return ``|r|^2 / (2 N) + alpha sum |w_j|^q``."""
    return float(residual @ residual / (2 * total) + alpha * np.sum(np.abs(w) ** q))


def bridge_gap(
    b: Array, residual: Array, correlations: Array, w: Array, alpha: float, q: float, total: float, witness: Any = None
) -> float:
    """Return objective minus the best lower bound along ``theta = t r / N``, of which ``correlations`` is ``A'r``.

    Another vector may be the witness in place of the residual, with its own correlations.
    """
    witness = residual if witness is None else witness
    objective = bridge_objective(residual, w, alpha, q, total)
    slopes = np.abs(correlations) / total
    linear, quadratic = float(witness @ b) / total, float(witness @ witness) / total

    def bound(t: float) -> float:
        return t * linear - 0.5 * t * t * quadratic - _conjugate(t * slopes, alpha, q)

    if q == 1.0:
        reach = min(1.0, alpha / slopes.max()) if slopes.max(initial=0.0) > 0 else 1.0
        best = max(bound(reach), bound(np.clip(linear / quadratic, 0.0, reach)) if quadratic > 0 else 0.0)
    else:
        best = max(bound(1.0), -minimize_scalar(lambda t: -bound(t), bounds=(0.0, 1.0), method="bounded").fun)
    return objective - max(best, 0.0)


def coordinate_gain(correlations: Array, sq_norms: Array, w: Array, alpha: float, q: float, total: float) -> float:
    """Return the most that changing one coefficient can lower the objective, for ``q < 1``."""
    gains = [
        _scalar_gain(a / total, (g + a * v) / total, float(v), alpha, q)
        for a, g, v in zip(sq_norms, correlations, w, strict=True)
        if a > 0
    ]
    return max(gains, default=0.0)


def prove_bridge(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate recomputed in float64 from the data."""
    alpha, q = parameters.alpha, parameters.q
    w, y = np.asarray(fitted.coef_, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    A = dense(data.X).astype(np.float64)
    weight = data.weights
    total, mean, y_mean = float(weight.sum()), np.zeros(len(w)), 0.0
    if parameters.fit_intercept:
        mean, y_mean = weighted_mean(A, weight), float(weighted_mean(y, weight))
    root = np.sqrt(weight)
    A, b = root[:, None] * (A - mean), root * (y - y_mean)
    residual = b - A @ w
    correlations = A.T @ residual
    if q >= 1.0:
        value = bridge_gap(b, residual, correlations, w, alpha, q, total)
        step, norms = _newton_step(A, correlations, w, alpha, q, total), np.linalg.norm(A, axis=0)
        if np.all(norms * np.abs(step) <= rounding_unit(data.dtype) * float(norms @ np.abs(w))):
            nearby = residual - A @ step
            value = min(value, bridge_gap(b, residual, A.T @ nearby, w, alpha, q, total, nearby))
    else:
        value = coordinate_gain(correlations, np.sum(A**2, axis=0), w, alpha, q, total)
    offset = _intercept_claim(fitted, parameters, mean, y_mean, float(np.linalg.norm(b)) / np.sqrt(total), data.dtype)
    # a part of the objective at 0, and no less than rounding of coef_ allows
    bound = float(max(parameters.tol, 4 * np.finfo(data.dtype).eps) * (b @ b) / (2 * total))
    if q >= 1.0:  # a gap below 0, by as much as it may be above, is an error of the lower bound
        said = "the objective is at most this far above its minimum"
        return Certificate("optimal", (Claim("duality gap", said, abs(value), bound, REMEDY), offset))
    said = "the most that changing one coefficient can lower the objective"
    reason = "q < 1 is not convex: there may be better minima far away."
    return Certificate("stationary", (Claim("coordinate gain", said, value, bound, REMEDY), offset), reason)


def _intercept_claim(fitted: Seen, parameters: Seen, mean: Array, y_mean: float, spread: float, dtype: Any) -> Claim:
    intercept, w = np.array([float(fitted.intercept_)]), np.asarray(fitted.coef_, dtype=np.float64)[:, None]
    if not parameters.fit_intercept:
        return Claim("intercept", "size of intercept_: there is none", float(np.abs(intercept[0])), 0.0)
    off = intercept_evidence(intercept, w, mean, np.array([y_mean]), np.array([spread]))
    return Claim("intercept", "mean residual, relative to the size of its terms", off, rounding_unit(dtype), REMEDY)


def _newton_step(A: Array, correlations: Array, w: Array, alpha: float, q: float, total: float) -> Array:
    """Return the step of Newton's method on the coefficients that are not 0, as a change of all coefficients."""
    step, support = np.zeros_like(w), np.flatnonzero(w)
    if len(support) == 0:
        return step
    size = np.abs(w[support])
    with np.errstate(over="ignore", invalid="ignore"):
        slope = alpha * q * size ** (q - 1.0) * np.sign(w[support]) - correlations[support] / total
        bend = alpha * q * (q - 1.0) * size ** (q - 2.0)
        root = np.vstack([A[:, support] / np.sqrt(total), np.diag(np.sqrt(bend))])  # its square is the Hessian
        scale = np.linalg.norm(root, axis=0)
    if np.all(np.isfinite(scale)) and np.all(scale > 0.0):
        _, s, right = svd(root / scale, full_matrices=False)
        kept = s > len(s) * EPSILON * s[0]
        step[support] = -(right[kept].T / s[kept] ** 2) @ (right[kept] @ (slope / scale)) / scale
    return step


def _conjugate(v: Array, alpha: float, q: float) -> float:
    if q == 1.0:
        return 0.0  # the caller keeps v within alpha
    with np.errstate(over="ignore"):
        return float(alpha * (q - 1.0) * np.sum((v / (alpha * q)) ** (q / (q - 1.0))))


def _scalar_gain(a: float, c: float, w: float, alpha: float, q: float) -> float:
    """Return how far ``a v^2 / 2 - c v + alpha |v|^q`` at ``v = w`` lies above its minimum over ``v``."""

    def value(v: float) -> float:
        return 0.5 * a * v * v - abs(c) * v + alpha * v**q

    turn = (alpha * q * (1.0 - q) / a) ** (1.0 / (2.0 - q))
    best = 0.0

    def slope(v: float) -> float:
        return a * v - abs(c) + alpha * q * v ** (q - 1.0)

    if turn < abs(c) / a and slope(turn) < 0.0:
        best = min(best, value(brentq(slope, turn, abs(c) / a, xtol=1e-300, rtol=8.9e-16)))
    own = 0.5 * a * w * w - c * w + alpha * abs(w) ** q
    return max(own - best, 0.0)


PROVES = {"BridgeRegression": prove_bridge}
