"""The kernels that have a name: of inner products, of distances, and of histograms."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from pellucid.core.checks import check_nonnegative, check_positive, is_number
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.kernel import Kernel, keep
from pellucid.kernels.product_blocks import as_rows, inner_products, squared_lengths
from pellucid.proofs.rounding import EPSILON


@dataclass(frozen=True)
class Linear(Kernel):
    r""":math:`x'z`.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 0.0]])
    array([[3.]])
    """

    positive = True

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the inner products."""
        return inner_products(X, Z)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the squared length of each row."""
        return squared_lengths(as_rows(X))


@dataclass(frozen=True)
class Polynomial(Kernel):
    r""":math:`(\gamma x'z + c)^d`, homogeneous for :math:`c = 0`.

    Examples
    --------
    >>> Polynomial(2, coef0=1.0)([[1.0, 2.0]], [[3.0, 0.0]])
    array([[16.]])
    """

    degree: float = 3
    r"""The power :math:`d`, at least 0; if it is no whole number, :math:`\gamma x'z + c` must not be below 0."""
    coef0: float = 0.0
    """The constant :math:`c`; below 0 the kernel need not be an inner product."""
    gamma: float = 1.0
    """Factor of the inner product, at least 0."""

    def __post_init__(self) -> None:
        check_nonnegative(degree=self.degree, gamma=self.gamma)
        check_finite_number(coef0=self.coef0)
        degree = float(self.degree)
        keep(
            self,
            degree=int(degree) if degree.is_integer() else degree,
            coef0=float(self.coef0),
            gamma=float(self.gamma),
        )

    @property
    def positive(self) -> bool:
        """Whether the degree is a whole number and the constant not below 0: then it has an explicit map."""
        return isinstance(self.degree, int) and self.coef0 >= 0.0

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the powers of the inner products."""
        return self._power(inner_products(X, Z))

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the power of the squared length of each row."""
        return self._power(squared_lengths(as_rows(X)))

    def _power(self, products: Array) -> Array:
        """Return the powers, in place of the inner products."""
        if self.gamma != 1.0:
            products *= self.gamma
        if self.coef0 != 0.0:
            products += self.coef0
        if not isinstance(self.degree, int):
            if products.min(initial=0.0) < 0.0:
                raise ValueError(
                    f"degree must be a whole number where gamma x'z + coef0 is below 0, got {self.degree!r}."
                )
            return np.power(products, self.degree, out=products)
        with np.errstate(over="ignore"):  # said in a sentence by who needs finite products
            return whole_power(products, self.degree)


@dataclass(frozen=True)
class Sigmoid(Kernel):
    r""":math:`\tanh(\gamma x'z + c)`, which is no inner product for most parameters."""

    gamma: float = 1.0
    """Factor of the inner product, at least 0."""
    coef0: float = 0.0
    """The constant :math:`c`, any finite number."""

    positive = False

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        check_finite_number(coef0=self.coef0)
        keep(self, gamma=float(self.gamma), coef0=float(self.coef0))

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the hyperbolic tangents of the inner products."""
        return self._tangent(inner_products(X, Z))

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the hyperbolic tangent for the squared length of each row."""
        return self._tangent(squared_lengths(as_rows(X)))

    def _tangent(self, products: Array) -> Array:
        products *= self.gamma
        products += self.coef0
        return np.tanh(products, out=products)


@dataclass(frozen=True)
class Cosine(Kernel):
    r""":math:`x'z / (\|x\|\,\|z\|)`; 0 for a row of zeros."""

    positive = True

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the inner products of the rows, each at length 1."""
        return inner_products(_at_length_1(X), _at_length_1(Z))

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return ones, and 0 for rows of zeros."""
        return (squared_lengths(as_rows(X)) > 0.0).astype(np.float64)


def whole_power(base: Array, power: int) -> Array:
    """Return a whole power by repeated squares: NumPy's own takes ten times as long from the third on."""
    if power == 0:
        base[...] = 1.0
        return base
    result: Array | None = None
    while True:
        if power & 1:
            result = base.copy() if result is None and power > 1 else base if result is None else result * base
        power >>= 1
        if not power:
            return result if result is not None else base
        base = np.multiply(base, base, out=base)


def check_finite_number(**values: Any) -> None:
    """Refuse what is not a finite number."""
    for name, value in values.items():
        if not is_number(value):
            raise TypeError(f"{name} must be a number, got {value!r}.")
        if not np.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value!r}.")


def _at_length_1(X: SparseOrDense) -> Any:
    length = np.sqrt(squared_lengths(X))
    share = 1.0 / np.where(length > 0.0, length, 1.0)
    return sparse.diags_array(share, format="csr") @ X if sparse.issparse(X) else X * share[:, None]


# Kernels of the distance of two rows: Gaussian and Laplacian.
#
# Squared distances come from :math:`\|x\|^2 + \|z\|^2 - 2x'z`, with the rows taken about the mean of a tile, which
# moves no distance: a common offset of 1e8 costs no digits. What is left of rounding, about :math:`(4 +
# \sqrt{d})\,\epsilon\,(\|x\|^2 + \|z\|^2)` as errors of random sign add up, is looked at: wherever it might move a
# product of the kernel by more than ``WANTED``, the distance is computed again from the differences.


WANTED = 1e-12
"""Absolute error that a product may have."""

NEGLIGIBLE = 40.0
r"""Exponents beyond which a product is below :math:`10^{-17}`."""

DIFFERENCES = 1 << 20
"""Entries of differences of rows held at once."""


@dataclass(frozen=True, init=False)
class RBF(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_2^2)`, or with a width, :math:`\gamma = 1 / (2\sigma^2)`.

    Parameters
    ----------
    gamma : float, default=None
        Factor of the squared distance, at least 0; None is 1, unless ``sigma`` is given.
    sigma : float, default=None
        Width of the bell, above 0, in the unit of the columns. Give it or ``gamma``.

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

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the Gaussian of each distance."""
        exponents = squared_distances(X, Z, self.gamma)
        exponents *= -self.gamma
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])


@dataclass(frozen=True)
class Laplacian(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_1)`."""

    gamma: float = 1.0
    """Factor of the distance, at least 0; the larger, the nearer rows must be to count as alike."""

    positive = True

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        keep(self, gamma=float(self.gamma))

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the exponential of each distance."""
        exponents = -self.gamma * _city_block(X, Z)
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])


def squared_distances(X: SparseOrDense, Z: Any, gamma: float) -> Array:
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


def _compute_again(squares: Array, X: SparseOrDense, Z: Any, chosen: Array) -> None:
    """Replace the chosen squared distances by sums of squared differences."""
    i, j = np.nonzero(chosen)
    step = max(1, DIFFERENCES // max(1, X.shape[1]))
    for start in range(0, len(i), step):
        rows, columns = i[start : start + step], j[start : start + step]
        squares[rows, columns] = squared_lengths(X[rows] - Z[columns])


def _city_block(X: SparseOrDense, Z: Any) -> Array:
    if sparse.issparse(X) or sparse.issparse(Z):
        from sklearn.metrics.pairwise import manhattan_distances

        return np.asarray(manhattan_distances(sparse.csr_matrix(X), sparse.csr_matrix(Z)))
    return np.asarray(cdist(X, Z, "cityblock"))


@dataclass(frozen=True)
class AdditiveChi2(Kernel):
    r""":math:`-\sum_j (x_j - z_j)^2 / (x_j + z_j)`, no inner product: its diagonal is 0."""

    positive = False

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return minus the distances."""
        from sklearn.metrics.pairwise import additive_chi2_kernel

        if sparse.issparse(X) or sparse.issparse(Z):
            raise TypeError("X must be dense for a chi-square kernel, got a sparse matrix. Use X.toarray().")
        lowest = min(X.min(initial=0.0), Z.min(initial=0.0))
        if lowest < 0.0:
            raise ValueError(f"X must have no entry below 0 for a chi-square kernel, got {lowest:g}.")
        return np.asarray(additive_chi2_kernel(X, Z), dtype=np.float64)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return zeros."""
        return np.zeros(np.shape(X)[0])


@dataclass(frozen=True)
class Chi2(Kernel):
    r""":math:`\exp(-\gamma\sum_j (x_j - z_j)^2 / (x_j + z_j))`."""

    gamma: float = 1.0
    """Factor of the sum, at least 0."""

    positive = True

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        keep(self, gamma=float(self.gamma))

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the exponential of minus the distances."""
        exponents = AdditiveChi2().tile(X, Z)
        exponents *= self.gamma
        return np.exp(exponents, out=exponents)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return ones."""
        return np.ones(np.shape(X)[0])
