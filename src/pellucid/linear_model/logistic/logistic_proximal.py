r"""Newton's method for logistic regression with an l1 penalty: each step is an elastic net.

The loss of one class's logits is replaced by its quadratic model, a least squares problem with weights
:math:`h_i = s_i p_i(1 - p_i)` and targets :math:`z_i - s_i(p_i - y_i)/h_i`, and solved with the penalty on a working
set of columns; far from the minimum, sparse columns are descended on one by one, which is cheaper and precise enough.
With several classes the model is of all of them together, as long as few enough coefficients can move. Otherwise it is
of one class after the other, and after each round one step of Newton's method is taken in all coefficients that are not
0, their signs kept.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_hessian import (
    MOST_PRODUCTS,
    hessian_diagonal,
    hessian_product,
    softmax_hessian,
)
from pellucid.linear_model.logistic.logistic_kernels import model_descent, weighted_moments
from pellucid.linear_model.logistic.logistic_problem import TINY, LogisticPoint, LogisticProblem
from pellucid.linear_model.sparse_regression.elastic_net_solvers import Iterate, PassBudget, elastic_net_working_set
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import Subproblem, solve_subproblem
from pellucid.linear_model.sparse_regression.working_gram import WorkingGram
from pellucid.solvers.curvature_equations import conjugate_gradient
from pellucid.solvers.design import make_design

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


def proximal_points(problem: LogisticProblem, point: LogisticPoint) -> Iterator[LogisticPoint]:
    """Yield the points that the method reaches, the start first; where no step descends, the same again."""
    while True:
        yield point
        aim = min(INNER_PART, point.distance) * min(point.distance, 1.0) * point.objective
        point = _step(problem, point, aim)


def _step(problem: LogisticProblem, point: LogisticPoint, aim: float) -> LogisticPoint:
    if problem.n_columns == 1:
        return _class_step(problem, point, 0, aim)
    movable = np.flatnonzero((point.W != 0.0).any(axis=1) | (np.abs(point.gradient) > problem.penalty.l1).any(axis=1))
    if len(movable) == 0:
        return point
    if problem.n_columns * len(movable) <= LARGEST_JOINT:
        return _joint_step(problem, point, movable, aim)
    for k in range(problem.n_columns):
        point = _class_step(problem, point, k, aim)
    return _support_step(problem, point)


def _joint_step(problem: LogisticProblem, point: LogisticPoint, movable: Array, aim: float) -> LogisticPoint:
    """Move the coefficients of some features, in all classes, to the minimum of their joint quadratic model."""
    p, k = len(movable), problem.n_columns
    design = make_design(problem.X[:, movable], fit_intercept=problem.fit_intercept)
    H = softmax_hessian(design, problem.weight, point.P)
    if problem.fit_intercept:
        H = _without_intercepts(H, p, k)
    model = Subproblem(
        np.ascontiguousarray(H),
        -point.gradient[movable].T.ravel(),
        point.W[movable].T.ravel(),
        2.0 * point.objective,  # in place of a residual, which the model does not have: only its size matters
        problem.penalty,
    )
    solve_subproblem(model, aim, EXACT * aim, INNER_PASSES, None)
    D = np.zeros_like(point.W)
    D[movable] = model.w.reshape(k, p).T - point.W[movable]
    return _search(problem, point, D)


def _without_intercepts(H: Array, p: int, k: int) -> Array:
    """Return the Hessian by the coefficients, with the intercepts following them to their best."""
    last = np.arange(k) * (p + 1) + p
    others = np.delete(np.arange(k * (p + 1)), last)
    cross = H[np.ix_(others, last)]
    return H[np.ix_(others, others)] - cross @ np.linalg.pinv(H[np.ix_(last, last)], hermitian=True) @ cross.T


def _class_step(problem: LogisticProblem, point: LogisticPoint, k: int, aim: float) -> LogisticPoint:
    """Move the coefficients of one class to the minimum of their quadratic model, or towards it."""
    h = np.maximum(problem.weight * point.P[:, k] * (1.0 - point.P[:, k]), FLATTEST * problem.weight)
    D = np.zeros_like(point.W)
    by_columns = sparse.issparse(problem.X) and not _is_near(point, k)
    D[:, k] = _column_step(problem, point, k, h) if by_columns else _working_set_step(problem, point, k, h, aim)
    return _search(problem, point, D)


def _is_near(point: LogisticPoint, k: int) -> bool:
    """Return whether few columns are left and their model is worth solving exactly, from its Gram matrix."""
    if len(point.W) <= LARGEST_JOINT:
        return True
    return bool(point.distance < NEAR and np.count_nonzero(point.W[:, k]) <= LARGEST_JOINT)


def _column_step(problem: LogisticProblem, point: LogisticPoint, k: int, h: Array) -> Array:
    """Return the step towards the minimum of the model, by coordinate descent on the sparse columns themselves."""
    X, w = problem.columns, point.W[:, k].copy()
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
        np.ascontiguousarray(point.gradient[:, k]),
        w,
        np.zeros(len(h)),
        problem.penalty.l1,
        problem.penalty.l2,
        min(LOOSEST, max(TIGHTEST, LOOSEST * point.distance)),
        INNER_PASSES,
    )
    return w - point.W[:, k]


def _working_set_step(problem: LogisticProblem, point: LogisticPoint, k: int, h: Array, aim: float) -> Array:
    """Return the step to the minimum of the model, as an elastic net on a working set of columns."""
    residual = problem.residual(point.P)[:, k]
    design = make_design(problem.columns, fit_intercept=problem.fit_intercept, sample_weight=h)
    gram = WorkingGram(design)
    logits = point.Z[:, k] + point.b[k]
    target, _ = design.center(logits - residual / np.where(h > 0.0, h, 1.0))
    inner = Iterate.start(gram, target, point.W[:, k])
    elastic_net_working_set(gram, target, problem.penalty, inner, PassBudget(goal=aim, max_iter=INNER_PASSES))
    return inner.w - point.W[:, k]


def _support_step(problem: LogisticProblem, point: LogisticPoint) -> LogisticPoint:
    """Take Newton's step in the coefficients that are not 0, up to where the first changes its sign."""
    free = point.W != 0.0
    if not free.any():
        return point
    mask = np.vstack([free, np.full((1, point.W.shape[1]), problem.fit_intercept)])
    slope = point.gradient + problem.penalty.l2 * point.W + problem.penalty.l1 * np.sign(point.W)
    right = np.where(mask, -np.vstack([slope, np.zeros((1, point.W.shape[1]))]), 0.0)
    diagonal = hessian_diagonal(problem, point)
    D = conjugate_gradient(
        lambda d: np.where(mask, hessian_product(problem, point, d) + DAMPING * diagonal * d, 0.0),
        right,
        diagonal,
        precision=SIGN_PRECISION,
        max_steps=MOST_PRODUCTS,
    )[:-1]
    moved = point.W + D
    kept = np.where(moved * point.W > 0.0, moved, 0.0)  # a coefficient that would change its sign stops at 0
    return _search(problem, point, kept - point.W)


def _search(problem: LogisticProblem, point: LogisticPoint, D: Array) -> LogisticPoint:
    """Return the point that a step leads to, or a part of it; where no part descends, the same point."""
    if not D.any():
        return point
    change = problem.penalty.at((point.W + D).ravel()) - problem.penalty.at(point.W.ravel())
    return problem.search(point, D, 0.0, min(float(np.sum(point.gradient * D)) + change, -TINY)) or point
