"""A Cholesky factor whose matrix gains and loses columns."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dtpsv

from pellucid.core.types import Array
from pellucid.numerics.packed_cholesky_kernels import delete_packed_column


class GrowingCholesky:
    """Upper ``R`` with ``R'R = G``, stored column after column: a new column is appended, nothing moves."""

    def __init__(self, capacity: int) -> None:
        self.size = 0
        self._packed = np.empty(capacity * (capacity + 1) // 2)

    def append(self, cross: Array, square: float, smallest_pivot: float) -> bool:
        """Add a column with these products with the others and with itself.

        Return False, and add nothing, if the others explain all but ``smallest_pivot`` of it.
        """
        k = self.size
        column = dtpsv(k, self._factor(), cross, trans=1) if k else cross
        pivot = square - float(column @ column)
        if not pivot > smallest_pivot * square:
            return False
        start = k * (k + 1) // 2
        self._packed[start : start + k] = column
        self._packed[start + k] = np.sqrt(pivot)
        self.size = k + 1
        return True

    def delete(self, i: int) -> None:
        """Remove column ``i``; later ones move up."""
        delete_packed_column(self._packed, self.size, i)
        self.size -= 1

    def solve(self, rhs: Array) -> Array:
        """Return ``G^-1 rhs``."""
        factor = self._factor()
        return np.asarray(dtpsv(self.size, factor, dtpsv(self.size, factor, rhs, trans=1)))

    def _factor(self) -> Array:
        return self._packed[: self.size * (self.size + 1) // 2]
