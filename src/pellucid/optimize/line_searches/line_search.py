"""What every line search looks like."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from pellucid.core.types import Array
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


@runtime_checkable
class LineSearch(Protocol):
    r"""Finds a step :math:`t > 0` along a direction :math:`d` and returns the point :math:`x + t d`."""

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the point to go to; ``first`` is the step to try first, ``t`` counts the iterations."""
        ...


def slope_along(point: Point, direction: Array) -> float:
    r"""Return :math:`\nabla f(x)'d`, which must be negative for a line search to have a chance."""
    slope = float(point.gradient @ direction)
    if not slope < 0:
        raise NoStep(f"the direction does not lead downhill, its slope is {slope:.3g}")
    return slope
