r"""Steps of Newton's method towards the minimum of two classes, each for a single pass over the rows.

The equations are those of a part of the rows. They are nearly right for all rows, so each step shrinks the gradient by
a constant factor, and the pairs of steps and gradient differences make up for what the part does not know (L-BFGS).
The intercept moves with the weights and is settled once at the end: only a settled one has a duality gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_hessian import HessianFactor
from pellucid.linear_model.logistic.logistic_kernels import sigmoid_rows_pass
from pellucid.linear_model.logistic.logistic_newton import ARMIJO, Descent
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.numerics.dense_design import DenseDesign

SLOW = 0.5
"""A step that leaves more than this part of the gradient asks for better equations."""

RUN = 8192
"""Rows summed in one go: rounding grows with the run, not with n."""


class Passing(NamedTuple):
    """A point whose intercept is not settled, with the gradient by weights and intercept, of shape (p + 1, 1)."""

    at: Point
    slope: Array

    def estimated_gap(self, l2: float) -> float:
        """Return what the duality gap would be if the intercept were settled."""
        return float(np.sum(self.slope[:-1] ** 2)) / (2.0 * l2)


def can_approach(problem: LogisticProblem) -> bool:
    """Return whether one pass over the rows gives value and gradient, and a gap tells when to stop."""
    design = problem.design
    plain = isinstance(design, DenseDesign) and design.takes_row_passes
    return plain and problem.n_columns == 1 and problem.penalty.l1 == 0.0 and problem.penalty.l2 > 0.0


def approach(problem: LogisticProblem, W: Array, b: Array, how: Descent, equations: HessianFactor) -> Point:
    """Return a point near the minimum, its intercept settled; stop at the goal or where the equations serve no more."""
    now = pass_over(problem, W, b)
    pairs: list[tuple[Array, Array]] = []
    stop = how.note(problem, now.at)
    while not stop and how.n_iter < how.max_iter and not _is_near(problem, now, how.goal):
        step = _corrected(equations, now.slope, pairs)
        moved = pass_over(problem, now.at.W + step[:-1], now.at.b + step[-1])
        how.n_iter += 1
        if not moved.at.objective <= now.at.objective + ARMIJO * float(np.sum(now.slope * step)):
            break
        pairs.append((step, moved.slope - now.slope))
        stop = how.note(problem, moved.at) or np.linalg.norm(moved.slope) > SLOW * np.linalg.norm(now.slope)
        now = moved
    return problem.point_at(now.at.W, now.at.Z, problem.settle(now.at.Z, now.at.b))


def pass_over(problem: LogisticProblem, W: Array, b: Array) -> Passing:
    """Return the point at ``W`` and ``b`` as they are, with the gradient by both, reading the rows once."""
    X, mean, l2 = problem.X, problem.design.mean, problem.penalty.l2
    Z, P, w = np.empty((len(X), 1)), np.empty((len(X), 1)), W[:, 0].copy()
    offset = float(mean @ w)

    def work(part: slice) -> tuple[float, float, Array]:
        loss, first, pull = 0.0, 0.0, np.zeros(X.shape[1])
        for start in range(part.start, part.stop, RUN):
            rows, run = slice(start, min(start + RUN, part.stop)), np.zeros(X.shape[1])
            labels, weight = problem.labels[rows], problem.weight[rows]
            found = sigmoid_rows_pass(X[rows], w, offset, float(b[0]), labels, weight, Z[rows], P[rows], run)
            loss, first, pull = loss + found[0], first + found[1], pull + run
        return loss, first, pull - first * mean

    losses, firsts, pulls = zip(*run_blocks(work, split_evenly(len(X), thread_count())), strict=True)
    pull = np.sum(pulls, axis=0)[:, None]
    objective = float(sum(losses)) + problem.penalty.at(w)
    slope = np.vstack([pull + l2 * W, [[sum(firsts) if problem.fit_intercept else 0.0]]])
    return Passing(Point(W, b, Z, P, pull, objective, gap=np.nan), slope)


def _is_near(problem: LogisticProblem, now: Passing, goal: float) -> bool:
    return now.estimated_gap(problem.penalty.l2) <= goal * now.at.objective


def _corrected(equations: HessianFactor, slope: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """Return the step of the equations, made to agree with the steps already seen: the two loops of L-BFGS."""
    slope, shares = slope.copy(), []
    for step, change in reversed(pairs):
        share = float(np.sum(step * slope)) / float(np.sum(step * change))
        slope -= share * change
        shares.append(share)
    direction = -equations.step_from(slope)
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - float(np.sum(change * direction)) / float(np.sum(step * change))) * step
    return -direction
