r"""From distances to scalar products about the mean, and the place of a new row among known ones.

.. math:: B = -\tfrac12 HD^{(2)}H,\quad H = I - \tfrac1n 11',\qquad B = V\Lambda V',\qquad Z = V\Lambda^{1/2}

:math:`D^{(2)}` are squared distances. A new row with squared distances :math:`d` to the known ones stands at
:math:`\tfrac12\Lambda^{-1}Z'(m - d)`, m the means of the columns of :math:`D^{(2)}` (Gower, 1968): for a known row that
is its own place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd

from pellucid.core.input_rules import unit_for
from pellucid.core.threads import run_blocks, shared_blas, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.solvers.leading_eigenvectors import (
    EigenPairs,
    dense_times,
    eigenpairs_at_once,
    leading_eigenpairs,
    signed,
)

BLOCK_ROWS = 128


def centered_rows(X: Array) -> tuple[Array, float]:
    """Return the rows about their mean, times a unit, and the unit.

    The mean is taken twice: that of rows far from 0 is rounded, and what is left of it would be an axis of its own.
    """
    centered = np.asarray(X - X.mean(axis=0, dtype=np.float64), dtype=np.float64)
    centered -= centered.mean(axis=0)
    unit = unit_for(float(np.abs(centered).max(initial=0.0)))
    centered *= unit
    return centered, unit


@dataclass(frozen=True)
class ScalarProducts:
    """Products about the mean of distances times ``unit``, and the mean squares of these."""

    matrix: Array
    means: Array
    unit: float

    @classmethod
    def of(cls, distances: Array) -> ScalarProducts:
        """Return the products that belong to the distances of all rows."""
        n, unit = len(distances), unit_for(float(distances.max(initial=0.0)))
        matrix, means = np.empty((n, n)), np.empty(n)
        parts = split_evenly(n, -(-n // BLOCK_ROWS))

        def square(rows: slice) -> None:
            np.multiply(distances[rows], unit, out=matrix[rows])
            np.square(matrix[rows], out=matrix[rows])
            means[rows] = matrix[rows].mean(axis=1)

        run_blocks(square, parts)
        shift = means - means.mean()

        def center(rows: slice) -> None:
            matrix[rows] -= means[rows, None]
            matrix[rows] -= shift
            matrix[rows] *= -0.5

        run_blocks(center, parts)
        return cls(matrix, means, unit)


def place_of(distances: Array, embedding: Array, eigenvalues: Array, squared_means: Array) -> Array:
    """Return the places of new rows with these distances to the known ones, of shape (n_new, n_components)."""
    unit = unit_for(float(np.sqrt(squared_means.max(initial=0.0))))
    squares = np.square(distances * unit)
    apart = squared_means * unit * unit - squares
    apart -= apart.mean(axis=1, keepdims=True)  # the columns of the embedding sum to 0: no change but in rounding
    values = eigenvalues * unit * unit
    scaled = np.asarray(embedding, dtype=np.float64) * unit / np.where(values > 0.0, values, np.inf)
    return np.asarray(0.5 * (apart @ scaled) / unit)


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
