r"""Newton's equations of logistic regression by conjugate gradients, for many coefficients or sparse data.

The Hessian is never formed: its product with a direction :math:`D` needs :math:`u = AD + d_b`, the rows
:math:`v_i = s_i(\mathrm{diag}(p_i) - p_i p_i')u_i`, and :math:`A'v`. Its diagonal is the preconditioner: factors of its
blocks were measured to halve the products on images, and to cost more than they save.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_newton import MakeEquations
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.linear_model.logistic.logistic_proximal_kernels import weighted_moments
from pellucid.numerics.conjugate_gradient import conjugate_gradient

MOST_PRODUCTS = 250
"""Products with the Hessian spent on one step."""

LOOSEST, TIGHTEST = 0.3, 1e-4
"""Residual of the equations at which they count as solved, as a part of the gradient: looser far from the minimum."""


@dataclass(frozen=True)
class ConjugateGradients:
    """Solves Newton's equations to a precision that suits the distance to the minimum."""

    problem: LogisticProblem
    diagonal: Array
    made_at: Point
    precision: float
    lasting: bool = False

    def step(self, slope: Array, at: Point) -> Array:
        """Return the step of ``W`` and ``b`` for the gradient ``slope`` by ``W``; that by ``b`` is 0."""
        p, k = slope.shape
        right = np.zeros((p + 1, k))
        right[:p] = -slope
        return conjugate_gradient(
            lambda D: hessian_product(self.problem, at, D),
            right,
            self.diagonal,
            precision=self.precision,
            max_steps=MOST_PRODUCTS,
        )


def conjugate_gradient_maker(goal: float) -> MakeEquations:
    """Return what makes Newton's equations, on the way to a distance of ``goal`` and no further."""

    def make(problem: LogisticProblem, at: Point, left: float) -> ConjugateGradients:
        enough = 0.5 * np.sqrt(goal / left) if left > 0.0 else LOOSEST  # the gap is a square of the gradient
        precision = min(LOOSEST, max(TIGHTEST, np.sqrt(left), enough))
        return ConjugateGradients(problem, hessian_diagonal(problem, at), at, float(precision))

    return make


def hessian_product(problem: LogisticProblem, at: Point, D: Array) -> Array:
    """Return the Hessian times a direction of shape (p + 1, K), whose last row is the intercept's."""
    p = len(D) - 1
    u = problem.design.times(D[:p]) + D[p]
    v = curvature_times(problem, at.P, u)
    product = np.zeros_like(D)  # without an intercept its row stays 0, in the directions as well
    product[:p] = problem.design.transposed_times(v) + problem.penalty.l2 * D[:p]
    if problem.fit_intercept:
        product[p] = v.sum(axis=0)
    return product


def curvature_times(problem: LogisticProblem, P: Array, u: Array) -> Array:
    """Return each row's second derivative of the loss by its logits, times the row of ``u``."""
    v = P * u
    v -= P * (v if problem.n_columns == 1 else v.sum(axis=1, keepdims=True))
    v *= problem.weight[:, None]
    return v


def hessian_diagonal(problem: LogisticProblem, at: Point) -> Array:
    """Return the diagonal of the Hessian, of shape (p + 1, K), with 1 for columns without curvature.

    Each column is centered at its mean by the weights of the curvature: the intercept takes the rest.
    """
    h = problem.weight[:, None] * at.P * (1.0 - at.P)
    first, second = _sparse_moments(problem, h) if sparse.issparse(problem.X) else _dense_moments(problem, h)
    total = h.sum(axis=0)
    if problem.fit_intercept:
        second -= first**2 / np.where(total > 0.0, total, np.inf)
    diagonal = np.vstack([np.maximum(second, 0.0) + problem.penalty.l2, total])
    return np.where(diagonal > 0.0, diagonal, 1.0)


def _dense_moments(problem: LogisticProblem, h: Array) -> tuple[Array, Array]:
    """Return ``sum_i h_ik a_ij`` and ``sum_i h_ik a_ij^2``, each of shape (p, K)."""

    def work(part: slice) -> Array:
        sums = np.zeros((2, problem.design.shape[1], h.shape[1]))
        for rows, block in problem.design.row_blocks(part):
            sums[0] += block.T @ h[rows]
            sums[1] += np.square(block, out=block).T @ h[rows]
        return sums

    first, second = np.sum(run_blocks(work, split_evenly(len(h), thread_count())), axis=0)
    return first, second


def _sparse_moments(problem: LogisticProblem, h: Array) -> tuple[Array, Array]:
    """Return the same for the columns as they were given: what is left after centering does not depend on it."""
    X = problem.columns
    first, second = np.empty((2, h.shape[1], X.shape[1]))
    for k in range(h.shape[1]):
        weighted_moments(X.data, X.indices, X.indptr, np.ascontiguousarray(h[:, k]), first[k], second[k])
    return first.T, second.T
