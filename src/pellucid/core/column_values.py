"""The columns of a table of mixed kinds: numbers or texts each."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array


def column_values(X: Array, j: int) -> Array:
    """Return a column as float64, or as texts if it holds texts."""
    column = X[:, j]
    if column.dtype.kind in "US" or (column.dtype == object and isinstance(column[0], str)):
        return column.astype(str)
    if column.dtype == object and any(isinstance(value, str) for value in column):
        raise TypeError(f"X must hold numbers or texts in column {j}, got both. Turn all into text.")
    return column.astype(np.float64)
