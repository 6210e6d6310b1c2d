r"""Half the squared norm plus a loss of linear scores, by Newton's method with a search along each step.

.. math:: P_\delta(w) = \tfrac12\|w\|^2 + L_\delta(f),\qquad f = Aw

A loss with kinks is smoothed. What the smoothed loss pulls at the scores is a dual point of the loss itself, so that
the gap of the real problem is known at every step: half the squared gradient, plus what the smoothing costs that dual
point. Two ways lead from the smoothed minimum to the real one:

- ``smoothed_newton`` shrinks the smoothing. The smoothed minimum :math:`w_\delta` is :math:`O(\delta)` above the real
  one, but its dual point only :math:`O(\delta^2)` below. So two smoothings are enough to guess where :math:`w_\delta`
  goes as :math:`\delta \to 0`: along the line through both. The gap between guess and dual point says how good it is.
- ``centered_newton`` smooths a loss :math:`\max_p\ p'r` by :math:`\tfrac\delta2\|p - q\|^2`, where :math:`q` is the
  best :math:`p` found so far: the method of multipliers. That leaves the minimum where it is, so that :math:`\delta`
  need not get small, and the equations stay easy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from pellucid.core.fit import Effort
from pellucid.core.trace import Trace
from pellucid.core.types import Array

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

SHRINK, SHRINK_CENTERED, LEAST_SMOOTHING = 0.15, 0.3, 1e-8
"""Part of the smoothing that the next one is, the same where it is centered, and where to give up."""

Solved = tuple[float, Array]
"""A smoothing, and the minimum of the smoothed problem."""


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
    def minus_slope(self) -> Array:
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

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``."""
        ...

    def loss(self, f: Array, smoothing: float) -> Any:
        """Return the SmoothLoss at some scores."""
        ...

    def newton_step(self, loss: Any, gradient: Array) -> Array:
        """Return the second derivative of the smoothed objective, inverted, times the gradient."""
        ...


class CenteredProblem(SmoothedProblem, Protocol):
    """A smoothed problem that knows the dual point around which it is smoothed."""

    def centered_at(self, loss: Any) -> Self:
        """Return the problem smoothed around the dual point of this loss."""
        ...


@dataclass
class NewtonDescent:
    """The minimum, and how it went; ``loss`` is that at the scores of ``smoothed``, and pulls with the dual point."""

    w: Array
    smoothed: Array
    smoothing: float
    loss: Any = None
    objective: float = np.inf
    gap: float = np.inf
    n_iter: int = 0
    trace: Trace = field(default_factory=Trace)

    def note(self, objective: float, gap: float, **more: float) -> None:
        """Write the state of this iteration down."""
        self.objective, self.gap = objective, gap
        more |= {"smoothing": self.smoothing} if self.smoothing else {}
        self.trace.add(iteration=self.n_iter, objective=objective, gap=gap, **more)


def newton_descent(
    problem: SmoothedProblem,
    found: NewtonDescent,
    effort: Effort,
    *,
    spare_steps: int | None = None,
    exact: float = EXACT,
    flat: float = FLAT,
    short_step: float = SHORT_STEP,
    columns: Callable[[Any], dict[str, float]] = lambda _loss: {},
) -> bool:
    """Solve the problem with the smoothing as it is; return whether all is over.

    ``spare_steps`` are those beyond what is needed, if not those of small data, and ``exact`` the part of the
    objective that ends them; ``flat`` and ``short_step`` say how near the minimum of a line is found, and from which
    step on its scores are not computed anew; ``columns`` are more of the trace.
    """
    w, is_small = found.smoothed, problem.entries <= SMALL
    spare = (SPARE_STEPS if is_small else 0) if spare_steps is None else spare_steps
    loss = problem.loss(problem.scores(w), found.smoothing)
    while True:
        gradient = w - problem.transposed_times(loss.minus_slope)
        unsolved = 0.5 * float(gradient @ gradient)
        found.w, found.smoothed, found.loss = w, w, loss
        found.note(0.5 * float(w @ w) + loss.value, unsolved + loss.excess, **columns(loss))
        if effort.watch(w) or found.n_iter >= effort.max_iter:
            return True
        enough = max(SOLVED * effort.goal * found.objective, 0.0 if is_small else ROUGHLY * loss.excess)
        is_solved = unsolved <= enough
        if is_solved and (spare == 0 or unsolved <= exact * found.objective):
            return False
        spare -= is_solved
        direction = -problem.newton_step(loss, gradient)
        step, loss = _line_minimum(problem, w, loss, direction, found.smoothing, flat)
        if step == 0.0:  # rounding: nothing can be gained any more
            return not is_solved
        w = w + step * direction
        if step <= short_step:  # of a short step from far away, the sum of scores is not exact enough
            loss = problem.loss(problem.scores(w), found.smoothing)
        found.n_iter += 1


def smoothed_newton(problem: SmoothedProblem, effort: Effort, *, smoothing: float) -> NewtonDescent:
    """Return the minimum, found by way of this first smoothing; 0 if the loss is smooth by itself."""
    start = np.zeros(problem.size)
    found = NewtonDescent(start, start, smoothing)
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


def centered_newton(problem: CenteredProblem, found: NewtonDescent, effort: Effort) -> NewtonDescent:
    """Return what was found, with the weights moved on from ``found.smoothed`` to the minimum."""
    while True:
        is_stopped = newton_descent(problem, found, effort)
        if is_stopped or found.gap <= effort.goal * found.objective or found.smoothing <= LEAST_SMOOTHING:
            return found
        problem = problem.centered_at(found.loss)
        found.smoothing *= SHRINK_CENTERED


def _line_minimum(
    problem: SmoothedProblem, w: Array, start: SmoothLoss, direction: Array, smoothing: float, flat: float
) -> tuple[float, Any]:
    """Return how far to go from ``w``, and the loss there; 0 if it does not go down."""
    f, slopes = start.f, problem.scores(direction)
    along, length = float(w @ direction), float(direction @ direction)
    first = along - float(np.vdot(start.minus_slope, slopes))
    low, high, s = 0.0, np.inf, 1.0
    if not first < 0.0:
        return 0.0, start
    for _ in range(MOST_TRIALS):
        loss = problem.loss(f + s * slopes, smoothing)
        slope = along + s * length - float(np.vdot(loss.minus_slope, slopes))
        is_flat = abs(slope) <= -flat * first
        if not is_flat or slope > 0.0:
            correction = slope / (length + loss.bend_along(slopes))
            # A line flat beside its start may rise all the same, far above it: the minimum must not be far behind.
            is_flat = is_flat and correction <= HALFWAY * s
        if is_flat:
            return s, loss
        low, high = (s, high) if slope < 0.0 else (low, s)
        newton = s - correction
        s = newton if low < newton < high else _between(low, high)
    return 0.0, start


def _between(low: float, high: float) -> float:
    """Return a number inside the interval; of one that starts at 0, nearer to it, as the scale is not known."""
    if high == np.inf:
        return 2.0 * low
    return 0.5 * (low + high) if low > 0.0 else 0.1 * high


def _extrapolate(problem: SmoothedProblem, found: NewtonDescent, earlier: Solved) -> None:
    """Move the weights to where the two smoothed minima point, if the objective is smaller there."""
    w = _on_line(earlier, (found.smoothing, found.smoothed), 0.0)
    objective = 0.5 * float(w @ w) + problem.loss(problem.scores(w), found.smoothing).value
    if objective < found.objective:
        found.w = w
        found.note(objective, max(0.0, found.gap - (found.objective - objective)))


def _on_line(earlier: Solved, here: Solved, smoothing: float) -> Array:
    """Return the weights that the line through two smoothed minima has at a smaller smoothing."""
    return here[1] + (here[0] - smoothing) / (earlier[0] - here[0]) * (here[1] - earlier[1])
