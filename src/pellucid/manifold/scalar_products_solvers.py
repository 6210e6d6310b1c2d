"""Coordinates along the axes in which scalar products spread most."""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from pellucid.core.threads import shared_blas
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.manifold.scalar_products import centered_rows
from pellucid.numerics.leading_eigenvectors import (
    EigenPairs,
    dense_times,
    eigenpairs_at_once,
    leading_eigenpairs,
    signed,
)

GOAL = 1e-12
"""Residuals that are asked for, in parts of the largest eigenvalue."""

LARGE = 500
"""Rows from which a few axes are found without all the others."""

FEW = 0.1
"""Part of the rows up to which axes are few."""

SMALL = 1e-12
"""Part of the largest eigenvalue below which one is 0: its axis has no extent but rounding."""


def main_axes(
    matrix: Array, k: int, *, tol: float = 0.0, most_steps: int | None = None, whole: bool = False
) -> EigenPairs:
    """Return the k largest eigenvalues of the products; ``whole`` factors the matrix at once."""
    n = len(matrix)
    if whole or n < LARGE or k > FEW * n:
        return eigenpairs_at_once(matrix, k)
    return leading_eigenpairs(dense_times(matrix), n, k, goal=max(GOAL, tol), most_steps=most_steps)


def main_axes_of_rows(X: Array, k: int) -> tuple[EigenPairs, Array, float]:
    """Return the same for Euclidean distances of rows without any product of two rows, with mean squares and unit."""
    centered, unit = centered_rows(X)
    with shared_blas(float(centered.size) * min(centered.shape)):
        left, roots, _ = svd(centered, full_matrices=False, check_finite=False)
    values, vectors = np.zeros(k), np.zeros((len(X), k))
    found = min(k, len(roots))
    values[:found], vectors[:, :found] = roots[:found] ** 2, left[:, :found]
    trace = Trace()
    trace.add(iteration=1, captured=float(values.sum()))
    squares = np.einsum("ij,ij->i", centered, centered)
    return EigenPairs(values, vectors, 1, trace), squares + squares.mean(), unit


def coordinates(found: EigenPairs, unit: float) -> tuple[Array, Array]:
    """Return eigenvalues and places in the units of the distances; an axis without extent has only zeros."""
    values = np.where(found.values > SMALL * max(float(found.values.max(initial=0.0)), 0.0), found.values, 0.0)
    places = signed(found.vectors) * np.sqrt(values)
    return values / unit / unit, np.ascontiguousarray(places / unit)
