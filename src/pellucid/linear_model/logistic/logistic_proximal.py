r"""Newton's method for logistic regression with an l1 penalty: each step is an elastic net.

The loss of one class's logits is replaced by its quadratic model, a least squares problem with weights
:math:`h_i = s_i p_i(1 - p_i)` and targets :math:`z_i - s_i(p_i - y_i)/h_i`, and solved with the penalty on a working
set of columns; far from the minimum, sparse columns are descended on one by one, which is cheaper and precise enough.
With several classes the model is of all of them together, as long as few enough coefficients can move. Otherwise it is
of one class after the other, and after each round one step of Newton's method is taken in all coefficients that are not
0, their signs kept.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_conjugate_gradient import (
    MOST_PRODUCTS,
    hessian_diagonal,
    hessian_product,
)
from pellucid.linear_model.logistic.logistic_hessian import softmax_hessian
from pellucid.linear_model.logistic.logistic_newton import ARMIJO, SHORTEST, STALLED, Descent, distance
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.linear_model.logistic.logistic_proximal_kernels import model_descent, weighted_moments
from pellucid.linear_model.sparse_regression.elastic_net_solvers import Iterate, PassBudget, elastic_net_working_set
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import Subproblem, solve_subproblem
from pellucid.numerics.conjugate_gradient import conjugate_gradient
from pellucid.numerics.design import make_design
from pellucid.numerics.working_gram import WorkingGram

FLATTEST = 1e-12
"""Least curvature of a row, as a part of its weight: where a probability rounds to 0 or 1 the model needs some."""

INNER_PART = 0.05
"""Part of the outer gap that a step may leave in its elastic net; near the minimum less, so that gaps get squared."""

DAMPING = 1e-4
"""Part of its diagonal added to the Hessian: shifting the logits of all classes alike has no curvature of its own."""

LARGEST_JOINT = 600
"""Coefficients up to which several classes are moved together."""

EXACT = 1e-6
"""Part of its aim below which the gap of an elastic net is taken for 0."""

LOOSEST, TIGHTEST = 0.05, 1e-5
"""Part of the model's fall that the last pass of a sparse step may still add: more, far from the minimum."""

NEAR = 0.3
"""Relative gap below which coordinate descent on sparse columns would creep."""

INNER_PASSES = 1000
SIGN_PRECISION = 0.01
"""Most passes of coordinate descent in a step, and how precisely the step on the support is computed."""


def proximal_newton(problem: LogisticProblem, at: Point, how: Descent) -> Point:
    """Return the minimum, found from ``at``."""
    left, stop = distance(problem, at), how.note(problem, at)
    while not stop and (left > how.goal or how.n_iter == 0) and how.n_iter < how.max_iter:
        before, aim = at, min(INNER_PART, left) * min(left, 1.0) * at.objective
        at = _step(problem, at, aim)
        how.n_iter += 1
        last, left = left, distance(problem, at)
        stalled = before.objective - at.objective <= STALLED * abs(at.objective) and left >= last
        stop = how.note(problem, at) or stalled
    return at


def _step(problem: LogisticProblem, at: Point, aim: float) -> Point:
    if problem.n_columns == 1:
        return _class_step(problem, at, 0, aim)
    movable = np.flatnonzero((at.W != 0.0).any(axis=1) | (np.abs(at.pull) > problem.penalty.l1).any(axis=1))
    if len(movable) == 0:
        return at
    if problem.n_columns * len(movable) <= LARGEST_JOINT:
        return _joint_step(problem, at, movable, aim)
    for k in range(problem.n_columns):
        at = _class_step(problem, at, k, aim)
    return _support_step(problem, at)


def _joint_step(problem: LogisticProblem, at: Point, movable: Array, aim: float) -> Point:
    """Move the coefficients of some features, in all classes, to the minimum of their joint quadratic model."""
    p, k = len(movable), problem.n_columns
    design = make_design(problem.X[:, movable], fit_intercept=problem.fit_intercept)
    H = softmax_hessian(design, problem.weight, at.P)
    if problem.fit_intercept:
        H = _without_intercepts(H, p, k)
    model = Subproblem(
        np.ascontiguousarray(H),
        -at.pull[movable].T.ravel(),
        at.W[movable].T.ravel(),
        2.0 * at.objective,  # in place of a residual, which the model does not have: only its size matters
        problem.penalty,
    )
    solve_subproblem(model, aim, EXACT * aim, INNER_PASSES, None)
    D = np.zeros_like(at.W)
    D[movable] = model.w.reshape(k, p).T - at.W[movable]
    return _search(problem, at, D)


def _without_intercepts(H: Array, p: int, k: int) -> Array:
    """Return the Hessian by the coefficients, with the intercepts following them to their best."""
    last = np.arange(k) * (p + 1) + p
    others = np.delete(np.arange(k * (p + 1)), last)
    cross = H[np.ix_(others, last)]
    return H[np.ix_(others, others)] - cross @ np.linalg.pinv(H[np.ix_(last, last)], hermitian=True) @ cross.T


def _class_step(problem: LogisticProblem, at: Point, k: int, aim: float) -> Point:
    """Move the coefficients of one class to the minimum of their quadratic model, or towards it."""
    h = np.maximum(problem.weight * at.P[:, k] * (1.0 - at.P[:, k]), FLATTEST * problem.weight)
    D = np.zeros_like(at.W)
    by_columns = sparse.issparse(problem.X) and not _is_near(problem, at, k)
    D[:, k] = _column_step(problem, at, k, h) if by_columns else _working_set_step(problem, at, k, h, aim)
    return _search(problem, at, D)


def _is_near(problem: LogisticProblem, at: Point, k: int) -> bool:
    """Return whether few columns are left and their model is worth solving exactly, from its Gram matrix."""
    if len(at.W) <= LARGEST_JOINT:
        return True
    return bool(distance(problem, at) < NEAR and np.count_nonzero(at.W[:, k]) <= LARGEST_JOINT)


def _column_step(problem: LogisticProblem, at: Point, k: int, h: Array) -> Array:
    """Return the step towards the minimum of the model, by coordinate descent on the sparse columns themselves."""
    X, w = problem.columns, at.W[:, k].copy()
    first, second = np.empty(len(w)), np.empty(len(w))
    weighted_moments(X.data, X.indices, X.indptr, h, first, second)
    total = float(h.sum()) if problem.fit_intercept else np.inf
    model_descent(
        X.data,
        X.indices,
        X.indptr,
        h,
        first,
        second,
        total,
        np.ascontiguousarray(at.pull[:, k]),
        w,
        np.zeros(len(h)),
        problem.penalty.l1,
        problem.penalty.l2,
        min(LOOSEST, max(TIGHTEST, LOOSEST * distance(problem, at))),
        INNER_PASSES,
    )
    return w - at.W[:, k]


def _working_set_step(problem: LogisticProblem, at: Point, k: int, h: Array, aim: float) -> Array:
    """Return the step to the minimum of the model, as an elastic net on a working set of columns."""
    residual = problem.residual(at.P)[:, k]
    design = make_design(problem.columns, fit_intercept=problem.fit_intercept, sample_weight=h)
    gram = WorkingGram(design)
    logits = at.Z[:, k] + at.b[k]
    target, _ = design.center(logits - residual / np.where(h > 0.0, h, 1.0))
    inner = Iterate.start(gram, target, at.W[:, k])
    elastic_net_working_set(gram, target, problem.penalty, inner, PassBudget(goal=aim, max_iter=INNER_PASSES))
    return inner.w - at.W[:, k]


def _support_step(problem: LogisticProblem, at: Point) -> Point:
    """Take Newton's step in the coefficients that are not 0, up to where the first changes its sign."""
    free = at.W != 0.0
    if not free.any():
        return at
    mask = np.vstack([free, np.full((1, at.W.shape[1]), problem.fit_intercept)])
    slope = at.pull + problem.penalty.l2 * at.W + problem.penalty.l1 * np.sign(at.W)
    right = np.where(mask, -np.vstack([slope, np.zeros((1, at.W.shape[1]))]), 0.0)
    diagonal = hessian_diagonal(problem, at)
    D = conjugate_gradient(
        lambda d: np.where(mask, hessian_product(problem, at, d) + DAMPING * diagonal * d, 0.0),
        right,
        diagonal,
        precision=SIGN_PRECISION,
        max_steps=MOST_PRODUCTS,
    )[:-1]
    moved = at.W + D
    kept = np.where(moved * at.W > 0.0, moved, 0.0)  # a coefficient that would change its sign stops at 0
    return _search(problem, at, kept - at.W)


def _search(problem: LogisticProblem, at: Point, D: Array) -> Point:
    """Return the point a step leads to, halved until the objective descends enough; ``at`` itself if no step does."""
    if not D.any():
        return at
    penalty = problem.penalty
    now = penalty.at(at.W.ravel())
    along = float(np.sum(at.pull * D)) + penalty.at((at.W + D).ravel()) - now
    whole, t = problem.design.times(at.W + D), 1.0  # from the weights, so that rounding does not pile up
    rounding = 10 * np.finfo(float).eps * abs(at.objective)
    while t > SHORTEST:
        W, Z = at.W + t * D, whole if t == 1.0 else (1.0 - t) * at.Z + t * whole
        settled = problem.settle(Z, at.b)
        if settled.loss + penalty.at(W.ravel()) <= at.objective + ARMIJO * t * min(along, 0.0) + rounding:
            return problem.point_at(W, Z, settled)
        t *= 0.5
    return at
