"""Strong Wolfe line search: bracket a minimum of the line, then narrow the bracket by cubic interpolation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from pellucid.core.arrays import precision_of
from pellucid.core.types import Array
from pellucid.optimize.line_searches.line_search import NO_LOWER, slope_along
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point

MOST_TRIALS = 60
MARGIN = 0.1
"""A new trial keeps this share of the bracket away from its ends, so that the bracket shrinks."""
GROWTH = 4.0
"""By how much a trial exceeds the last one while no bracket is known."""


class TriedStep(NamedTuple):
    """A step with value and slope there."""

    step: float
    value: float
    slope: float
    point: Point


@dataclass(frozen=True)
class StrongWolfe:
    r"""Find a step at which the function has fallen enough and the slope has flattened enough.

    .. math:: f(x + t d) \le f(x) + c_1\,t\,\nabla f(x)'d, \qquad |\nabla f(x + t d)'d| \le c_2\,|\nabla f(x)'d|

    Where rounding hides the fall of the function, the first condition is replaced by its limit on slopes,
    :math:`\nabla f(x + td)'d \le (2c_1 - 1)\nabla f(x)'d` (Hager and Zhang, 2005): slopes keep their digits longer.

    Parameters
    ----------
    decrease : float, default=1e-4
        :math:`c_1`, between 0 and ``curvature``.
    curvature : float, default=0.9
        :math:`c_2`, below 1: 0.9 for Newton-like directions, 0.1 for conjugate gradients.
    """

    decrease: float = 1e-4
    curvature: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.decrease < self.curvature < 1:
            raise ValueError(
                f"decrease and curvature must satisfy 0 < decrease < curvature < 1, got {self.decrease!r} and "
                f"{self.curvature!r}."
            )

    def search(self, oracle: Oracle, point: Point, direction: Array, first: float, t: int) -> Point:
        """Return the first trial that meets both conditions, or failing that the lowest."""
        start = TriedStep(0.0, point.value, slope_along(point, direction), point)
        low, high, step = start, None, first
        for _ in range(MOST_TRIALS):
            trial = _try(oracle, point, direction, step)
            if not math.isfinite(trial.value + trial.slope):
                high = trial
            elif self._accepts(trial, start):
                return trial.point
            elif trial.value > start.value + self.decrease * step * start.slope or trial.value >= low.value:
                high = trial
            else:
                if trial.slope * (step - low.step) >= 0:  # the minimum lies between the two
                    high = low
                low = trial
            step = _next_step(low, high)
            if high is not None and abs(high.step - low.step) <= _spacing(point, direction):
                break
        if low is start:
            raise NoStep(NO_LOWER)
        return low.point

    def _accepts(self, trial: TriedStep, start: TriedStep) -> bool:
        if abs(trial.slope) > -self.curvature * start.slope:
            return False
        if trial.value <= start.value + self.decrease * trial.step * start.slope:
            return True
        rounding = 10 * precision_of(start.point.x) * abs(start.value)
        return trial.value <= start.value + rounding and trial.slope <= (2 * self.decrease - 1) * start.slope


def _try(oracle: Oracle, point: Point, direction: Array, step: float) -> TriedStep:
    there = oracle.at(point.x + step * direction)
    return TriedStep(step, there.value, float(there.gradient @ direction), there)


def _next_step(low: TriedStep, high: TriedStep | None) -> float:
    """Return the next trial: inside the bracket, or further out while there is none."""
    if high is None:
        return GROWTH * low.step
    width = high.step - low.step
    if not math.isfinite(high.value + high.slope):
        return low.step + MARGIN * width
    guess = _cubic_minimum(low, high)
    nearest, farthest = sorted((low.step + MARGIN * width, high.step - MARGIN * width))
    return min(max(guess, nearest), farthest) if math.isfinite(guess) else low.step + width / 2


def _cubic_minimum(a: TriedStep, b: TriedStep) -> float:
    """Return the minimum of the cubic with the values and slopes of the two trials, or nan."""
    width = b.step - a.step
    mean = 3 * (b.value - a.value) / width
    twist = a.slope + b.slope - mean
    square = twist * twist - a.slope * b.slope
    if square < 0:
        return math.nan
    root = math.copysign(math.sqrt(square), width)
    denominator = b.slope - a.slope + 2 * root
    return math.nan if denominator == 0 else b.step - width * (b.slope + root - twist) / denominator


def _spacing(point: Point, direction: Array) -> float:
    """Return the change of step that moves no coordinate any more."""
    return 1e-16 * (1 + float(abs(point.x).max())) / max(float(abs(direction).max()), 1e-300)
