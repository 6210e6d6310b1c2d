"""The step that proximal and accelerated methods share."""

from __future__ import annotations

import math
from typing import NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point
from pellucid.optimize.schedules import Schedule, as_schedule

MOST_HALVINGS = 100


class Moved(NamedTuple):
    """Where a step led, and how long it was."""

    x: Array
    step_size: float


def proximal_step(oracle: Oracle, point: Point, step_size: float | Schedule | None, last: float, t: int) -> Moved:
    r"""Return :math:`x^+ = \mathrm{prox}_{\eta h}(x - \eta\nabla f(x))`; without a penalty that is a gradient step.

    The step size is the one given, else :math:`1/L` if the problem knows its :math:`L`, else the last one, halved until
    the parabola it stands for lies above the function:

    .. math:: f(x^+) \le f(x) + \nabla f(x)'(x^+ - x) + \tfrac1{2\eta}\|x^+ - x\|^2
    """
    if step_size is not None:
        last = as_schedule(step_size)(t)
    elif oracle.problem.smoothness is not None:
        last = 1.0 / oracle.problem.smoothness
    else:
        return _searched(oracle, point, last)
    return Moved(_prox(oracle, point.x - last * point.gradient, last), last)


def _searched(oracle: Oracle, point: Point, step: float) -> Moved:
    for _ in range(MOST_HALVINGS):
        x = _prox(oracle, point.x - step * point.gradient, step)
        move = x - point.x
        above = point.value + float(point.gradient @ move) + float(move @ move) / (2 * step)
        value = oracle.value(x)
        if math.isfinite(value) and value <= above + 1e-15 * abs(above):
            return Moved(x, step)
        step /= 2
    raise NoStep("no step size, however small, makes the parabola lie above the function: check the gradient")


def _prox(oracle: Oracle, x: Array, step: float) -> Array:
    penalty = oracle.problem.penalty
    return x if penalty is None else penalty.prox(x, step)
