r"""Kernels of the distance of two rows: Gaussian and Laplacian.

Squared distances come from :math:`\|x\|^2 + \|z\|^2 - 2x'z`, with the rows taken about the mean of a tile, which moves
no distance: a common offset of 1e8 costs no digits. What is left of rounding, about
:math:`(4 + \sqrt{d})\,\epsilon\,(\|x\|^2 + \|z\|^2)` as errors of random sign add up, is looked at: wherever it might
move a product of the kernel by more than ``WANTED``, the distance is computed again from the differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from pellucid.core.checks import check_nonnegative, check_positive
from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel, keep
from pellucid.kernels.product_blocks import inner_products, squared_lengths
from pellucid.proofs.rounding import EPSILON

WANTED = 1e-12
"""Absolute error that a product may have."""

NEGLIGIBLE = 40.0
r"""Exponents beyond which a product is below :math:`10^{-17}`."""

DIFFERENCES = 1 << 20
"""Entries of differences of rows held at once."""


@dataclass(frozen=True, init=False)
class RBF(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_2^2)`, with :math:`\gamma = 1 / (2\sigma^2)` if ``sigma`` is given instead.

    Examples
    --------
    >>> RBF(sigma=2.0)
    RBF(gamma=0.125)
    >>> RBF(sigma=2.0)([[0.0]], [[4.0]]).round(4)  # exp(-16/8)
    array([[0.1353]])
    """

    gamma: float = 1.0

    positive = True

    def __init__(self, gamma: float | None = None, *, sigma: float | None = None) -> None:
        if sigma is not None:
            if gamma is not None:
                raise ValueError(f"gamma must be left out if sigma is given, got {gamma!r} and sigma={sigma!r}.")
            check_positive(sigma=sigma)
            gamma = 1.0 / (2.0 * float(sigma) ** 2)
        gamma = 1.0 if gamma is None else gamma
        check_nonnegative(gamma=gamma)
        keep(self, gamma=float(gamma))

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the Gaussian of each distance."""
        exponents = squared_distances(X, Z, self.gamma)
        exponents *= -self.gamma
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: Any) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])


@dataclass(frozen=True)
class Laplacian(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_1)`."""

    gamma: float = 1.0

    positive = True

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        keep(self, gamma=float(self.gamma))

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the exponential of each distance."""
        exponents = -self.gamma * _city_block(X, Z)
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: Any) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])


def squared_distances(X: Any, Z: Any, gamma: float) -> Array:
    """Return squared distances, as precise as a Gaussian kernel of this ``gamma`` needs them."""
    dense = not sparse.issparse(X) and not sparse.issparse(Z)
    if dense:
        center = Z.mean(axis=0) if len(Z) else 0.0
        X, Z = X - center, Z - center
    own, others = squared_lengths(X), squared_lengths(Z)
    squares = inner_products(X, Z)
    squares *= -2.0
    squares += own[:, None]
    squares += others
    np.maximum(squares, 0.0, out=squares)
    share = (4.0 + sqrt(X.shape[1])) * EPSILON
    if gamma * share * (own.max(initial=0.0) + others.max(initial=0.0)) > WANTED:
        is_rough = gamma * share * (own[:, None] + others) > WANTED
        is_rough &= gamma * (squares - share * (own[:, None] + others)) <= NEGLIGIBLE
        _compute_again(squares, X, Z, is_rough)
    return squares


def _compute_again(squares: Array, X: Any, Z: Any, chosen: Array) -> None:
    """Replace the chosen squared distances by sums of squared differences."""
    i, j = np.nonzero(chosen)
    step = max(1, DIFFERENCES // max(1, X.shape[1]))
    for start in range(0, len(i), step):
        rows, columns = i[start : start + step], j[start : start + step]
        squares[rows, columns] = squared_lengths(X[rows] - Z[columns])


def _city_block(X: Any, Z: Any) -> Array:
    if sparse.issparse(X) or sparse.issparse(Z):
        from sklearn.metrics.pairwise import manhattan_distances

        return np.asarray(manhattan_distances(sparse.csr_matrix(X), sparse.csr_matrix(Z)))
    return np.asarray(cdist(X, Z, "cityblock"))
