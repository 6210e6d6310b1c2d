"""The entries of a matrix that are known, as a sparse one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def observed_matrix(X: Any) -> Any:
    """Return the known entries as CSR in float64: the stored ones of a sparse matrix, those of a dense one not NaN."""
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    known = ~np.isnan(X)
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    columns = np.nonzero(known)[1].astype(np.int32)
    return sparse.csr_array((X[known].astype(np.float64), columns, indptr), shape=X.shape)
