r"""Half the squared norm plus a loss with kinks, by Newton's method on smoothings around the last dual point.

A loss :math:`\max_p\ p'r` is smoothed by :math:`\tfrac\delta2\|p - q\|^2`, where :math:`q` is the best :math:`p`
found so far: the method of multipliers. Unlike a smoothing around a fixed point it leaves the minimum where it is, so
that :math:`\delta` need not get small, and the equations stay easy.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

from pellucid.numerics.newton_descent import Effort, Found, SmoothedProblem, newton_descent

SHRINK, LEAST_SMOOTHING = 0.3, 1e-8
"""Part of the smoothing that the next one is, and where to give up."""


class CenteredProblem(SmoothedProblem, Protocol):
    """A smoothed problem that knows the dual point around which it is smoothed."""

    def centered_at(self, loss: Any) -> Self:
        """Return the problem smoothed around the dual point of this loss."""
        ...


def centered_newton(problem: CenteredProblem, found: Found, effort: Effort) -> Found:
    """Return what was found, with the weights moved on from ``found.smoothed`` to the minimum."""
    while True:
        is_stopped = newton_descent(problem, found, effort)
        if is_stopped or found.gap <= effort.goal * found.objective or found.smoothing <= LEAST_SMOOTHING:
            return found
        problem = problem.centered_at(found.loss)
        found.smoothing *= SHRINK
