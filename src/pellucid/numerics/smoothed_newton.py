r"""Half the squared norm plus a loss with kinks, by Newton's method on a smoothing that shrinks.

.. math:: P(w) = \tfrac12\|w\|^2 + L(f),\qquad f = Aw

The minimum :math:`w_\delta` of the smoothed problem is :math:`O(\delta)` above that of :math:`P`, but its dual point
only :math:`O(\delta^2)` below. So two smoothings are enough to guess where :math:`w_\delta` goes as
:math:`\delta \to 0`: along the line through both. The gap between the guess and the dual point says whether it is good.
"""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.newton_descent import Effort, Found, SmoothedProblem, newton_descent

SHRINK, LEAST_SMOOTHING = 0.15, 1e-8
"""Part of the smoothing that the next one is, and where to give up."""

Solved = tuple[float, Array]
"""A smoothing, and the minimum of the smoothed problem."""


def smoothed_newton(problem: SmoothedProblem, effort: Effort, *, smoothing: float) -> Found:
    """Return the minimum, found by way of this first smoothing; 0 if the loss is smooth by itself."""
    start = np.zeros(problem.size)
    found = Found(start, start, smoothing)
    earlier: Solved | None = None
    while True:
        is_stopped = newton_descent(problem, found, effort)
        if earlier is not None:
            _extrapolate(problem, found, earlier)
        missing = found.gap / (effort.goal * found.objective) if found.objective else 0.0
        if is_stopped or missing <= 1.0 or found.smoothing <= LEAST_SMOOTHING:
            return found
        here = found.smoothing, found.smoothed
        found.smoothing *= SHRINK
        if earlier is not None:
            found.smoothed = _on_line(earlier, here, found.smoothing)
        earlier = here


def _extrapolate(problem: SmoothedProblem, found: Found, earlier: Solved) -> None:
    """Move the weights to where the two smoothed minima point, if the objective is smaller there."""
    w = _on_line(earlier, (found.smoothing, found.smoothed), 0.0)
    objective = 0.5 * float(w @ w) + problem.loss(problem.scores(w), found.smoothing).value
    if objective < found.objective:
        found.w = w
        found.note(objective, max(0.0, found.gap - (found.objective - objective)))


def _on_line(earlier: Solved, here: Solved, smoothing: float) -> Array:
    """Return the weights that the line through two smoothed minima has at a smaller smoothing."""
    return here[1] + (here[0] - smoothing) / (earlier[0] - here[0]) * (here[1] - earlier[1])
