"""No search at all: a step size that is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.core.types import Array
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point
from pellucid.optimize.schedules import Schedule, as_schedule


@dataclass(frozen=True)
class FixedStep:
    r"""Go to :math:`x + \eta_t d`, whatever the function does there."""

    step_size: float | Schedule

    def __post_init__(self) -> None:
        as_schedule(self.step_size)

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the point one step further."""
        return oracle.at(point.x + as_schedule(self.step_size)(t) * direction)
