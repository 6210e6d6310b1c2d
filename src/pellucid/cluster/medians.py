"""The middle of weighted numbers."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.rounding import sum_error


def middle_values(X: Array, weight: Array) -> tuple[Array, Array]:
    """Return the lower and the upper median of each column: every number between them is a median.

    A weight of k counts as k repetitions. Weights that add up to one half of all, up to rounding, count as one half.

    Examples
    --------
    >>> low, high = middle_values(np.array([[1.0], [2.0], [5.0]]), np.array([1.0, 1.0, 2.0]))
    >>> low, high
    (array([2.]), array([5.]))
    """
    order = np.argsort(X, axis=0, kind="stable")
    values, heights = np.take_along_axis(X, order, axis=0), np.cumsum(weight[order], axis=0)
    half, slack = weight.sum() / 2, sum_error(len(weight)) * weight.sum()
    columns = np.arange(X.shape[1])
    return values[(heights >= half - slack).argmax(axis=0), columns], values[
        (heights > half + slack).argmax(axis=0), columns
    ]
