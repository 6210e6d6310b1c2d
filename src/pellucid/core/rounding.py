"""How much of a residual is rounding."""

from __future__ import annotations

from math import sqrt

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)

ROUNDING = 1e-12
"""Relative error that sums over the rows may have."""


def sum_error(n: int) -> float:
    """Return the relative error that sums of ``n`` rounded numbers may have: errors of random sign add up like this."""
    return EPSILON * (64 + 4 * sqrt(n))
