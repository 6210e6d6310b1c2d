"""Bridge regression by coordinate descent on the Gram matrix, and Newton's method where that crawls."""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import brentq, minimize_scalar

from pellucid.core.fit import Effort, Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.linear_model.bridge_kernels import bridge_pass
from pellucid.solvers.design import Design

CHECK_EVERY = 5
"""Passes between two looks at the data; a pass itself touches the Gram matrix only."""

SLOW = 0.5
"""Part of the gap that may be left from one look to the next before Newton's method is tried."""

SINGULAR = 1e-14
"""Relative size of a pivot below which columns count as dependent, and Newton's method is not tried."""

HALVINGS = 10


def bridge_cd(design: Design, b: Array, alpha: float, q: float, *, effort: Effort, start: Array | None = None) -> Fit:
    """Minimize ``|b - A w|^2 / (2 N) + alpha sum |w_j|^q``.

    For ``q < 1`` the start decides which minimum is found; without one, it is the ridge solution at the same ``alpha``.
    """
    total = design.total_weight
    gram, correlations = design.gram(), design.transposed_times(b)
    w = _start(gram, correlations, alpha * total, q) if start is None else start.astype(np.float64)
    gradient, trace = correlations - gram @ w, Trace()
    n_iter, stopped, gap_before = 0, "max_iter", np.inf
    for n_iter in range(1, effort.max_iter + 1):
        change = bridge_pass(gram, gradient, w, total * alpha, q)
        stuck = change == 0.0
        if n_iter % CHECK_EVERY and n_iter < effort.max_iter and not stuck:
            continue
        residual = b - design.times(w)
        gradient = design.transposed_times(residual)  # from the data: rounding does not pile up
        value = (
            bridge_gap(b, residual, gradient, w, alpha, q, total)
            if q >= 1.0
            else coordinate_gain(gradient, gram.diagonal(), w, alpha, q, total)
        )
        objective = bridge_objective(residual, w, alpha, q, total)
        trace.add(iteration=n_iter, objective=objective, gap=value, nonzero=int(np.count_nonzero(w)))
        trace.keep(coef=w)
        if effort.watch(w) or value <= effort.goal or stuck:
            stopped = "the gap is small" if value <= effort.goal else "nothing moves" if stuck else "callback"
            break
        if q >= 1.0 and value > SLOW * gap_before and newton_move(design, residual, gradient, w, alpha, q):
            gradient = design.transposed_times(b - design.times(w))
        gap_before = value
    return Fit({"coef_": w, "n_iter_": n_iter}, trace, stopped)


def newton_move(design: Design, residual: Array, gradient: Array, w: Array, alpha: float, q: float) -> bool:
    """Move the coefficients that are not 0 to where a step of Newton's method leads, in place; return whether it helps.

    The step ends where a coefficient becomes 0. It comes from the columns, not from their Gram matrix, which has lost
    the digits that nearly parallel columns differ in.
    """
    total, support = design.total_weight, np.flatnonzero(w)
    before, size = w[support], np.abs(w[support])
    if len(support) == 0:
        return False
    slope = alpha * q * size ** (q - 1.0) * np.sign(before) - gradient[support] / total
    bend = np.sqrt(alpha * q * (q - 1.0) * size ** (q - 2.0))
    root = np.vstack([design.columns(support) / np.sqrt(total), np.diag(bend)])
    triangle = np.asarray(np.linalg.qr(root, mode="r"))
    pivots = np.abs(triangle.diagonal())
    if pivots.min() <= SINGULAR * pivots.max():
        return False
    step = -solve_triangular(triangle, solve_triangular(triangle, slope, trans=1))
    crossing = np.where(before * step < 0.0, -before / np.where(step == 0.0, 1.0, step), np.inf)
    length, first = min(1.0, float(crossing.min())), int(np.argmin(crossing))
    objective = bridge_objective(residual, w, alpha, q, total)
    image = design.columns(support) @ step
    for _ in range(HALVINGS):
        moved = before + length * step
        if length == crossing[first]:
            moved[first] = 0.0
        if bridge_objective(residual - length * image, moved, alpha, q, total) < objective:
            w[support] = moved
            return True
        length *= 0.5
    return False


def _start(gram: Array, correlations: Array, penalty: float, q: float) -> Array:
    if q >= 1.0:
        return np.zeros(len(correlations))
    return np.linalg.solve(gram + penalty * np.eye(len(correlations)), correlations)


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
