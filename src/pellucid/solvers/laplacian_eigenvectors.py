"""The largest eigenvectors of normalized links, which are the smallest of their Laplacian."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.solvers.leading_eigenvectors import EigenPairs, dense_times, eigenpairs_at_once, leading_eigenpairs
from pellucid.solvers.penalized_system import factor_in_place, solve_factored
from pellucid.solvers.smallest_eigenvectors import POLISHED, on_span, smallest_eigenpairs

GOAL = 1e-12
"""Residuals that are asked for, in parts of the largest eigenvalue."""

LARGE = 500
"""Rows from which a few eigenvectors are found without all the others."""

FEW = 0.1
"""Part of the rows up to which components are few."""

PATIENCE = 120
"""Blocks multiplied by a dense matrix before it is factored instead: that takes about as long."""

SHIFT = 1e-5
"""Added to the Laplacian before it is factored: a smaller one costs digits, with a larger one less tells them apart."""

DENSE_LINKS = 150
"""Links of a row from which a factor of sparse links fills up, and products are tried first."""


def leading_vectors(M: Any, k: int, *, eigen_solver: str | None, tol: float, seed: int) -> EigenPairs:
    """Return the k largest eigenvalues of M, falling, with their vectors."""
    n, goal = M.shape[0], max(GOAL, tol)
    if n < LARGE or k > FEW * n:
        return eigenpairs_at_once(M.toarray() if sparse.issparse(M) else M, k)
    if sparse.issparse(M):
        return _of_sparse(M, k, goal, seed, may_factor=eigen_solver in (None, "arpack"))
    found = leading_eigenpairs(dense_times(M), n, k, goal=goal, seed=seed, most_steps=PATIENCE)
    if found.trace["residual"][-1] > goal:
        return _by_inverse(M, k, goal, seed)
    return found


def _of_sparse(M: Any, k: int, goal: float, seed: int, *, may_factor: bool) -> EigenPairs:
    """Return the eigenpairs of sparse links, by products with them or by way of the inverse."""
    n = M.shape[0]

    def times(block: Array) -> Array:
        return np.asarray(M @ block)

    if not may_factor:
        return leading_eigenpairs(times, n, k, goal=goal, seed=seed)
    if M.nnz > DENSE_LINKS * n:
        found = leading_eigenpairs(times, n, k, goal=goal, seed=seed, most_steps=PATIENCE)
        if found.trace["residual"][-1] <= goal:
            return found
    laplacian = sparse.diags_array(np.full(n, 2.0)) - M
    found = smallest_eigenpairs(laplacian, k, shift=SHIFT, goal=goal, seed=seed)
    return EigenPairs(2.0 - found.values, found.vectors, found.n_steps, found.trace)


def _by_inverse(M: Array, k: int, goal: float, seed: int) -> EigenPairs:
    """Return the eigenpairs of dense links from those of the inverse of L + SHIFT I, whose largest are far apart."""
    n = len(M)
    shifted = -M
    shifted.flat[:: n + 1] += 2.0 + SHIFT
    if not factor_in_place(shifted):  # an affinity with negative values: nothing is known of its eigenvalues
        return eigenpairs_at_once(M, k)
    inverse = partial(solve_factored, shifted)
    found = leading_eigenpairs(inverse, n, k, goal=goal / 10.0, seed=seed)
    vectors = found.vectors
    for _ in range(POLISHED):
        values, vectors, residual = on_span(M, vectors)
        if residual <= goal:
            break
        vectors = inverse(vectors)
    values, vectors, _ = on_span(M, vectors)
    return EigenPairs(values[::-1], vectors[:, ::-1], found.n_steps, found.trace)
