"""How much of a residual is rounding."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)

ROUNDING = 1e-12
"""Relative error that sums over the rows may have."""

TINY = float(np.finfo(np.float64).tiny)
"""The smallest number with all its digits: stands for 0 where something is divided by it."""


def sum_error(n: int) -> float:
    """Return the relative error that sums of ``n`` rounded numbers may have: errors of random sign add up like this."""
    return EPSILON * (64 + 4 * sqrt(n))


def rounding_unit(dtype: Any) -> float:
    """Return the relative error of what is computed in float64 and stored in this dtype, that of the training data."""
    return 1000 * EPSILON + 8 * float(np.finfo(dtype).eps) * (np.dtype(dtype) != np.float64)
