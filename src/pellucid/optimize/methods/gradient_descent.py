"""Gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.line_searches import Backtracking, FixedStep, LineSearch
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point, Problem
from pellucid.optimize.schedules import InverseRoot, InverseTime, Schedule, as_schedule
from pellucid.proofs.certificate import Certificate, Claim

GROWTH = 2.0
"""The first trial of a line search is the last accepted step times this, so that steps can grow again."""


class DescentState(NamedTuple):
    """The iterate, its value and gradient, the count, and the step to try first."""

    x: Array
    point: Point
    t: int
    first: float


@dataclass(frozen=True)
class GradientDescent:
    r"""Go downhill along the negative gradient.

    .. math:: x_{t+1} = x_t - \eta_t\,\nabla f(x_t)

    Parameters
    ----------
    step_size : float, Schedule or LineSearch, default=Backtracking()
        A number, a schedule, or a search along the line: ``Backtracking``, ``StrongWolfe``, or ``ExactStep`` for
        quadratics.
    """

    step_size: float | Schedule | LineSearch = Backtracking()

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not isinstance(self.step_size, LineSearch):
            as_schedule(self.step_size)

    @property
    def descends(self) -> bool:
        """A line search promises it, a fixed step does not."""
        return isinstance(self.step_size, LineSearch) and not isinstance(self.step_size, FixedStep)

    def start(self, oracle: Oracle, x: Array) -> DescentState:
        """Return the first state; the first trial moves the fastest coordinate by 1."""
        point = oracle.at(x)
        return DescentState(x, point, 0, 1.0 / _largest(point.gradient))

    def step(self, oracle: Oracle, state: DescentState) -> DescentState:
        """Take one step downhill."""
        search = self.step_size if isinstance(self.step_size, LineSearch) else FixedStep(self.step_size)
        point = search.search(oracle, state.point, -state.point.gradient, state.first, state.t)
        accepted = _largest(point.x - state.x) / _largest(state.point.gradient)
        return DescentState(point.x, point, state.t + 1, GROWTH * accepted)


def _largest(vector: Array) -> float:
    return max(float(abs(vector).max()), 1e-300)


class StochasticState(NamedTuple):
    """The iterate and the number of steps."""

    x: Array
    t: int


@dataclass(frozen=True)
class StochasticGradient:
    r"""Step along the gradient of a few terms, drawn without replacement and shuffled anew each epoch.

    .. math:: x_{t+1} = x_t - \eta_t\,\frac1{|B_t|}\sum_{i \in B_t}\nabla f_i(x_t)

    The mean over all batches is the whole gradient, so the step is right on average; its noise does not vanish at
    the minimum, so the step size must. ``minimize(..., batch_size=1)`` chooses the batches.

    Parameters
    ----------
    step_size : float or Schedule, default=InverseTime(0.1, decay=0.01)
        :math:`\eta_t`, with :math:`t` counting batches.
    """

    step_size: float | Schedule = InverseTime(0.1, decay=0.01)

    takes_batches: ClassVar[bool] = True
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_schedule(self.step_size)

    def start(self, oracle: Oracle, x: Array) -> StochasticState:
        """Return the first state."""
        return StochasticState(x, 0)

    def step(self, oracle: Oracle, state: StochasticState) -> StochasticState:
        """Take one step along the gradient of the current batch."""
        eta = as_schedule(self.step_size)(state.t)
        return StochasticState(state.x - eta * oracle.gradient(state.x), state.t + 1)


class SubgradientState(NamedTuple):
    r"""Best point and value so far, current point, :math:`\sum\eta`, :math:`\sum\eta^2\|g\|^2`, count, first bound."""

    x: Array
    best: float
    current: Array
    steps: float
    squares: float
    t: int
    first_bound: float = math.inf


@dataclass(frozen=True)
class Subgradient:
    r"""Step along any subgradient. The value may rise, so the best point so far is the answer.

    .. math:: x_{t+1} = x_t - \eta_t\,g_t, \quad g_t \in \partial f(x_t), \qquad
        \min_{s \le t} f(x_s) - f^* \le \frac{\|x_0 - x^*\|^2 + \sum_s\eta_s^2\|g_s\|^2}{2\sum_s\eta_s}

    Parameters
    ----------
    step_size : float or Schedule, default=InverseRoot(1.0)
        A number, or a schedule that gives one for each step.
    radius : float, default=None
        A bound on :math:`\|x_0 - x^*\|`. With it, and a problem declared convex, the certificate
        states the bound above.
    """

    step_size: float | Schedule = InverseRoot(1.0)
    radius: float | None = None

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = True

    def __post_init__(self) -> None:
        as_schedule(self.step_size)
        if self.radius is not None:
            check_positive(radius=self.radius)

    def start(self, oracle: Oracle, x: Array) -> SubgradientState:
        """Return the first state, which has not moved."""
        return SubgradientState(x, oracle.at(x).value, x, 0.0, 0.0, 0)

    def step(self, oracle: Oracle, state: SubgradientState) -> SubgradientState:
        """Step, and remember the best point."""
        gradient, eta = oracle.at(state.current).gradient, as_schedule(self.step_size)(state.t)
        current = state.current - eta * gradient
        value = oracle.at(current).value
        x, best = (current, value) if value < state.best else (state.x, state.best)
        steps, squares = state.steps + eta, state.squares + eta**2 * float(gradient @ gradient)
        first_bound = state.first_bound if state.t else ((self.radius or 0.0) ** 2 + squares) / (2 * steps)
        return SubgradientState(x, best, current, steps, squares, state.t + 1, first_bound)

    def certificate(self, problem: Problem, state: SubgradientState) -> Certificate:
        """Return the bound of the theorem above, or why there is none."""
        if self.radius is None or problem.strong_convexity is None:
            return Certificate(
                "none",
                reason="A subgradient need not vanish at a minimum. For a bound give radius to Subgradient and "
                "strong_convexity to the problem: 0 says that it is convex.",
            )
        if not state.t:
            return Certificate("none", reason="No step was taken.")
        gap = (self.radius**2 + state.squares) / (2 * state.steps)
        statement = (
            "the objective is at most this far above its minimum; the bound is the guarantee after the first step"
        )
        return Certificate("bounded", (Claim("gap", statement, gap, state.first_bound),))
