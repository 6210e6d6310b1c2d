"""What proofs compute with: arrays, and what is asked of them everywhere."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Array: TypeAlias = np.ndarray

SparseOrDense: TypeAlias = Any
"""Rows: a NumPy array or a sparse one of SciPy, which has no types that mypy could read."""


def dense(values: Any) -> Array:
    """Return a matrix as an array, whether it is sparse or not."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def largest(values: Any) -> float:
    """Return the largest absolute value, 0 of none; a NaN stays."""
    return float(np.max(np.abs(values), initial=0.0))


def column_values(X: Array, j: int) -> Array:
    """Return a column of a table as numbers, or as texts if it holds texts."""
    column = X[:, j]
    is_text = column.dtype.kind in "US" or (column.dtype == object and isinstance(column[0], str))
    return np.asarray(column.astype(str if is_text else np.float64))
