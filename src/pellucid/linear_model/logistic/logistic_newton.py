r"""Newton's method for logistic regression without an l1 penalty.

A step solves :math:`H d = -g`, with the Hessian's Cholesky factor where it is small and by conjugate gradients
otherwise. A factor is kept while a few more of its steps will do: near the minimum the Hessian changes little, and a
pass over the data for a gradient costs less than one for a Hessian.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point

ARMIJO = 1e-4
SHORTEST = 1e-10
"""Part of the predicted descent a step must achieve, and the shortest part of a step tried."""

WORTH_KEEPING = 2.0
"""Equations are used again if that many more steps like the last reach the goal: new ones cost about as much."""

STALLED = 1e-14
"""Relative descent below which only rounding is left."""

RECEDING = 1e-6
"""How far below 0 a margin may be, as a part of the largest, for a direction to count as separating the classes."""


@dataclass
class Descent:
    """How to descend: precision, budget, and who watches."""

    goal: float
    """Distance to reach; see ``distance``."""
    max_iter: int
    watch: Watch = ignore
    trace: Trace = field(default_factory=Trace)
    n_iter: int = 0
    separable: bool = False
    """Whether a direction was found in which the loss falls for ever."""

    def note(self, problem: LogisticProblem, at: Point) -> bool:
        """Add a row to the trace and tell the watch; return whether it asks to stop."""
        self.trace.add(iteration=len(self.trace), objective=at.objective, gap=at.gap, rows=len(at.P))
        self.trace.keep(coef=at.W, intercept=problem.intercept(at))
        return self.n_iter > 0 and self.watch(at.W, problem.intercept(at))


class Equations(Protocol):
    """Newton's equations at the point they were made for, and near it."""

    @property
    def made_at(self) -> Point:
        """The point they were made for."""

    @property
    def lasting(self) -> bool:
        """Whether they cost so much more than a gradient that they are worth keeping."""

    def step(self, slope: Array, at: Point) -> Array:
        """Return the step for the gradient ``slope`` by ``W``, of shape (p + 1, K): the last row is the intercept's."""


MakeEquations = Callable[[LogisticProblem, Point, float], Equations]


def newton(
    problem: LogisticProblem, at: Point, how: Descent, make: MakeEquations, known: Equations | None = None
) -> Point:
    """Return the minimum, found from ``at``; ``known`` equations, of a part of the rows, serve for the first steps."""
    left, stop = distance(problem, at), how.note(problem, at)
    while not stop and (left > how.goal or how.n_iter == 0) and how.n_iter < how.max_iter:
        equations = make(problem, at, left) if known is None else known
        moved = descend(problem, at, equations.step(slope_at(problem, at), at))
        how.n_iter += 1
        if moved is None and equations.made_at is not at:
            known = None
            continue
        if moved is None:
            break
        before, left = left, distance(problem, moved)
        how.separable = how.separable or recedes(problem, at, moved)
        stalled = at.objective - moved.objective <= STALLED * abs(at.objective) and left >= before
        stop = how.note(problem, moved) or stalled or how.separable
        known = equations if equations.lasting and _steps_to_goal(before, left, how.goal) <= WORTH_KEEPING else None
        at = moved
    return at


def _steps_to_goal(before: float, left: float, goal: float) -> float:
    """Return how many steps that shrink the distance like the last one are needed."""
    if left <= goal:
        return 0.0
    return math.log(left / goal) / math.log(before / left) if left < before and goal > 0.0 else math.inf


def slope_at(problem: LogisticProblem, at: Point) -> Array:
    """Return the gradient of the smooth part by ``W``."""
    return at.pull + problem.penalty.l2 * at.W


def distance(problem: LogisticProblem, at: Point) -> float:
    """Return the gap as a part of the objective or, without a penalty, the gradient as a part of its largest size."""
    if problem.is_penalized:
        return at.gap / max(at.objective, np.finfo(float).tiny)
    slopes = np.abs(at.pull) / np.where(problem.column_lengths > 0.0, problem.column_lengths, np.inf)[:, None]
    return float(slopes.max(initial=0.0) / max(problem.residual_length(at.P), np.finfo(float).tiny))


def descend(problem: LogisticProblem, at: Point, D: Array) -> Point | None:
    """Return the point a step of ``W`` and ``b`` leads to, halved until it descends enough; None if no step does."""
    D, db = D[:-1], D[-1]
    along = float(np.sum(slope_at(problem, at) * D))
    if not along < 0.0:
        return None
    whole, t = problem.design.times(at.W + D), 1.0  # from the weights, so that rounding does not pile up
    rounding = 10 * np.finfo(float).eps * abs(at.objective)
    while t > SHORTEST:
        W, Z = at.W + t * D, whole if t == 1.0 else (1.0 - t) * at.Z + t * whole
        settled = problem.settle(Z, at.b + t * db)
        if settled.loss + problem.penalty.at(W.ravel()) <= at.objective + ARMIJO * t * along + rounding:
            return problem.point_at(W, Z, settled)
        t *= 0.5
    return None


def recedes(problem: LogisticProblem, before: Point, after: Point) -> bool:
    """Return whether a step only raised margins: without a penalty it could then be repeated for ever.

    The steps of Newton's method tend to such a direction where one exists, and to 0 where none does.
    """
    if problem.is_penalized:
        return False
    logits = (after.Z + after.b) - (before.Z + before.b)
    margins = problem.margins(logits)[problem.weight > 0.0]
    return bool(margins.min() >= -RECEDING * margins.max() and margins.max() > 0.0)
