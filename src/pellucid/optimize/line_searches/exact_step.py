"""Exact line search, for quadratics."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.types import Array
from pellucid.optimize.line_searches.line_search import slope_along
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


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
