"""Query ids: which rows are compared with each other."""

from __future__ import annotations

import numpy as np
from sklearn.utils import column_or_1d

from pellucid.core.types import Array, Data


def query_numbers(qid: Data | None, n: int) -> Array:
    """Return the queries of ``n`` rows numbered from 0; without ids all rows are of one query."""
    if qid is None:
        return np.zeros(n, dtype=np.int64)
    ids = column_or_1d(qid)
    if len(ids) != n:
        raise ValueError(f"qid must have one id for each of the {n} rows of X, got {len(ids)}.")
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise ValueError("qid must hold an id for every row, got NaN. Drop those rows.")
    return np.unique(ids, return_inverse=True)[1].astype(np.int64)
