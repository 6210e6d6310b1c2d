"""Symmetric systems with a penalty on the diagonal, solved to rounding level.

The matrix is scaled to a diagonal of ones. Large ones are factored in float32, in half the time, and that factor only
steers conjugate gradients whose residuals are those of the float64 matrix, until they are at rounding level; where it
does not lead there, the matrix itself is factored. Matrices that are not positive definite are solved by their
eigenvectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh, get_blas_funcs, get_lapack_funcs
from scipy.linalg.blas import dsymm

from pellucid.core.threads import run_blocks, shared_blas
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON, TINY, sum_error

LARGE = 1000
"""Rows from which a factor in float32 pays."""

MOST_STEPS = 40
"""Steps of conjugate gradients before the matrix is factored in float64 after all."""


def solve_penalized(K: Array, alpha: float, b: Array, *, overwrite: bool = False) -> Array:
    """Return the solution of (K + alpha I) x = b of shape (n, targets), from the lower half of a C-ordered ``K``.

    Where there is none, it is the shortest one of least error.
    """
    A = K if overwrite else K.copy()
    A.flat[:: len(A) + 1] += alpha
    diagonal = np.diagonal(A).copy()
    if np.min(diagonal) > TINY:
        scale = 1.0 / np.sqrt(diagonal)
        A *= scale[:, None]
        A *= scale
        found = _by_rough_factor(A, scale[:, None] * b) if len(A) >= LARGE else None
        if found is not None:
            return scale[:, None] * found
        backup = A.copy()
        if factor_in_place(A):
            return scale[:, None] * solve_factored(A, scale[:, None] * b)
        backup /= scale[:, None]  # errors count as they are: scaled ones would weigh rows of small products most
        backup /= scale
        return _least_squares(backup, b)
    return _least_squares(A, b)


def _by_rough_factor(A: Array, b: Array) -> Array | None:
    """Return the solution at rounding level by conjugate gradients steered by a factor in float32, or None.

    ``A`` has a diagonal of ones. Each target has steps of its own.
    """
    rough = A.astype(np.float32)
    if not factor_in_place(rough):
        return None
    level = np.maximum(np.abs(b).max(axis=0), TINY)
    x = np.zeros_like(b)
    residual, goal = b / level, sum_error(len(b))
    direction, before = np.zeros_like(b), np.ones(b.shape[1])
    for step in range(MOST_STEPS):
        steered = np.asarray(solve_factored(rough, residual.astype(np.float32)), dtype=np.float64)
        now = np.einsum("ij,ij->j", residual, steered)
        direction = steered + (now / np.where(before == 0.0, 1.0, before) if step else 0.0) * direction
        image = _times(A, direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        length = np.where(curvature > 0.0, now / np.where(curvature > 0.0, curvature, 1.0), 0.0)
        x += length * direction
        residual = b / level - _times(A, x)  # the true one: the recursion would drift away from it
        before = now
        reached = np.abs(residual).max(axis=0) / (np.abs(x).sum(axis=0) + 1.0)
        if not np.isfinite(reached).all():
            return None
        if np.all(reached <= goal / 16):
            return level * x
    return level * x if np.all(reached <= goal) else None


def _times(A: Array, x: Array) -> Array:
    """Return A x for the lower half of a symmetric C-ordered ``A``."""
    with shared_blas(float(A.size) * x.shape[1]):
        return np.asarray(dsymm(1.0, A.T, x, lower=0))


def _least_squares(A: Array, b: Array) -> Array:
    """Return the shortest solution of least error, by the eigenvectors of the lower half of ``A``."""
    with shared_blas(float(len(A)) ** 3 / 8):  # half of it are products of vectors, which gain little
        values, vectors = eigh(A, lower=True, overwrite_a=True, check_finite=False)
    is_zero = np.abs(values) <= len(values) * EPSILON * np.abs(values).max(initial=0.0)
    inverse = np.where(is_zero, 0.0, 1.0 / np.where(is_zero, 1.0, values))
    return np.asarray(vectors @ (inverse[:, None] * (vectors.T @ b)))


# Cholesky factors of large matrices, tile by tile on our own threads.
#
# The threads of BLAS wait for each other at every column block by spinning, which on a busy machine takes longer than
# the work; tiles handed to the pool do not. The order of all sums is fixed, so the bits do not depend on the threads.


TILE = 256


def factor_in_place(A: Array) -> bool:
    """Put L with A = L L' in place of the lower half of a C-ordered matrix; return whether A was positive definite.

    What stands above the diagonal is neither read nor kept. O(n^3 / 3) multiplications.
    """
    n = len(A)
    potrf = get_lapack_funcs("potrf", (A,))
    trsm = get_blas_funcs("trsm", (A,))
    for start in range(0, n, TILE):
        tile = slice(start, min(start + TILE, n))
        before = A[tile, :start]
        own = A[tile, tile]
        if start:
            own -= before @ before.T
        factor, info = potrf(own, lower=1, clean=1)
        if info != 0 or not np.isfinite(factor[-1, -1]):
            return False
        own[...] = factor
        below = [slice(i, min(i + TILE, n)) for i in range(tile.stop, n, TILE)]
        run_blocks(_Panel(A, trsm, factor, before, tile), below)
    return True


class _Panel:
    """Finishes one tile below the diagonal of a column of tiles."""

    def __init__(self, A: Array, trsm: Any, factor: Array, before: Array, tile: slice) -> None:
        self.A, self.trsm, self.factor, self.before, self.tile = A, trsm, factor, before, tile

    def __call__(self, rows: slice) -> None:
        part = self.A[rows, self.tile]
        if self.tile.start:
            part -= self.A[rows, : self.tile.start] @ self.before.T
        self.A[rows, self.tile] = self.trsm(1.0, self.factor, part, side=1, lower=1, trans_a=1)


def solve_factored(L: Array, b: Array) -> Array:
    """Return the solution of L L' x = b for a C-ordered ``L``, whose upper half is not read."""
    potrs = get_lapack_funcs("potrs", (L, b))
    return np.asarray(potrs(L.T, b, lower=0)[0])
