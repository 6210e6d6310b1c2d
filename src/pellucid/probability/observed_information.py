r"""Gradient and Hessian of a log likelihood by central differences whose steps fit the function.

A step of :math:`t` standard errors changes a log likelihood by about :math:`t^2 / 2`, whatever the units of the
parameter. So the standard error of each parameter alone is found first, and differences are then taken over a small
part of it, twice, so that the leading error of the formula cancels (Richardson).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.core.types import Array

LEAST_CHANGE, MOST_CHANGE = 1e-4, 1.0
"""Second difference of the log likelihood between which a first step is good enough to measure curvature."""

MOST_TRIALS = 80

SHORTEST, LONGEST = 0.01, 0.3
"""Steps of the final differences, in standard errors."""

WORST_CONDITION = 1e6
"""Curvatures that differ by more, the diagonal scaled to 1, are noise of the differences."""


class Curvature(NamedTuple):
    """Gradient and Hessian of a function, and the scale of each parameter that the steps were chosen by."""

    gradient: Array
    hessian: Array
    scale: Array


def curvature(value: Callable[[Array], float], theta: Array) -> Curvature:
    """Return the derivatives of minus a log likelihood near its minimum."""
    center = value(theta)
    scale = np.array([_scale(value, theta, j, center) for j in range(len(theta))])
    rounding = np.finfo(np.float64).eps * max(1.0, abs(center))
    step = scale * float(np.clip(rounding ** (1 / 6), SHORTEST, LONGEST))
    coarse, fine = _differences(value, theta, step, center), _differences(value, theta, step / 2, center)
    gradient, hessian = ((4 * near - far) / 3 for far, near in zip(coarse, fine, strict=True))
    return Curvature(gradient, hessian, scale)


def _scale(value: Callable[[Array], float], theta: Array, j: int, center: float) -> float:
    """Return the distance over which parameter ``j`` changes the log likelihood by about a half."""
    step = 1e-4 * max(1.0, abs(float(theta[j])))
    for _ in range(MOST_TRIALS):
        change = value(_moved(theta, j, step)) + value(_moved(theta, j, -step)) - 2 * center
        if not np.isfinite(change) or change > MOST_CHANGE:
            step /= 4
        elif 0 <= change < LEAST_CHANGE and step < 1e6 * max(1.0, abs(float(theta[j]))):
            step *= 3
        else:
            break
    return step / float(np.sqrt(change)) if np.isfinite(change) and change > 0 else step


def _differences(value: Callable[[Array], float], theta: Array, step: Array, center: float) -> tuple[Array, Array]:
    k = len(theta)
    right = np.array([value(_moved(theta, j, step[j])) for j in range(k)])
    left = np.array([value(_moved(theta, j, -step[j])) for j in range(k)])
    hessian = np.diag((right - 2 * center + left) / step**2)
    for i in range(k):
        for j in range(i):
            corners = [
                a * b * value(_moved(_moved(theta, i, a * step[i]), j, b * step[j])) for a in (1, -1) for b in (1, -1)
            ]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * step[i] * step[j])
    return (right - left) / (2 * step), hessian


def _moved(theta: Array, j: int, by: float) -> Array:
    moved = theta.copy()
    moved[j] += by
    return moved


def decrement(curve: Curvature) -> float:
    """Return how far Newton's step would lower the function, if it is curved upward; else infinity."""
    scaled, unit = _scaled(curve.hessian)
    if scaled is None:
        return np.inf
    step = np.linalg.lstsq(scaled, curve.gradient / unit, rcond=1 / WORST_CONDITION)[0]
    fall = 0.5 * float(step @ (curve.gradient / unit))
    return fall if fall >= 0 and np.isfinite(fall) else np.inf


def is_identified(hessian: Array) -> bool:
    """Return whether the curvature tells all parameters apart."""
    scaled, _ = _scaled(hessian)
    if scaled is None or hessian.diagonal().min() <= 0:
        return False
    least, most = np.linalg.eigvalsh(scaled)[[0, -1]]
    return bool(least > 0 and most <= WORST_CONDITION * least)


def _scaled(hessian: Array) -> tuple[Array | None, Array]:
    """Return the Hessian with a diagonal of ones, None if it is not finite, and the units that were taken out."""
    unit = np.sqrt(np.maximum(np.abs(hessian.diagonal()), np.finfo(float).tiny))
    return (hessian / np.outer(unit, unit) if np.isfinite(hessian).all() else None), unit
