"""Objective and duality gap of bridge regression along the fit, and the gain of one coefficient where q is below 1."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from pellucid.core.types import Array


def bridge_objective(residual: Array, w: Array, alpha: float, q: float, total: float) -> float:
    """Return ``|r|^2 / (2 N) + alpha sum |w_j|^q``."""
    return float(residual @ residual / (2 * total) + alpha * np.sum(np.abs(w) ** q))


def bridge_gap(b: Array, residual: Array, correlations: Array, w: Array, alpha: float, q: float, total: float) -> float:
    """Return objective minus the best lower bound along ``theta = t r / N``; ``correlations`` is ``A'r``."""
    objective = bridge_objective(residual, w, alpha, q, total)
    slopes = np.abs(correlations) / total
    linear, quadratic = float(residual @ b) / total, float(residual @ residual) / total

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


def tolerance(b: Array, tol: float, total: float, dtype: np.dtype) -> float:
    """Return the gap to reach: ``tol`` times the objective at 0, and no less than rounding of ``coef_`` allows."""
    return float(max(tol, 4 * np.finfo(dtype).eps) * (b @ b) / (2 * total))


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
