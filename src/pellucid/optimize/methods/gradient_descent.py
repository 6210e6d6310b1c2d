"""Gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from pellucid.core.types import Array
from pellucid.optimize.line_searches import Backtracking, FixedStep, LineSearch
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point
from pellucid.optimize.schedules import Schedule, as_schedule

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
