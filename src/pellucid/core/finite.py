"""The check that data hold no NaN, no infinity and nothing that overflows when squared, on all threads."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array, Data

LARGEST = 1e151
"""Sums of squares of larger values overflow in float64."""

BLOCK = 1 << 18
"""Values squared and summed in one go."""


def check_finite(X: Data, estimator: Any, name: str = "X") -> None:
    """Refuse NaN and infinity with scikit-learn's message, and values above ``LARGEST`` with ours.

    A finite sum of squares shows at the cost of reading the data that nothing is wrong; only otherwise is each value
    looked at.
    """
    values: Array = X.data if sparse.issparse(X) else X
    if values.dtype.kind in "biu":
        return
    if values.dtype.kind in "OSU":  # texts among numbers
        assert_all_finite(X, estimator_name=type(estimator).__name__, input_name=name)
        return
    if all_finite(values):
        return
    assert_all_finite(X, estimator_name=type(estimator).__name__, input_name=name)
    size = float(max(values.max(), -values.min()))
    if size > LARGEST:
        raise ValueError(
            f"{name} must have values whose squares are finite, at most {LARGEST:g}, got {size:g}. Change its units."
        )


def all_finite(values: Array) -> bool:
    """Return whether the sum of all squares is finite, so that every value is; False leaves it open."""
    return values.size == 0 or math.isfinite(sum(run_blocks(_Squares(values), shares(len(values), values.size))))


def size_of(value: Any) -> float | None:
    """Return the largest absolute value of the floats in an attribute, infinity for NaN, None if it holds no floats."""
    if sparse.issparse(value):
        return size_of(value.data)
    if isinstance(value, (list, tuple)):
        return max((size for size in map(size_of, value) if size is not None), default=None)
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        size = float(max(np.max(value), -np.min(value))) if np.size(value) else 0.0  # np.abs would be a copy
        return np.inf if np.isnan(size) else size
    return None


class _Squares:
    """Sums the squares of a part of the rows, in blocks."""

    def __init__(self, values: Array) -> None:
        self.values = values
        self.height = max(1, BLOCK * len(values) // values.size)

    def __call__(self, part: slice) -> float:
        total = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(part.start, part.stop, self.height):
                flat = self.values[start : min(start + self.height, part.stop)].ravel(order="K")
                total += float(np.dot(flat, flat))
        return total
