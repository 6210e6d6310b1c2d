"""Leading eigenvectors where a product costs little: Lanczos from one vector (ARPACK), which needs the fewest products.

From one vector it may find too few of several equal eigenvalues: a random vector at right angles to all found,
multiplied a few times, would show one that was left out, and then blocks of vectors find them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from pellucid.core.types import Array
from pellucid.numerics.leading_eigenvectors import leading_eigenpairs

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
