"""Entries of a product of two thin matrices where a sparse one has some."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array

NUMBERS_AT_ONCE = 1 << 18


def product_entries(X: Any, W: Array, H: Array) -> Array:
    """Return the entries of ``WH`` where a CSR matrix has one."""
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    found, columns = np.empty(X.nnz), np.ascontiguousarray(H.T)
    step = max(1, NUMBERS_AT_ONCE // max(1, W.shape[1]))
    for start in range(0, X.nnz, step):
        part = slice(start, start + step)
        np.einsum("ij,ij->i", W[rows[part]], columns[X.indices[part]], out=found[part])
    return found
