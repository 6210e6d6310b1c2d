"""Rows of a linear kernel about their mean, where they lie far from 0.

As the coefficients of a machine sum to 0, it is the same for rows moved by c, but for its intercept, which takes up
:math:`w'c`. The products then keep the digits that a common offset would cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel
from pellucid.kernels.row_kernels import Linear

FAR = 1e3
"""Distance from 0, in spreads of the rows, from which they are moved: nearer, no digits are lost that matter."""

SAME = 1e-13
"""Spread, in distances from 0, of a column that is constant up to rounding."""


@dataclass(frozen=True)
class SteadyRows:
    """Rows, and what was taken from each of them."""

    X: Any
    center: Array | None = None

    def shift(self, coef: Array, rows: Array) -> float:
        """Return :math:`w'c` of coefficients of some of the rows: the intercept for rows as given is so much less."""
        if self.center is None:
            return 0.0
        used = np.flatnonzero(coef)
        return float(self.center @ (coef[used] @ self.X[rows[used]]))


def steady_rows(kernel: Kernel, X: Any) -> SteadyRows:
    """Return the rows, moved to their mean if that helps."""
    if not isinstance(kernel, Linear) or sparse.issparse(X):
        return SteadyRows(X)
    center = X.mean(axis=0)
    moved = X - center
    spread, distance = np.abs(moved).max(axis=0), np.abs(center)
    spread[spread <= SAME * distance] = spread.max()  # a constant column has no digits to keep
    return SteadyRows(moved, center) if (distance > FAR * spread).any() else SteadyRows(X)
