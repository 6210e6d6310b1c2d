"""The check that a matrix can be a covariance: symmetric and safely positive definite, whatever its units."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.probability.frozen import finite_array

ASYMMETRY = 1e-10
"""Difference between mirrored entries, relative to the deviations of their columns, that rounding may leave."""

SINGULAR = 10 * np.finfo(np.float64).eps
"""A correlation matrix with an eigenvalue below this times its size is singular to rounding."""


def covariance_matrix(name: str, values: Data) -> Array:
    """Return a symmetric positive definite matrix as float64, or refuse.

    It is judged as a correlation matrix, so columns in different units do not look singular.
    """
    matrix = finite_array(name, values, 2)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, got shape {matrix.shape}.")
    variance = matrix.diagonal()
    if variance.min() <= 0:
        j = int(variance.argmin())
        raise ValueError(f"{name} must have variances above 0, got {variance[j]:g} for column {j}.")
    deviation = np.sqrt(variance)
    correlation = matrix / deviation / deviation[:, None]
    if np.abs(correlation - correlation.T).max() > ASYMMETRY:
        raise ValueError(f"{name} must be symmetric, got entries that differ from their mirror image.")
    smallest = float(np.linalg.eigvalsh(correlation)[0])
    if smallest <= SINGULAR * len(matrix):
        raise ValueError(
            f"{name} must be positive definite, got correlations with eigenvalue {smallest:.2g}: a column is a "
            "combination of others."
        )
    return np.asarray((matrix + matrix.T) / 2)
