"""Backtracking: shrink the step until the function has fallen enough."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.checks import check_positive
from pellucid.core.types import Array
from pellucid.optimize.line_searches.line_search import slope_along
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point

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
