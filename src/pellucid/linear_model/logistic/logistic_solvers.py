r"""Logistic regression by Newton's method: few rows first, then all.

A step solves :math:`H d = -g`, with the Hessian's Cholesky factor where it is small and by conjugate gradients
otherwise. A factor is kept while a few more of its steps will do: near the minimum the Hessian changes little, and a
pass over the data for a gradient costs less than one for a Hessian. So does the factor of a part of the rows, for the
first steps on all of them. An l1 penalty makes each step an elastic net; see ``logistic_proximal``.

A method yields the points that it reaches, the start first; ``follow`` writes them down and says when to stop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
from scipy import sparse

from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks, shares
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_hessian import (
    COSTLY,
    NewtonEquations,
    conjugate_equations,
    factored_equations,
    full_gradient,
)
from pellucid.linear_model.logistic.logistic_kernels import sigmoid_rows_pass
from pellucid.linear_model.logistic.logistic_objective import gap_certificate, gradient_certificate, slope_certificate
from pellucid.linear_model.logistic.logistic_problem import ARMIJO, LogisticPoint, LogisticProblem
from pellucid.linear_model.logistic.logistic_proximal import proximal_points
from pellucid.proofs.certificate import Certificate
from pellucid.solvers.dense_design import DenseDesign

LARGEST_HESSIAN = 400
"""Coefficients of all classes up to which the Hessian is formed and factored."""

SMALL = 1 << 18
"""Entries of ``X`` up to which it costs nothing to make blocks of it dense, or to iterate a little more."""

STRIDES = (32, 8)
"""The first iterates need few rows: every thirty-second, then four times as many, then all. Without them fits of
20,000 x 20 to 400,000 x 10 take twice as long."""

ROWS_PER_COEFFICIENT, FEWEST_ROWS = 10, 500
"""A part of the rows is worth solving for if it has at least so many."""

POLISHED, MARGIN = 1e-4, 0.5
"""Part of the goal that small problems aim for, and all others."""

ROUGH = 0.1
"""Relative gap to reach on a part of the rows: their minimum is not the one looked for."""

ROUGH_PART = 0.5
"""Part of a rough ``tol`` that slopes are brought down to: at equal slopes Newton's steps leave more of the objective
than those of scikit-learn's L-BFGS, and the objective is to be no worse."""

WORTH_KEEPING = 2.0
"""Equations are used again if that many more steps like the last reach the goal: new ones cost about as much."""

STALLED = 1e-14
"""Relative descent below which only rounding is left."""

SLOW = 0.5
"""A step of the approach that leaves more than this part of the gradient asks for better equations."""

SEPARATED = 1e-6
"""Objective, as a part of the weight of the rows, below which probabilities differ from labels by rounding only."""

RUN = 8192
"""Rows summed in one go: rounding grows with the run, not with n."""


def solve_logistic(problem: LogisticProblem, effort: Effort, last: tuple[Array, Array] | None = None) -> Fit:
    """Return the fit, found from ``coef_`` and ``intercept_`` of the last one if they are given and suit."""
    method, equations, trace, n_iter = choose_method(problem), None, Trace(), 0
    rough = replace(effort, goal=ROUGH, max_iter=effort.max_iter // 2)
    final = replace(effort, goal=_aim(problem, method) * effort.goal)
    strides = _strides(problem)
    W, intercept = problem.start(last)
    for part in filter(None, map(problem.every, () if W.any() else strides)):
        start = part.point(W, intercept + part.design.mean @ W)
        point, n_iter, _ = follow(part, _points(method, part, start, ROUGH, equations), rough, trace, n_iter)
        W, intercept = point.W, point.intercept
        equations = factored_equations(part, point) if method == "newton-cholesky" else None
    b = intercept + problem.design.mean @ W
    if equations is not None and can_approach(problem):
        near, n_iter, _ = follow(problem, approach_points(problem, W, b, equations), final, trace, n_iter)
        start = problem.point_at(near.W, near.Z, problem.best_intercept(near.Z, near.b))
    else:
        start = problem.point(W, b)
    points = _points(method, problem, start, final.goal, equations)
    point, n_iter, separable = follow(problem, points, final, trace, n_iter)
    stored = problem.stored(point, effort.goal)
    attributes = {
        **problem.attributes(point.W, point.intercept),
        "n_iter_": np.array([n_iter], dtype=np.int32),
        "solver_": method,
        "dual_gap_": stored.gap,
    }
    certificate: Certificate | None
    if problem.is_penalized and stored.objective < SEPARATED * float(problem.weight.sum()):
        certificate = None  # residuals this small have lost the digits that a gap needs: the proof computes others
    elif problem.is_penalized:
        certificate = gap_certificate(stored.gap, stored.objective, effort.goal)
        if problem.rough and not certificate.holds:
            certificate = slope_certificate(stored.steepest, stored.gap / stored.objective, problem.rough)
    else:
        certificate = gradient_certificate(stored.distance, separable, effort.goal)
    return Fit(attributes, trace, certificate=certificate)


def choose_method(problem: LogisticProblem) -> str:
    """Return the name of the method that suits the penalty and the shape of the data."""
    if problem.penalty.l1 > 0.0:
        return "proximal-newton"
    n, p = problem.X.shape
    width = problem.n_columns * (p + problem.fit_intercept)
    small = width <= LARGEST_HESSIAN and width <= 4 * n + 64
    dense = not sparse.issparse(problem.X) or n * p <= SMALL
    return "newton-cholesky" if small and dense else "newton-cg"


def follow(
    problem: LogisticProblem, points: Iterator[LogisticPoint], effort: Effort, trace: Trace, n_iter: int = 0
) -> tuple[LogisticPoint, int, bool]:
    """Return the last point, the steps done, and whether a direction was found in which the loss falls for ever.

    Stop at the goal, after the most steps (``n_iter`` were done before), where nothing moves, or when asked to.
    """
    before, separable = None, False
    for point in points:
        trace.add(iteration=len(trace), objective=point.objective, gap=point.gap, rows=len(point.P))
        trace.keep(coef=point.W, intercept=point.intercept)
        stalled = False
        if before is not None:
            n_iter += 1
            separable = not problem.is_penalized and problem.recedes(before, point)
            fell = before.objective - point.objective
            stalled = fell <= STALLED * abs(before.objective) and point.distance >= before.distance
        asked = n_iter > 0 and effort.watch(point.W, point.intercept)
        arrived = n_iter > 0 and (point.distance <= effort.goal or point.steepest <= ROUGH_PART * problem.rough)
        if asked or arrived or stalled or separable or n_iter >= effort.max_iter:
            break
        before = point
    return point, n_iter, separable


def _strides(problem: LogisticProblem) -> list[int]:
    """Return the strides of the parts of the rows that are worth solving for."""
    n, p = problem.X.shape
    enough = max(FEWEST_ROWS, ROWS_PER_COEFFICIENT * (p + 1) * problem.n_columns)
    return [stride for stride in STRIDES if n // stride >= enough]


def _aim(problem: LogisticProblem, method: str) -> float:
    """Return the part of the goal to aim for: where another step costs little, the answer may as well be exact."""
    n, p = problem.X.shape
    work = n * p * problem.n_columns
    cheap = work * p * problem.n_columns <= COSTLY if method == "newton-cholesky" else work <= SMALL
    return POLISHED if cheap else MARGIN


def _points(
    method: str, problem: LogisticProblem, point: LogisticPoint, goal: float, equations: NewtonEquations | None
) -> Iterator[LogisticPoint]:
    if method == "proximal-newton":
        return proximal_points(problem, point)
    make = factored_equations if method == "newton-cholesky" else partial(conjugate_equations, goal=goal)
    return newton_points(problem, point, goal, make, equations)


def newton_points(
    problem: LogisticProblem,
    point: LogisticPoint,
    goal: float,
    make: Callable[[LogisticProblem, LogisticPoint], NewtonEquations] = factored_equations,
    kept: NewtonEquations | None = None,
) -> Iterator[LogisticPoint]:
    """Yield the points of Newton's method, where no step descends the same again; ``kept`` serve for the first steps.

    Equations are kept while ``goal`` is not far.
    """
    while True:
        yield point
        equations = make(problem, point) if kept is None else kept
        moved = problem.search(point, *equations.step(problem, point))
        if moved is None and kept is not None:
            equations = make(problem, point)
            moved = problem.search(point, *equations.step(problem, point))
        moved = moved or point
        last = equations.lasting and _steps_to_goal(point.distance, moved.distance, goal) <= WORTH_KEEPING
        kept = equations if last else None
        point = moved


def _steps_to_goal(before: float, left: float, goal: float) -> float:
    """Return how many steps that shrink the distance like the last one are needed."""
    if left <= goal:
        return 0.0
    return math.log(left / goal) / math.log(before / left) if left < before and goal > 0.0 else math.inf


def can_approach(problem: LogisticProblem) -> bool:
    """Return whether one pass over the rows gives value and gradient, and a gap tells when to stop."""
    plain = isinstance(problem.design, DenseDesign) and problem.design.takes_row_passes
    return plain and problem.n_columns == 1 and problem.penalty.l1 == 0.0 and problem.penalty.l2 > 0.0


def approach_points(
    problem: LogisticProblem, W: Array, b: Array, equations: NewtonEquations
) -> Iterator[LogisticPoint]:
    """Yield points of two classes on the way to the minimum, each for a single pass over the rows.

    The equations are those of a part of the rows. They are nearly right for all rows, so each step shrinks the gradient
    by a constant factor, and the pairs of steps and gradient differences make up for what the part does not know
    (L-BFGS). Where a step does not descend, or hardly, the equations serve no more. The intercept moves with the
    weights and is not at its best: only that would give a duality gap, so that the distance is estimated. It saves a
    quarter of the time at 20 columns, half of it at 100.
    """
    point, pairs = one_pass(problem, W, b), list[tuple[Array, Array]]()
    gradient = full_gradient(problem, point)
    while True:
        yield point
        step = _corrected(equations, gradient, pairs)
        moved = one_pass(problem, point.W + step[:-1], point.b + step[-1])
        if not moved.objective <= point.objective + ARMIJO * float(np.sum(gradient * step)):
            return
        before, gradient = gradient, full_gradient(problem, moved)
        pairs.append((step, gradient - before))
        point = moved
        if np.linalg.norm(gradient) > SLOW * np.linalg.norm(before):
            yield point
            return


def one_pass(problem: LogisticProblem, W: Array, b: Array) -> LogisticPoint:
    """Return the point at ``W`` and ``b`` as they are, reading the rows once; its distance is an estimate."""
    X, mean, l2 = problem.X, problem.design.mean, problem.penalty.l2
    Z, P, w = np.empty((len(X), 1)), np.empty((len(X), 1)), W[:, 0].copy()
    offset = float(mean @ w)

    def work(part: slice) -> tuple[float, float, Array]:
        loss, slope, gradient = 0.0, 0.0, np.zeros(X.shape[1])
        for start in range(part.start, part.stop, RUN):
            rows, run = slice(start, min(start + RUN, part.stop)), np.zeros(X.shape[1])
            labels, weight = problem.labels[rows], problem.weight[rows]
            found = sigmoid_rows_pass(X[rows], w, offset, float(b[0]), labels, weight, Z[rows], P[rows], run)
            loss, slope, gradient = loss + found[0], slope + found[1], gradient + run
        return loss, slope, gradient - slope * mean

    losses, slopes, gradients = zip(*run_blocks(work, shares(len(X), X.size)), strict=True)
    loss, gradient = float(sum(losses)), np.sum(gradients, axis=0)[:, None]
    slope = np.array([sum(slopes) if problem.fit_intercept else 0.0])
    objective = loss + problem.penalty.at(w)
    gap = float(np.sum((gradient + l2 * W) ** 2)) / (2.0 * l2)  # if the intercept were the best
    intercept = problem.given_intercept(W, b)
    return LogisticPoint(
        W, b, intercept, Z, P, gradient, slope, loss, objective, gap=math.nan, distance=gap / objective
    )


def _corrected(equations: NewtonEquations, gradient: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """Return the step of the equations, made to agree with the steps already seen: the two loops of L-BFGS."""
    gradient, shares = gradient.copy(), []
    for step, change in reversed(pairs):
        share = float(np.sum(step * gradient)) / float(np.sum(step * change))
        gradient -= share * change
        shares.append(share)
    direction = -equations.solve(gradient)
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        direction += (share - float(np.sum(change * direction)) / float(np.sum(step * change))) * step
    return -direction
