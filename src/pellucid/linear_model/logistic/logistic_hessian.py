r"""Newton's equations of logistic regression, from the Hessian's Cholesky factor.

With :math:`\tilde A = [A\ 1]` and the probabilities :math:`p_k`, the Hessian has the blocks
:math:`\tilde A' S (\mathrm{diag}(p_k)\delta_{km} - \mathrm{diag}(p_k p_m)) \tilde A`: block-diagonal Gram matrices less
the Gram matrix of :math:`[p_1 \tilde A, \dots, p_K \tilde A]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from pellucid.core.threads import run_blocks, shared_blas, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.linear_model.logistic.logistic_problem import LogisticProblem, Point
from pellucid.numerics.design import Design

BLOCK_BYTES = 1 << 20
"""Size of a block of weighted rows: about one core's second-level cache."""

COSTLY = 1 << 24
"""Multiplications from which a Hessian is worth keeping for more than one step."""

NULL = 1e-12
"""Eigenvalues of the scaled Hessian below this part of the largest are directions in which nothing changes."""


@dataclass(frozen=True)
class HessianFactor:
    """A factored Hessian, for the point it was made at and others near it."""

    solve: Callable[[Array], Array]
    made_at: Point
    fit_intercept: bool
    lasting: bool

    def step(self, slope: Array, _at: Point) -> Array:
        """Return the step of ``W`` and ``b``; the intercept is at its minimum, so its slope is 0."""
        return self.step_from(np.vstack([slope, np.zeros(slope.shape[1])]))

    def step_from(self, slope: Array) -> Array:
        """Return the step of ``W`` and ``b`` for the gradient by both, of shape (p + 1, K)."""
        used, k = len(slope) - (not self.fit_intercept), slope.shape[1]
        step = np.zeros_like(slope)
        step[:used] = -self.solve(slope[:used].T.ravel()).reshape(k, -1).T
        return step


def factor_hessian(problem: LogisticProblem, at: Point, _distance: float) -> HessianFactor:
    """Return the Hessian at a point, factored."""
    H = hessian(problem, at)
    return HessianFactor(_solver(H), at, problem.fit_intercept, lasting=len(at.P) * len(H) ** 2 > COSTLY)


def hessian(problem: LogisticProblem, at: Point) -> Array:
    """Return the Hessian by ``W`` and ``b``, ordered by class; directions without effect are given curvature."""
    k, width = problem.n_columns, problem.design.shape[1] + problem.fit_intercept
    if k == 1:
        H = weighted_gram(problem.design, problem.weight * at.P[:, 0] * (1.0 - at.P[:, 0]))
    else:
        H = softmax_hessian(problem.design, problem.weight, at.P)
    penalized = np.full(width, problem.penalty.l2)
    if problem.fit_intercept:
        penalized[-1] = 0.0
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

    grams, borders = zip(*run_blocks(work, split_evenly(n, thread_count())), strict=True)
    width = p + design.fit_intercept
    H = np.zeros((width, width))
    H[:p, :p] = np.sum(grams, axis=0)
    if design.fit_intercept:
        H[:p, p] = H[p, :p] = np.sum(borders, axis=0)
        H[p, p] = h.sum()
    return H


def softmax_hessian(design: Design, weight: Array, P: Array) -> Array:
    """Return the Hessian of the loss of several classes by ``W`` and ``b``, ordered by class."""
    k, width = P.shape[1], design.shape[1] + design.fit_intercept
    H = -_joint_gram(design, np.sqrt(weight)[:, None] * P)
    for m in range(k):
        block = slice(m * width, (m + 1) * width)
        H[block, block] += weighted_gram(design, weight * P[:, m])
    return H


def _joint_gram(design: Design, factors: Array) -> Array:
    """Return the Gram matrix of ``[f_1 [A 1], ..., f_K [A 1]]`` for the columns ``f_k`` of the factors."""
    (n, p), k = design.shape, factors.shape[1]
    width = p + design.fit_intercept
    height = max(BLOCK_BYTES // (8 * k * width), 64)

    def work(part: slice) -> Array:
        total, product = np.zeros((k * width, k * width)), np.empty((k * width, k * width))
        buffer = np.empty((height, k, width))
        for rows, block in design.row_blocks(part):
            for start in range(0, len(block), height):
                f = factors[rows][start : start + height]
                scaled = buffer[: len(f)]
                np.multiply(f[:, :, None], block[start : start + height, None, :], out=scaled[:, :, :p])
                if design.fit_intercept:
                    scaled[:, :, p] = f
                flat = scaled.reshape(len(f), -1)
                total += np.matmul(flat.T, flat, out=product)
        return total

    return np.sum(run_blocks(work, split_evenly(n, thread_count())), axis=0)


def _solver(H: Array) -> Callable[[Array], Array]:
    """Return what solves ``H d = g``; of a singular ``H``, the part that has curvature."""
    diagonal = np.diagonal(H)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    scaled = H * np.outer(scale, scale)
    try:
        factor = cho_factor(scaled + 1e-15 * np.eye(len(H)), lower=True, check_finite=False)
        pivots = np.diagonal(factor[0])
        if pivots.min() ** 2 > NULL:
            return lambda g: scale * cho_solve(factor, scale * g, check_finite=False)
    except np.linalg.LinAlgError:
        pass
    with shared_blas():  # ten times the work of a Cholesky factor, which is too small to be shared
        values, vectors = eigh(scaled, check_finite=False)
    inverse = np.where(values > NULL * values[-1], 1.0 / np.where(values > 0.0, values, 1.0), 0.0)
    return lambda g: scale * (vectors @ (inverse * (vectors.T @ (scale * g))))
