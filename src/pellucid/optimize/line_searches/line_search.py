"""What every line search looks like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point
from pellucid.optimize.schedules import Schedule, as_schedule


@runtime_checkable
class LineSearch(Protocol):
    r"""Finds a step :math:`t > 0` along a direction :math:`d` and returns the point :math:`x + t d`.

    Parameters
    ----------
    *args, **kwargs
        Those of a class of this kind: a protocol says what it must have, and is not made itself.
    """

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the point to go to; ``first`` is the step to try first, ``t`` counts the iterations."""
        ...


def slope_along(point: Point, direction: Array) -> float:
    r"""Return :math:`\nabla f(x)'d`, which must be negative for a line search to have a chance.

    Parameters
    ----------
    point : Point
        Where the line begins, with its gradient.
    direction : array of shape (n,)
        Where it leads, of any length.
    """
    slope = float(point.gradient @ direction)
    if not slope < 0:
        raise NoStep(f"the direction does not lead downhill, its slope is {slope:.3g}")
    return slope


MOST_TRIALS = 60


@dataclass(frozen=True)
class Backtracking:
    r"""Multiply :math:`t` by ``shrink`` until Armijo's condition holds.

    .. math:: f(x + t d) \le f(x) + c\,t\,\nabla f(x)'d

    Parameters
    ----------
    shrink : float, default=0.5
        Between 0 and 1.
    decrease : float, default=1e-4
        The share :math:`c` of the decrease promised by the slope.
    first : float, default=None
        Step to try first; without it the method's own, which is 1 for Newton directions.
    """

    shrink: float = 0.5
    decrease: float = 1e-4
    first: float | None = None

    def __post_init__(self) -> None:
        for name in ("shrink", "decrease"):
            if not 0 < getattr(self, name) < 1:
                raise ValueError(f"{name} must be between 0 and 1, got {getattr(self, name)!r}.")
        if self.first is not None:
            check_positive(first=self.first)

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the first trial that falls enough; a value that is not finite counts as too high."""
        slope = slope_along(point, direction)
        step = self.first or first
        for _ in range(MOST_TRIALS):
            x = point.x + step * direction
            value = oracle.value(x)
            if value < point.value and value <= point.value + self.decrease * step * slope:
                return oracle.at(x)
            step *= self.shrink
        raise NoStep(NO_LOWER)


NO_LOWER = (
    "no step along the direction lowers the objective: it is lowest up to rounding, or the gradient is wrong "
    "(check_gradient=True finds out)"
)


@dataclass(frozen=True)
class ExactStep:
    r"""Go to the minimum along the line, which has a formula on a quadratic.

    .. math:: t = -\frac{\nabla f(x)'d}{d'Ad}
    """

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the lowest point of the line."""
        if not oracle.problem.is_quadratic:
            raise ValueError("problem must be quadratic for ExactStep, got one that does not say so. Use StrongWolfe.")
        slope = slope_along(point, direction)
        curvature = float(direction @ oracle.hessian_product(point.x, direction))
        if curvature <= 0:
            raise NoStep(f"the objective falls without end along the line: its curvature there is {curvature:.3g}")
        return oracle.at(point.x - slope / curvature * direction)


@dataclass(frozen=True)
class FixedStep:
    r"""Go to :math:`x + \eta_t d`, whatever the function does there."""

    step_size: float | Schedule
    r"""A number :math:`\eta` above 0, or a schedule that gives one for each iteration."""

    def __post_init__(self) -> None:
        as_schedule(self.step_size)

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the point one step further."""
        return oracle.at(point.x + as_schedule(self.step_size)(t) * direction)
