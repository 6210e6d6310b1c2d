"""The step that proximal and accelerated methods share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

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


class ProximalState(NamedTuple):
    """The iterate, the last step size and the number of steps."""

    x: Array
    step_size: float
    t: int


@dataclass(frozen=True)
class ProximalGradient:
    r"""A gradient step on the smooth part, then the proximal step of the penalty.

    .. math:: x_{t+1} = \mathrm{prox}_{\eta h}\bigl(x_t - \eta\,\nabla f(x_t)\bigr)

    With the penalty :math:`\alpha\|x\|_1` it is ISTA, with a box it is projected gradient descent. For convex
    problems :math:`F(x_t) - F^* \le \|x_0 - x^*\|^2 / (2\eta t)`.

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    step_size: float | Schedule | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.step_size is not None:
            as_schedule(self.step_size)

    @property
    def descends(self) -> bool:
        """Its own step sizes never overshoot."""
        return self.step_size is None

    def start(self, oracle: Oracle, x: Array) -> ProximalState:
        """Return the first state."""
        return ProximalState(x, 1.0, 0)

    def step(self, oracle: Oracle, state: ProximalState) -> ProximalState:
        """Take one proximal step."""
        moved = proximal_step(oracle, oracle.at(state.x), self.step_size, state.step_size, state.t)
        return ProximalState(moved.x, moved.step_size, state.t + 1)


class FISTAState(NamedTuple):
    """The iterate, the point ahead of it, the weight of the momentum, the last step size and the number of steps."""

    x: Array
    ahead: Array
    weight: float
    step_size: float
    t: int


@dataclass(frozen=True)
class FISTA:
    r"""Proximal steps from a point ahead of the iterate.

    .. math::
        x_{t+1} = \mathrm{prox}_{\eta h}\bigl(y_t - \eta\,\nabla f(y_t)\bigr), \qquad
        w_{t+1} = \tfrac12\bigl(1 + \sqrt{1 + 4 w_t^2}\bigr), \qquad
        y_{t+1} = x_{t+1} + \frac{w_t - 1}{w_{t+1}}(x_{t+1} - x_t)

    For convex problems :math:`F(x_t) - F^* \le 2\|x_0 - x^*\|^2 / (\eta\,(t + 1)^2)`: one order better than without
    looking ahead (Beck and Teboulle, 2009).

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    step_size: float | Schedule | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = True
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.step_size is not None:
            as_schedule(self.step_size)

    def start(self, oracle: Oracle, x: Array) -> FISTAState:
        """Return the first state, with nothing ahead."""
        return FISTAState(x, x, 1.0, 1.0, 0)

    def step(self, oracle: Oracle, state: FISTAState) -> FISTAState:
        """Take one proximal step and look ahead."""
        moved = proximal_step(oracle, oracle.at(state.ahead), self.step_size, state.step_size, state.t)
        weight = (1 + math.sqrt(1 + 4 * state.weight**2)) / 2
        ahead = moved.x + (state.weight - 1) / weight * (moved.x - state.x)
        return FISTAState(moved.x, ahead, weight, moved.step_size, state.t + 1)


@dataclass(frozen=True)
class AcceleratedGradient(FISTA):
    r"""The optimal first-order method for smooth convex functions.

    .. math::
        x_{t+1} = y_t - \eta\,\nabla f(y_t), \qquad y_{t+1} = x_{t+1} + \beta_t(x_{t+1} - x_t)

    If the problem knows its :math:`\mu > 0`, :math:`\beta = (1 - \sqrt{\mu\eta}) / (1 + \sqrt{\mu\eta})` and
    :math:`f(x_t) - f^* \le (1 - \sqrt{\mu\eta})^t\bigl(f(x_0) - f^* + \frac\mu2\|x_0 - x^*\|^2\bigr)`. Otherwise
    :math:`\beta_t` is that of :class:`FISTA`, with its rate :math:`1/t^2`.

    Parameters
    ----------
    step_size : float or Schedule, default=None
        Without it :math:`1/L`, and if :math:`L` is not known, found by halving.
    """

    takes_penalty: ClassVar[bool] = False

    def step(self, oracle: Oracle, state: FISTAState) -> FISTAState:
        """Take one gradient step and look ahead."""
        mu = oracle.problem.strong_convexity
        if not mu:
            return super().step(oracle, state)
        moved = proximal_step(oracle, oracle.at(state.ahead), self.step_size, state.step_size, state.t)
        root = math.sqrt(mu * moved.step_size)
        ahead = moved.x + (1 - root) / (1 + root) * (moved.x - state.x)
        return FISTAState(moved.x, ahead, 1.0, moved.step_size, state.t + 1)
