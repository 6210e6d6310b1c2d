"""The largest eigenvectors of normalized links, which are the smallest of their Laplacian."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import splu

from pellucid.core.types import Array
from pellucid.numerics.leading_eigenvectors import EigenPairs, dense_times, eigenpairs_at_once, leading_eigenpairs
from pellucid.numerics.tiled_cholesky import factor_in_place, solve_factored

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

SYMMETRIC = {"SymmetricMode": True}
"""For a sparse factor of a positive definite matrix, which needs no pivots off the diagonal."""

POLISHED = 2
"""Times that vectors are multiplied by the inverse once more, if they are not yet eigenvectors of M itself."""


def leading_vectors(M: Any, k: int, *, eigen_solver: str | None, tol: float, seed: int) -> EigenPairs:
    """Return the k largest eigenvalues of M, falling, with their vectors."""
    n, goal = M.shape[0], max(GOAL, tol)
    if n < LARGE or k > FEW * n:
        return eigenpairs_at_once(M.toarray() if sparse.issparse(M) else M, k)
    if sparse.issparse(M):
        if eigen_solver in (None, "arpack"):
            return _by_inverse(M, k, goal, seed)
        return leading_eigenpairs(lambda block: np.asarray(M @ block), n, k, goal=goal, seed=seed)
    found = leading_eigenpairs(dense_times(M), n, k, goal=goal, seed=seed, most_steps=PATIENCE)
    if found.trace["residual"][-1] > goal:
        return _by_inverse(M, k, goal, seed)
    return found


def _by_inverse(M: Any, k: int, goal: float, seed: int) -> EigenPairs:
    """Return the eigenpairs from those of the inverse of L + SHIFT I, whose largest are far apart."""
    n = M.shape[0]
    if sparse.issparse(M):
        shifted = (sparse.diags_array(np.full(n, 2.0 + SHIFT)) - M).tocsc()
        inverse = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=SYMMETRIC).solve
    else:
        shifted = -M
        shifted.flat[:: n + 1] += 2.0 + SHIFT
        if not factor_in_place(shifted):  # an affinity with negative values: nothing is known of its eigenvalues
            return eigenpairs_at_once(M, k)
        inverse = partial(solve_factored, shifted)
    found = leading_eigenpairs(inverse, n, k, goal=goal / 10.0, seed=seed)
    vectors = found.vectors
    for _ in range(POLISHED):
        values, vectors, residual = _on_span(M, vectors)
        if residual <= goal:
            break
        vectors = inverse(vectors)
    values, vectors, residual = _on_span(M, vectors)
    return EigenPairs(values, vectors, found.n_steps, found.trace)


def _on_span(M: Any, vectors: Array) -> tuple[Array, Array, float]:
    """Return the eigenpairs of M on the span of some vectors, falling, and the longest residual."""
    basis = qr(vectors, mode="economic")[0]
    image = np.asarray(M @ basis)
    small = basis.T @ image
    values, directions = (part[..., ::-1] for part in eigh((small + small.T) / 2.0))
    rest = image @ directions - (basis @ directions) * values
    return values, basis @ directions, float(np.sqrt(np.sum(rest**2, axis=0).max()))
