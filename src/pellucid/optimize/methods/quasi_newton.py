"""What the quasi-Newton methods with a whole matrix share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from array_api_compat import array_namespace, device

from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point

Update = Callable[[Array, Array, Array], Array]
"""From the inverse Hessian, the step ``s`` and the change of gradient ``y`` to the new inverse Hessian."""

CURVED = 1e-10
"""Least cosine between step and change of gradient for which the update is trusted."""


class QuasiNewtonState(NamedTuple):
    """The iterate, its value and gradient, the approximate inverse Hessian, and the number of steps."""

    x: Array
    point: Point
    inverse: Array
    t: int


def first_state(oracle: Oracle, x: Array) -> QuasiNewtonState:
    """Return the first state, with the identity for the inverse Hessian."""
    xp = array_namespace(x)
    return QuasiNewtonState(x, oracle.at(x), xp.eye(x.shape[0], dtype=x.dtype, device=device(x)), 0)


def quasi_newton_step(
    oracle: Oracle, state: QuasiNewtonState, line_search: LineSearch, update: Update
) -> QuasiNewtonState:
    """Search along the quasi-Newton direction and learn from what was found there.

    Before its first update the identity is scaled to the curvature just seen, so that later first trials of 1 fit.
    """
    inverse, gradient = state.inverse, state.point.gradient
    direction = -(inverse @ gradient)
    if not float(direction @ gradient) < 0:  # rounding has ruined the matrix: start over
        state = first_state(oracle, state.x)
        inverse, direction = state.inverse, -gradient
    first = 1.0 if state.t else first_trial(state.point)
    point = line_search.search(oracle, state.point, direction, first, state.t)
    s, y = point.x - state.x, point.gradient - gradient
    curvature = float(s @ y)
    if curvature > CURVED * float(s @ s) ** 0.5 * float(y @ y) ** 0.5:
        if state.t == 0:
            inverse = inverse * (curvature / float(y @ y))
        inverse = update(inverse, s, y)
    return QuasiNewtonState(point.x, point, inverse, state.t + 1)


def first_trial(point: Point) -> float:
    """Return the first step along the gradient, of length 1 at most."""
    return min(1.0, 1.0 / max(float(point.gradient @ point.gradient) ** 0.5, 1e-300))
