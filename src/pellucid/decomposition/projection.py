"""Projections of rows on components, on all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array

BLOCK_ROWS = 4096


def projected(X: Any, components: Array, mean: Array | None = None) -> Array:
    """Return ``(X - mean) components'`` in the dtype of the rows."""
    V = components.T.astype(X.dtype, copy=False)
    if sparse.issparse(X):
        Z = np.asarray(X @ V)
        return Z if mean is None else Z - (mean @ components.T).astype(X.dtype)
    out = np.empty((X.shape[0], V.shape[1]), dtype=X.dtype)

    def work(part: slice) -> None:
        for start in range(part.start, part.stop, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, part.stop))
            block = X[rows] if mean is None else X[rows] - mean.astype(X.dtype, copy=False)
            np.matmul(block, V, out=out[rows])

    run_blocks(work, shares(X.shape[0], X.size * max(V.shape[1], 1)))
    return out
