"""The check that data hold no NaN, no infinity and nothing that overflows when squared, on all threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data

LARGEST = 1e151
"""Sums of squares of larger values overflow in float64."""

BLOCK = 1 << 16
"""Values looked at before going on: the second look at a block then finds it in cache."""


def check_finite(X: Data, estimator: Any, name: str = "X") -> None:
    """Refuse NaN and infinity with scikit-learn's message, and values above ``LARGEST`` with ours."""
    values: Array = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    height = max(1, BLOCK * len(values) // values.size)

    def largest(part: slice) -> float:
        starts = range(part.start, part.stop, height)
        # min and max hand on NaN
        return max((_largest(values[i : min(i + height, part.stop)]) for i in starts), key=_nan_last)

    size = max(run_blocks(largest, split_evenly(len(values), thread_count())), key=_nan_last)
    if not np.isfinite(size):
        assert_all_finite(X, estimator_name=type(estimator).__name__, input_name=name)
    if size > LARGEST:
        raise ValueError(
            f"{name} must have values whose squares are finite, at most {LARGEST:g}, got {size:g}. Change its units."
        )


def _largest(block: Array) -> float:
    return float(max(block.max(), -block.min(), key=_nan_last))


def _nan_last(value: float) -> float:
    return np.inf if np.isnan(value) else value
