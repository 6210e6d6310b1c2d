"""The smallest eigenvectors of a sparse matrix without negative eigenvalues, by way of its inverse.

The matrix, with a shift that keeps it from being singular, is factored once. The largest eigenvalues of the inverse are
far apart, so that Lanczos needs a few dozen solutions for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, qr
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh, splu

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.solvers.leading_eigenvectors import EigenPairs, leading_eigenpairs

SYMMETRIC = {"SymmetricMode": True}
"""For a sparse factor of a positive definite matrix, which needs no pivots off the diagonal."""

POLISHED = 3
"""Times that vectors are multiplied by the inverse once more, if they are not yet eigenvectors of the matrix itself."""


def smallest_eigenpairs(matrix: Any, k: int, *, shift: float, goal: float, seed: int = 0) -> EigenPairs:
    """Return the k smallest eigenvalues, rising, with their vectors; residuals aim at ``goal``."""
    n = matrix.shape[0]
    shifted = (matrix + shift * sparse.eye_array(n)).tocsc()
    inverse = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=SYMMETRIC).solve
    vectors, n_steps = leading_vectors(inverse, n, k, seed=seed)
    values, vectors, residual = on_span(matrix, vectors)
    for _ in range(POLISHED):
        if residual <= goal:
            break
        better = on_span(matrix, inverse(vectors))
        if not better[2] < residual:
            break
        values, vectors, residual = better
    trace = Trace()
    trace.add(iteration=n_steps, captured=float(values.sum()), residual=residual)
    return EigenPairs(values, vectors, n_steps, trace)


def on_span(matrix: Any, vectors: Array) -> tuple[Array, Array, float]:
    """Return the eigenpairs of a matrix on the span of some vectors, rising, and the longest residual."""
    basis = qr(vectors, mode="economic")[0]
    image = np.asarray(matrix @ basis)
    small = basis.T @ image
    values, directions = eigh((small + small.T) / 2.0)
    rest = image @ directions - (basis @ directions) * values
    return values, basis @ directions, float(np.sqrt(np.sum(rest**2, axis=0).max()))


def beside(known: Array, vectors: Array) -> Array:
    """Return what the span of some vectors has at right angles to one that it contains, one dimension less.

    Where several eigenvalues are equal to that of the known vector, any mixture of them may have been found.
    """
    toward = vectors.T @ known
    rotation = np.linalg.qr(np.column_stack([toward, np.eye(len(toward))]))[0]
    return np.asarray(vectors @ rotation[:, 1:])


# Leading eigenvectors where a product costs little: Lanczos from one vector (ARPACK), which needs the fewest products.
#
# From one vector it may find too few of several equal eigenvalues: a random vector at right angles to all found,
# multiplied a few times, would show one that was left out, and then blocks of vectors find them.


LOOKS = 6
"""Products from a random vector that look for an eigenvalue that was left out."""

BLOCK_GOAL = 1e-13
"""Residuals that blocks of vectors are asked for."""


def leading_vectors(
    times: Callable[[Array], Array], n: int, k: int, *, seed: int, tol: float = 0.0, span: int | None = None
) -> tuple[Array, int]:
    """Return vectors of the k largest eigenvalues of the matrix that ``times`` multiplies by, and how often it did.

    ``span`` is the number of vectors that are kept between restarts, ``tol`` the residuals that suffice, in parts of
    the eigenvalue; ARPACK's own where they are not given.
    """
    rng, n_products = np.random.default_rng(seed), 0

    def count(vector: Array) -> Array:
        nonlocal n_products
        n_products += 1
        return times(vector)

    try:
        matrix = LinearOperator((n, n), matvec=count, dtype=np.float64)
        values, vectors = eigsh(matrix, k, which="LA", v0=rng.standard_normal(n), tol=tol, ncv=span)
    except ArpackError:
        values, vectors = np.zeros(0), np.zeros((n, 0))
    if len(values) == k and not _is_one_left_out(count, vectors, float(values.min()), rng):
        return vectors, n_products
    found = leading_eigenpairs(times, n, k, goal=max(BLOCK_GOAL, tol), seed=seed)
    return found.vectors, n_products + found.n_steps


def _is_one_left_out(
    times: Callable[[Array], Array], vectors: Array, smallest: float, rng: np.random.Generator
) -> bool:
    """Return whether a random vector shows an eigenvalue above the smallest one found."""
    vector = rng.standard_normal(len(vectors))
    for _ in range(LOOKS):
        vector -= vectors @ (vectors.T @ vector)
        vector /= np.linalg.norm(vector)
        image = times(vector)
        if float(vector @ image) > smallest * (1.0 + 1e-9):
            return True
        vector = image
    return False
