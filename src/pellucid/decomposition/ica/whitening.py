r"""Whitening: the mean taken away, and the principal directions divided by what is spread along each.

.. math:: K = D^{-1}U',\qquad (X - \bar x)' = U D V',\qquad \sqrt n\,K(x - \bar x)\ \text{has covariance}\ I .

The first entry of each direction is above 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

ROWS_AT_ONCE = 4096

WELL_CONDITIONED = 1e6
"""Quotient of the largest and the least squared singular value up to which products of columns lose no digit that
matters: beyond, the centered rows are factored themselves."""


@dataclass(frozen=True)
class Whitening:
    """The mean, the directions ``K`` (q, d), and how many there could have been."""

    mean: Array
    K: Array
    rank: int
    is_degenerate: bool
    """Whether fewer directions have a spread than there are rows or columns."""

    @property
    def inverse(self) -> Array:
        """The directions times their spread, of shape (d, q): ``K @ inverse`` is the identity."""
        lengths = np.einsum("ij,ij->i", self.K, self.K)
        return (self.K / lengths[:, None]).T

    def white(self, X: Array, dtype: type) -> Array:
        """Return the white rows, transposed: of shape (q, n)."""
        out: Array = np.empty((len(self.K), len(X)), dtype=dtype)
        scaled = np.sqrt(len(X)) * self.K

        def work(rows: slice) -> None:
            out[:, rows] = scaled @ (X[rows] - self.mean).T

        run_blocks(work, row_blocks(len(X)))
        return out


def find_whitening(X: Array, n_components: int | None) -> Whitening:
    """Return the leading directions, no more than have a spread."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    directions, squares = _from_products(X, mean) if n > d else (np.empty((d, 0)), np.zeros(0))
    if not len(squares) or squares[-1] * WELL_CONDITIONED <= squares[0]:
        directions, values, _ = svd((X - mean).T, full_matrices=False, check_finite=False)
        squares = values**2
    unit = EPSILON * _unit(X)  # of the data, and of a mean that is taken away from numbers of its size
    noise = (max(n, d) * unit) ** 2 * squares[0] + n * (4.0 * unit * float(np.abs(mean).max())) ** 2
    rank = int(np.sum(squares > noise))
    q = min(rank, rank if n_components is None else n_components)
    directions = directions[:, :q] * np.where(directions[0, :q] < 0.0, -1.0, 1.0)
    return Whitening(mean, (directions / np.sqrt(squares[:q])).T, rank, rank < min(n, d))


def row_blocks(n: int) -> list[slice]:
    """Return blocks of rows, the same on any number of threads."""
    return split_evenly(n, -(-n // ROWS_AT_ONCE))


def _unit(X: Array) -> float:
    """Return how much coarser the rounding of the data is than that of float64."""
    return float(np.finfo(X.dtype).eps) / EPSILON


def _from_products(X: Array, mean: Array) -> tuple[Array, Array]:
    """Return directions and squared singular values, the largest first, from the products of columns."""

    def products(rows: slice) -> Array:
        centered = X[rows] - mean
        return centered.T @ centered

    squares, directions = eigh(np.sum(run_blocks(products, row_blocks(len(X))), axis=0), check_finite=False)
    return directions[:, ::-1], np.maximum(squares[::-1], 0.0)
