r"""The Hessian of logistic regression, and Newton's equations: by its Cholesky factor, or by its products alone.

With :math:`\tilde A = [A\ 1]` and the probabilities :math:`p_k`, the Hessian has the blocks
:math:`\tilde A' S (\mathrm{diag}(p_k)\delta_{km} - \mathrm{diag}(p_k p_m)) \tilde A`. All of them stand in one Gram
matrix, of :math:`[p_1 \tilde A, \dots, p_K \tilde A]`, as the :math:`p_k` sum to 1.

For many coefficients or sparse data it is never formed: its product with a direction :math:`D` needs
:math:`u = AD + d_b`, the rows :math:`v_i = s_i(\mathrm{diag}(p_i) - p_i p_i')u_i`, and :math:`A'v`. Its diagonal is the
preconditioner of conjugate gradients: factors of its blocks were measured to halve the products on images, and to cost
more than they save.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, lapack

from pellucid.core.threads import run_blocks, shared_blas, shares
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_kernels import weighted_moments
from pellucid.linear_model.logistic.logistic_problem import LogisticPoint, LogisticProblem
from pellucid.solvers.curvature_equations import conjugate_gradient
from pellucid.solvers.design import Design

BLOCK_BYTES = 1 << 20
"""Size of a block of weighted rows: about one core's second-level cache."""

COSTLY = 1 << 24
"""Multiplications from which a Hessian is worth keeping for more than one step."""

NULL = 1e-12
"""Eigenvalues of the scaled Hessian below this part of the largest are directions in which nothing changes."""

MOST_PRODUCTS = 250
"""Products with the Hessian spent on one step."""

LOOSEST, TIGHTEST = 0.3, 1e-4
"""Residual of the equations at which they count as solved, as a part of the gradient: looser far from the minimum."""


@dataclass(frozen=True)
class NewtonEquations:
    """Newton's equations at a point, and near it."""

    solve: Callable[[Array], Array]
    """From the gradient by ``W`` and ``b``, of shape (p + 1, K), to the step of both."""
    lasting: bool = False
    """Whether they cost so much more than a gradient that they are worth keeping."""

    def step(self, problem: LogisticProblem, point: LogisticPoint) -> tuple[Array, Array, float]:
        """Return the steps of ``W`` and ``b``, and the slope of the objective along them."""
        gradient = full_gradient(problem, point)
        step = self.solve(gradient)
        return step[:-1], step[-1], float(np.sum(gradient[:-1] * step[:-1]))


def full_gradient(problem: LogisticProblem, point: LogisticPoint) -> Array:
    """Return the gradient of the smooth part by ``W`` and ``b``, of shape (p + 1, K)."""
    return np.vstack([point.gradient + problem.penalty.l2 * point.W, point.slope])


def factored_equations(problem: LogisticProblem, point: LogisticPoint) -> NewtonEquations:
    """Return the equations with the Hessian at a point, factored."""
    H = hessian(problem, point)
    solve, without = solver_of(H), int(not problem.fit_intercept)

    def step(gradient: Array) -> Array:
        used, found = len(gradient) - without, np.zeros_like(gradient)
        found[:used] = -solve(gradient[:used].T.ravel()).reshape(gradient.shape[1], -1).T
        return found

    return NewtonEquations(step, lasting=len(point.P) * len(H) ** 2 > COSTLY)


def conjugate_equations(problem: LogisticProblem, point: LogisticPoint, goal: float) -> NewtonEquations:
    """Return the equations solved by conjugate gradients, as precisely as a distance of ``goal`` needs and no more."""
    enough = 0.5 * np.sqrt(goal / point.distance) if point.distance > 0.0 else LOOSEST  # gaps are squares of gradients
    precision = float(min(LOOSEST, max(TIGHTEST, np.sqrt(point.distance), enough)))
    diagonal = hessian_diagonal(problem, point)
    return NewtonEquations(
        lambda gradient: conjugate_gradient(
            lambda D: hessian_product(problem, point, D),
            -gradient,
            diagonal,
            precision=precision,
            max_steps=MOST_PRODUCTS,
        )
    )


def hessian(problem: LogisticProblem, point: LogisticPoint) -> Array:
    """Return the Hessian by ``W`` and ``b``, ordered by class; directions without effect are given curvature."""
    k, width = problem.n_columns, problem.design.shape[1] + problem.fit_intercept
    if k == 1:
        H = weighted_gram(problem.design, problem.weight * point.P[:, 0] * (1.0 - point.P[:, 0]))
    else:
        H = softmax_hessian(problem.design, problem.weight, point.P)
    penalized = np.full(width, problem.penalty.l2)
    if problem.fit_intercept:
        penalized[-1] = 0.0
    return add_penalty(H, penalized, k)


def add_penalty(H: Array, penalized: Array, k: int) -> Array:
    """Add the penalty of each coefficient of a class to the Hessian of k of them, and curvature where nothing acts."""
    width = len(penalized)
    H.flat[:: len(H) + 1] += np.tile(penalized, k)
    if k > 1:
        # Adding the same to all classes does not change the loss, so no step does it, whatever curvature it is given.
        free = np.flatnonzero(penalized == 0.0)
        size = np.diagonal(H).reshape(k, width)[:, free].mean(axis=0)
        for m in range(k):
            for o in range(k):
                H[m * width + free, o * width + free] += size
    return H


def weighted_gram(design: Design, h: Array) -> Array:
    """Return ``[A 1]' diag(h) [A 1]``, without the ones where there is no intercept."""
    (n, p), root = design.shape, np.sqrt(h)

    def work(part: slice) -> tuple[Array, Array]:
        gram, product, border = np.zeros((p, p)), np.empty((p, p)), np.zeros(p)
        for rows, block in design.row_blocks(part, rows_at_least=256):
            block *= root[rows, None]  # the block is scratch memory
            gram += np.matmul(block.T, block, out=product)
            if design.fit_intercept:
                border += root[rows] @ block
        return gram, border

    grams, borders = zip(*run_blocks(work, shares(n, n * p * p)), strict=True)
    width = p + design.fit_intercept
    H = np.zeros((width, width))
    H[:p, :p] = np.sum(grams, axis=0)
    if design.fit_intercept:
        H[:p, p] = H[p, :p] = np.sum(borders, axis=0)
        H[p, p] = h.sum()
    return H


def softmax_hessian(design: Design, weight: Array, P: Array) -> Array:
    """Return the Hessian of the loss of several classes by ``W`` and ``b``, ordered by class."""
    factors, size = np.sqrt(weight)[:, None] * P, P.shape[1] * (design.shape[1] + design.fit_intercept)

    def work(part: slice) -> Array:
        total = np.zeros((size, size))
        for rows, block in design.row_blocks(part):
            add_joint_gram(total, block, factors[rows], has_ones=design.fit_intercept)
        return total

    joint = np.sum(run_blocks(work, shares(len(P), len(P) * size**2)), axis=0)
    return hessian_from_joint(joint, P.shape[1])


def add_joint_gram(total: Array, block: Array, factors: Array, *, has_ones: bool) -> None:
    """Add the Gram matrix of ``[f_1 [A 1], ..., f_K [A 1]]`` for the columns ``f_k`` of the factors."""
    p, k = block.shape[1], factors.shape[1]
    height = max(BLOCK_BYTES // (8 * len(total)), 64)
    buffer, product = np.empty((min(height, len(block)), k, p + has_ones)), np.empty_like(total)
    for start in range(0, len(block), height):
        f = factors[start : start + height]
        scaled = buffer[: len(f)]
        np.multiply(f[:, :, None], block[start : start + height, None, :], out=scaled[:, :, :p])
        if has_ones:
            scaled[:, :, p] = f
        flat = scaled.reshape(len(f), -1)
        total += np.matmul(flat.T, flat, out=product)


def hessian_from_joint(joint: Array, k: int) -> Array:
    """Return the Hessian of k classes from the Gram matrix of the rows times the probability of each.

    Probabilities sum to 1, so the blocks of a class sum to 0: its own is what the others leave, without cancellation.
    """
    width = len(joint) // k
    H = -joint.reshape(k, width, k, width)
    each = np.arange(k)
    H[each, :, each] = 0.0
    H[each, :, each] = -H.sum(axis=2)
    return H.reshape(k * width, k * width)


def solver_of(H: Array) -> Callable[[Array], Array]:
    """Return what solves ``H d = g``; of a singular ``H``, the part that has curvature."""
    diagonal = np.diagonal(H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = H * np.outer(scale, scale)
    scaled.flat[:: len(H) + 1] += 1e-15
    factor, failed = lapack.dpotrf(scaled, lower=True)
    if not failed and np.diagonal(factor).min() ** 2 > NULL:
        return lambda g: scale * lapack.dpotrs(factor, scale * g, lower=True)[0]
    with shared_blas(4.0 * len(H) ** 3):  # ten times the work of a Cholesky factor, which is too small to be shared
        values, vectors = eigh(scaled, check_finite=False)
    inverse = np.where(values > NULL * values[-1], 1.0 / np.where(values > 0.0, values, 1.0), 0.0)
    return lambda g: scale * (vectors @ (inverse * (vectors.T @ (scale * g))))


def hessian_product(problem: LogisticProblem, point: LogisticPoint, D: Array) -> Array:
    """Return the Hessian times a direction of shape (p + 1, K), whose last row is the intercept's."""
    p = len(D) - 1
    u = problem.design.times(D[:p]) + D[p]
    v = _curvature_times(problem, point.P, u)
    product = np.zeros_like(D)  # without an intercept its row stays 0, in the directions as well
    product[:p] = problem.design.transposed_times(v) + problem.penalty.l2 * D[:p]
    if problem.fit_intercept:
        product[p] = v.sum(axis=0)
    return product


def _curvature_times(problem: LogisticProblem, P: Array, u: Array) -> Array:
    """Return each row's second derivative of the loss by its logits, times the row of ``u``."""
    v = P * u
    v -= P * (v if problem.n_columns == 1 else v.sum(axis=1, keepdims=True))
    v *= problem.weight[:, None]
    return v


def hessian_diagonal(problem: LogisticProblem, point: LogisticPoint) -> Array:
    """Return the diagonal of the Hessian, of shape (p + 1, K), with 1 for columns without curvature.

    Each column is centered at its mean by the weights of the curvature: the intercept takes the rest.
    """
    h = problem.weight[:, None] * point.P * (1.0 - point.P)
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

    first, second = np.sum(run_blocks(work, shares(len(h), h.size * problem.design.shape[1])), axis=0)
    return first, second


def _sparse_moments(problem: LogisticProblem, h: Array) -> tuple[Array, Array]:
    """Return the same for the columns as they were given: what is left after centering does not depend on it."""
    X = problem.columns
    first, second = np.empty((2, h.shape[1], X.shape[1]))
    for k in range(h.shape[1]):
        weighted_moments(X.data, X.indices, X.indptr, np.ascontiguousarray(h[:, k]), first[k], second[k])
    return first.T, second.T
