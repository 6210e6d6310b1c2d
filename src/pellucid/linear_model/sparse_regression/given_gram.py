"""A Gram matrix that the user brings."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.dense_design import DenseDesign
from pellucid.numerics.design import Design

COMPARED = 5
"""Columns of the given matrix that are compared with the data."""


def given_gram(precompute: Any, design: Design) -> Array | None:
    """Return ``precompute`` as an array if it is the Gram matrix of the design, None if it is only a permission.

    Sparse designs ignore it, as in scikit-learn. With an intercept, it must be the matrix of centered data.
    """
    if not _is_matrix(precompute) or not isinstance(design, DenseDesign):
        return None
    gram, p = np.asarray(precompute, dtype=np.float64), design.shape[1]
    if gram.shape != (p, p):
        raise ValueError(f"precompute must be of shape {(p, p)}, got {gram.shape}. Pass the Gram matrix of X.")
    if not np.allclose(design.mean, 0.0):
        warnings.warn(
            "precompute should be the Gram matrix of a centered X when fit_intercept=True, got an X that is not "
            "centered. The matrix is not used: center X first.",
            stacklevel=4,
        )
        return None
    some = np.unique(np.linspace(0, p - 1, min(p, COMPARED)).astype(np.intp))
    expected = design.gram(some, some)
    tolerance = 1e-4 if np.asarray(precompute).dtype == np.float32 else 1e-7
    if not np.allclose(gram[np.ix_(some, some)], expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()):
        raise ValueError(
            "precompute must be the Gram matrix of X (centered and weighted as in the fit), got other numbers. "
            "Leave it out, or compute it from the same data."
        )
    return gram


def _is_matrix(precompute: Any) -> bool:
    if precompute is None or isinstance(precompute, (bool, np.bool_)):
        return False
    if isinstance(precompute, str) and precompute == "auto":
        return False
    if isinstance(precompute, str):
        raise ValueError(f"precompute must be one of (True, False, 'auto') or a matrix, got {precompute!r}.")
    return True
