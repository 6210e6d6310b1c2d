r"""Lower bounds of squared distances from one matrix product in low precision.

Rows and queries are centered, scaled and, where that keeps most of their size, projected on a few directions: a
projection only shortens distances. With :math:`\hat{x}` for what is left of :math:`x`, the product computes

.. math:: \|\hat{x}\|^2 - e\,\|x\|^2 - 2\,\hat{x} \cdot \hat{q}\ \le\ \|x - q\|^2 - (\|\hat{q}\|^2 - e\,\|q\|^2).

The share :math:`e` pays for all rounding, with unit u, in r of d dimensions. Sums of r + 1 products err by at most
(r + 1) u times the sum of their sizes, which is at most :math:`2 (\|x\|^2 + \|q\|^2)`: that takes 2 r + 16, conversion
included. A projected row errs by at most :math:`(\sqrt{r}\,(d + 1) + 2)\,u\,\|x\|` in length, so a squared distance by
4 times that share of :math:`\|x\|^2 + \|q\|^2`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import qr

from pellucid.core.types import Array

SAMPLED_ROWS = 1024
DIRECTIONS = 64
"""Dimensions of the projection; from four times as many on it is worth a try."""
WORTH_KEEPING = 0.6
"""Share of the sum of squares that the projection must keep to be used."""
LARGEST_SQUARE = 1e30
"""Rows whose squared norm, in units of the sample, is larger might overflow float32: nothing is ruled out for them."""
BLOCK_ROWS = 512
KEPT_BYTES = 2**26
"""Encoded rows are kept for the next queries if all of them fit in this."""


class RoughDistances:
    """The rows of ``X`` and any queries, encoded so that ``queries @ rows.T`` are the bounds."""

    def __init__(self, X: Array, sample: Sample, dtype: Any, basis: Array | None = None) -> None:
        self.X, self.sample, self.dtype = X, sample, dtype
        self.basis = None if basis is None else basis.astype(dtype)
        d = X.shape[1]
        r = d if basis is None else basis.shape[1]
        rounding = 2 * r + 16 + (0.0 if basis is None else 4 * (math.sqrt(r) * (d + 1) + 2))
        error = 1.1 * rounding * float(np.finfo(dtype).eps) / 2
        self.share = error / (1 - error) if error < 0.5 else math.inf  # with millions of features nothing is ruled out
        self.grain = 2 * float(np.finfo(dtype).eps)
        self._kept: dict[int, Array] | None = {} if len(X) * (r + 1) * 4 <= KEPT_BYTES else None

    def queries(self, Q: Array) -> tuple[Array, Array]:
        """Return the encoded queries, and for each what to add to its bounds."""
        encoded, squares, own = self._encode(Q)
        safe = squares <= LARGEST_SQUARE
        encoded[~safe] = 0.0
        encoded[:, -1] = 1.0
        return encoded, np.where(safe, self._lowered(own, squares), -np.inf)

    def rows(self, first: int) -> Array:
        """Return the encoded rows of the block that starts at row ``first``."""
        if self._kept is not None and first in self._kept:
            return self._kept[first]
        encoded, squares, own = self._encode(self.X[first : first + BLOCK_ROWS])
        safe = squares <= LARGEST_SQUARE
        encoded[:, :-1] *= -2.0
        encoded[~safe] = 0.0
        encoded[:, -1] = np.where(safe, self._lowered(own, squares), -np.inf)
        if self._kept is not None:  # two threads may both get here, with the same result
            self._kept[first] = encoded
        return encoded

    def _lowered(self, own: Array, squares: Array) -> Array:
        return own - self.share * squares if self.share < math.inf else np.full_like(own, -np.inf)

    def _encode(self, rows: Array) -> tuple[Array, Array, Array]:
        """Return the rows with a free last column, their squared norms, and those of what the projection leaves."""
        centered = rows - self.sample.center
        centered *= self.sample.unit
        squares = np.einsum("ij,ij->i", centered, centered)
        width = centered.shape[1] if self.basis is None else self.basis.shape[1]
        encoded = np.empty((len(rows), width + 1), self.dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are told apart by their squares
            if self.basis is None:
                encoded[:, :-1] = centered
                return encoded, squares, squares
            np.matmul(centered.astype(self.dtype), self.basis, out=encoded[:, :-1])
        return encoded, squares, np.einsum("ij,ij->i", encoded[:, :-1], encoded[:, :-1], dtype=np.float64)


class Sample:
    """Some rows, evenly spaced: their center, and the power of two that brings them near 1."""

    def __init__(self, X: Array) -> None:
        rows = np.asarray(X[:: max(1, len(X) // SAMPLED_ROWS)], dtype=np.float64)
        self.center = rows.mean(axis=0)
        self.rows = rows - self.center
        size = float(np.abs(self.rows).max(initial=0.0))
        self.unit = math.ldexp(1.0, -math.frexp(size)[1]) if size > 0 else 1.0

    def main_directions(self) -> Array | None:
        """Return an orthonormal basis that keeps most of the rows' squares, by two subspace iterations, or None."""
        rows, d = self.rows * self.unit, self.rows.shape[1]
        if d < 4 * DIRECTIONS:
            return None
        basis = np.random.default_rng(0).standard_normal((d, DIRECTIONS))
        for _ in range(3):
            basis = qr(rows.T @ (rows @ basis), mode="economic", check_finite=False)[0]
        kept = float(np.sum((rows @ basis) ** 2))
        return basis if kept > WORTH_KEEPING * float(np.sum(rows**2)) else None
