"""The minimum of the squared hinge objective along a line: the root of a rising, piecewise linear slope."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.svm.linear_svc.margin_problem import MarginProblem

ROOT = 1e-10
"""Part of the first slope that the slope at the root may have."""


def line_minimum(problem: MarginProblem, margins: Array, slopes: Array, linear: float, quadratic: float) -> float:
    """Return the ``s >= 0`` of least ``s linear + s^2 quadratic / 2 + loss(margins + s slopes)``; 0 if none helps."""
    low, high, s, first = 0.0, np.inf, 1.0, _slope(problem, margins, slopes, linear, quadratic, 0.0)[0]
    if not first < 0.0:
        return 0.0
    for _ in range(100):
        value, curvature = _slope(problem, margins, slopes, linear, quadratic, s)
        if abs(value) <= -ROOT * first:
            return s
        low, high = (s, high) if value < 0.0 else (low, s)
        newton = s - value / curvature if curvature > 0.0 else np.inf
        if not low < newton < high:
            newton = 0.5 * (low + high) if high < np.inf else 2.0 * s
        s = newton
    return low


def _slope(
    problem: MarginProblem, margins: Array, slopes: Array, linear: float, quadratic: float, s: float
) -> tuple[float, float]:
    """Return the first and second derivative at ``s``."""
    short = np.maximum(1.0 - margins - s * slopes, 0.0)
    pulled = problem.cost * slopes
    first = linear + s * quadratic - 2.0 * float(pulled @ short)
    return first, quadratic + 2.0 * float((pulled * slopes) @ (short > 0.0))
