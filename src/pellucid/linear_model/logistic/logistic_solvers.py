"""Which method fits a logistic regression, and on which rows it starts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_approach import approach, can_approach
from pellucid.linear_model.logistic.logistic_conjugate_gradient import conjugate_gradient_maker
from pellucid.linear_model.logistic.logistic_hessian import COSTLY, HessianFactor, factor_hessian
from pellucid.linear_model.logistic.logistic_newton import Descent, Equations, newton
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.linear_model.logistic.logistic_proximal import proximal_newton

LARGEST_HESSIAN = 400
"""Coefficients of all classes up to which the Hessian is formed and factored."""

SMALL = 1 << 18
"""Entries of ``X`` up to which it costs nothing to make blocks of it dense, or to iterate a little more."""

STRIDES = (32, 8)
"""The first iterates need few rows: every thirty-second, then four times as many, then all."""

ROWS_PER_COEFFICIENT = 10
FEWEST_ROWS = 500
"""A part of the rows is worth solving for if it has at least so many."""

POLISHED, MARGIN = 1e-4, 0.5
"""Part of the goal that small problems aim for, and all others."""

ROUGH = 0.1
"""Relative gap to reach on a part of the rows: their minimum is not the one looked for."""


def solve_logistic(problem: LogisticProblem, W: Array, b: Array | None, how: Descent) -> tuple[Point, str]:
    """Return the minimum and the method's name; the start is ``W`` and ``b``, of the rows as given (None: the best)."""
    method = choose_method(problem)
    known: HessianFactor | None = None
    for stride in () if W.any() else _strides(problem):
        part = problem.every(stride)
        if part is None:
            continue
        rough = replace(how, goal=ROUGH, max_iter=how.max_iter // 2)
        at = _run(method, part, part.point(W, _centered(part, W, b)), rough, known)
        how.n_iter, W, b = rough.n_iter, at.W, part.intercept(at)
        known = factor_hessian(part, at, ROUGH) if method == "newton-cholesky" else None
    final = replace(how, goal=_aim(problem, method) * how.goal)
    b = _centered(problem, W, b)
    if known is not None and can_approach(problem):
        at = approach(problem, W, b, final, known)
    else:
        at = problem.point(W, b)
    at = _run(method, problem, at, final, known)
    how.n_iter, how.separable = final.n_iter, final.separable
    return at, method


def _aim(problem: LogisticProblem, method: str) -> float:
    """Return the part of the goal to aim for: where another step costs little, the answer may as well be exact."""
    n, p = problem.design.shape
    work = n * p * problem.n_columns
    cheap = work * p * problem.n_columns <= COSTLY if method == "newton-cholesky" else work <= SMALL
    return POLISHED if cheap else MARGIN


def choose_method(problem: LogisticProblem) -> str:
    """Return the name of the method that suits the penalty and the shape of the data."""
    if problem.penalty.l1 > 0.0:
        return "proximal-newton"
    n, p = problem.design.shape
    width = problem.n_columns * (p + problem.fit_intercept)
    small = width <= LARGEST_HESSIAN and width <= 4 * n + 64
    dense = not sparse.issparse(problem.X) or n * p <= SMALL
    return "newton-cholesky" if small and dense else "newton-cg"


def _run(method: str, problem: LogisticProblem, at: Point, how: Descent, known: Equations | None) -> Point:
    if method == "proximal-newton":
        return proximal_newton(problem, at, how)
    if method == "newton-cholesky":
        return newton(problem, at, how, factor_hessian, known)
    return newton(problem, at, how, conjugate_gradient_maker(how.goal))


def _strides(problem: LogisticProblem) -> list[int]:
    n, p = problem.design.shape
    enough = max(FEWEST_ROWS, ROWS_PER_COEFFICIENT * (p + 1) * problem.n_columns)
    return [stride for stride in STRIDES if n // stride >= enough]


def _centered(problem: LogisticProblem, W: Array, b: Array | None) -> Array:
    return np.zeros(W.shape[1]) if b is None else b + problem.design.mean @ W
