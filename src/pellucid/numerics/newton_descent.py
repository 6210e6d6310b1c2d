r"""Half the squared norm plus a smoothed loss of linear scores, by Newton's method with a search along each step.

.. math:: P_\delta(w) = \tfrac12\|w\|^2 + L_\delta(f),\qquad f = Aw

What the smoothed loss pulls at the scores is a dual point of the loss itself, so that the gap of the real problem is
known at every step: half the squared gradient, plus what the smoothing costs that dual point.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch

EXACT = 1e-24
"""Part of the objective below which what a problem leaves unsolved is surely rounding."""

SMALL, SPARE_STEPS = 1 << 16, 2
"""Entries of the data up to which we take steps beyond what is needed: they usually end at the exact minimum of a
smoothed problem, so that the answer does not depend on the way there."""

SOLVED, ROUGHLY = 0.1, 0.1
"""Part of the goal that a smoothed problem may leave unsolved, and of large data, part of what the smoothing leaves."""

FLAT, HALFWAY, SHORT_STEP, MOST_TRIALS = 0.25, 0.5, 0.1, 200
"""Part of its first slope at which a line is near enough to its minimum, part of a step that may be too much, part of a
Newton step that is short, and most points that are tried on a line."""


class SmoothLoss(Protocol):
    """A loss at some scores ``f``: its value, what it pulls at them, and what smoothing costs its dual point."""

    @property
    def f(self) -> Array:
        """The scores."""
        ...

    @property
    def value(self) -> float:
        """The loss, without smoothing."""
        ...

    @property
    def pull(self) -> Array:
        """Minus the derivative of the smoothed loss."""
        ...

    @property
    def excess(self) -> float:
        """The loss less what the dual point makes of it."""
        ...

    def bend_along(self, slopes: Array) -> float:
        """Return the second derivative of the smoothed loss along a direction of the scores."""
        ...


class SmoothedProblem(Protocol):
    """A loss of linear scores, with a smoothing of any width; 0 means that there is nothing to smooth."""

    @property
    def size(self) -> int:
        """Number of weights."""
        ...

    @property
    def entries(self) -> int:
        """Number of entries of the data."""
        ...

    def scores(self, w: Array) -> Array:
        """Return ``A w``."""
        ...

    def pull(self, r: Array) -> Array:
        """Return ``A' r``."""
        ...

    def loss(self, f: Array, smoothing: float) -> Any:
        """Return the SmoothLoss at some scores."""
        ...

    def newton_step(self, loss: Any, gradient: Array) -> Array:
        """Return the second derivative of the smoothed objective, inverted, times the gradient."""
        ...


@dataclass(frozen=True)
class Effort:
    """When to stop: at a gap of ``goal`` times the objective, after ``max_iter`` steps, or when told to."""

    goal: float
    max_iter: int
    watch: Watch


@dataclass
class Found:
    """The minimum, and how it went; ``loss`` is that at the scores of ``smoothed``, and pulls with the dual point."""

    w: Array
    smoothed: Array
    smoothing: float
    loss: Any = None
    objective: float = np.inf
    gap: float = np.inf
    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)

    def note(self, objective: float, gap: float) -> None:
        """Write the state of this iteration down."""
        self.objective, self.gap = objective, gap
        more = {"smoothing": self.smoothing} if self.smoothing else {}
        self.trace.add(iteration=self.n_iter, objective=objective, gap=gap, **more)


def newton_descent(problem: SmoothedProblem, found: Found, effort: Effort) -> bool:
    """Solve the problem with the smoothing as it is; return whether all is over."""
    w, is_small = found.smoothed, problem.entries <= SMALL
    spare = SPARE_STEPS if is_small else 0
    loss = problem.loss(problem.scores(w), found.smoothing)
    while True:
        gradient = w - problem.pull(loss.pull)
        unsolved = 0.5 * float(gradient @ gradient)
        found.w, found.smoothed, found.loss = w, w, loss
        found.note(0.5 * float(w @ w) + loss.value, unsolved + loss.excess)
        if effort.watch(w) or found.n_iter >= effort.max_iter:
            return True
        enough = max(SOLVED * effort.goal * found.objective, 0.0 if is_small else ROUGHLY * loss.excess)
        is_solved = unsolved <= enough
        if is_solved and (spare == 0 or unsolved <= EXACT * found.objective):
            return False
        spare -= is_solved
        direction = -problem.newton_step(loss, gradient)
        step, loss = _line_minimum(problem, w, loss, direction, found.smoothing)
        if step == 0.0:  # rounding: nothing can be gained any more
            return not is_solved
        w = w + step * direction
        found.n_iter += 1


def _line_minimum(
    problem: SmoothedProblem, w: Array, start: SmoothLoss, direction: Array, smoothing: float
) -> tuple[float, Any]:
    """Return how far to go from ``w``, and the loss there; 0 if it does not go down."""
    f, slopes = start.f, problem.scores(direction)
    along, length = float(w @ direction), float(direction @ direction)
    first = along - float(np.vdot(start.pull, slopes))
    low, high, s = 0.0, np.inf, 1.0
    if not first < 0.0:
        return 0.0, start
    for _ in range(MOST_TRIALS):
        loss = problem.loss(f + s * slopes, smoothing)
        slope = along + s * length - float(np.vdot(loss.pull, slopes))
        is_flat = abs(slope) <= -FLAT * first
        if not is_flat or slope > 0.0:
            correction = slope / (length + loss.bend_along(slopes))
            # A line flat beside its start may rise all the same, far above it: the minimum must not be far behind.
            is_flat = is_flat and correction <= HALFWAY * s
        if is_flat:
            is_near = s > SHORT_STEP  # of a short step from far away, the sum above is not exact enough
            return s, loss if is_near else problem.loss(problem.scores(w + s * direction), smoothing)
        low, high = (s, high) if slope < 0.0 else (low, s)
        newton = s - correction
        s = newton if low < newton < high else _between(low, high)
    return 0.0, start


def _between(low: float, high: float) -> float:
    """Return a number inside the interval; of one that starts at 0, nearer to it, as the scale is not known."""
    if high == np.inf:
        return 2.0 * low
    return 0.5 * (low + high) if low > 0.0 else 0.1 * high
