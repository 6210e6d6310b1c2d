"""A positive definite stand-in for a symmetric matrix that may not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, ldl, solve_triangular

from pellucid.core.types import Array

SMALLEST = 1e-8
"""Eigenvalues below this share of the largest are raised to it."""

Solver: TypeAlias = Callable[[Array], Array]


def modified_solver(A: Array, repair: str = "eigenvalues") -> tuple[Solver, bool]:
    r"""Return the solver of a system with :math:`A`, or with a near matrix that is positive definite.

    The second value tells whether Cholesky's factorization failed and the matrix had to be repaired: by

    - ``eigenvalues``: :math:`A = V\Lambda V'` becomes :math:`V|\Lambda|V'`, or
    - ``bunch-kaufman``: :math:`PAP' = LDL'`, with blocks of 1 x 1 and 2 x 2 in :math:`D`, becomes
      :math:`L|D|L'`, the modified Cholesky factor of Cheng and Higham (1998): an order of magnitude cheaper, but the
      matrix may be further from :math:`A`.

    Sizes below a small share of the largest are raised to it.

    Examples
    --------
    >>> solve, repaired = modified_solver(np.diag([2.0, -4.0]))
    >>> solve(np.array([2.0, 4.0])), repaired
    (array([1., 1.]), True)
    """
    A = np.asarray(A, dtype=np.float64)
    diagonal = np.diag(A)
    if not (diagonal > 0).all():
        return REPAIRS[repair](A), True
    scale = 1 / np.sqrt(diagonal)  # a unit diagonal: variables in different units must not look singular
    try:
        factor = cho_factor(scale[:, None] * A * scale, lower=True)
    except np.linalg.LinAlgError:
        return REPAIRS[repair](A), True
    if np.diag(factor[0]).min() ** 2 <= 4 * len(A) * np.finfo(float).eps:  # positive definite in name only
        return REPAIRS[repair](A), True
    return lambda b: scale * cho_solve(factor, scale * b), False


def _by_eigenvalues(A: Array) -> Solver:
    values, V = eigh(A)
    sizes = _raised(values)
    return lambda b: V @ ((V.T @ b) / sizes)


def _raised(values: Array) -> Array:
    sizes = np.abs(values)
    return np.maximum(sizes, max(SMALLEST * float(sizes.max(initial=0.0)), 1e-300))


def _by_blocks(A: Array) -> Solver:
    lower, middle, order = ldl(A)
    lower = lower[order]
    sizes, vectors = _block_eigenvalues(middle)
    sizes = _raised(sizes)

    def solve(b: Array) -> Array:
        half = vectors.T @ solve_triangular(lower, b[order], lower=True, unit_diagonal=True)
        solution = np.empty_like(half)
        solution[order] = solve_triangular(lower, vectors @ (half / sizes), lower=True, unit_diagonal=True, trans="T")
        return solution

    return solve


def _block_eigenvalues(middle: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a matrix of 1 x 1 and 2 x 2 blocks, block by block."""
    n = len(middle)
    sizes, vectors = np.diag(middle).astype(float), np.eye(n)
    j = 0
    while j < n - 1:
        if middle[j + 1, j] != 0.0:
            block = slice(j, j + 2)
            sizes[block], vectors[block, block] = eigh(middle[block, block])
            j += 1
        j += 1
    return sizes, vectors


REPAIRS: dict[str, Callable[[Array], Solver]] = {"eigenvalues": _by_eigenvalues, "bunch-kaufman": _by_blocks}
