"""Kernels of the inner product of two rows: linear, polynomial, sigmoid, cosine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.checks import check_nonnegative, is_number
from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel, keep
from pellucid.kernels.product_blocks import as_rows, inner_products, squared_lengths


@dataclass(frozen=True)
class Linear(Kernel):
    r""":math:`x'z`.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]], [[3.0, 0.0]])
    array([[3.]])
    """

    positive = True

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the inner products."""
        return inner_products(X, Z)

    def diagonal(self, X: Any) -> Array:
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
    coef0: float = 0.0
    gamma: float = 1.0

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

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the powers of the inner products."""
        return self._power(inner_products(X, Z))

    def diagonal(self, X: Any) -> Array:
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
    coef0: float = 0.0

    positive = False

    def __post_init__(self) -> None:
        check_nonnegative(gamma=self.gamma)
        check_finite_number(coef0=self.coef0)
        keep(self, gamma=float(self.gamma), coef0=float(self.coef0))

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the hyperbolic tangents of the inner products."""
        return self._tangent(inner_products(X, Z))

    def diagonal(self, X: Any) -> Array:
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

    def tile(self, X: Any, Z: Any) -> Array:
        """Return the inner products of the rows, each at length 1."""
        return inner_products(_at_length_1(X), _at_length_1(Z))

    def diagonal(self, X: Any) -> Array:
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


def _at_length_1(X: Any) -> Any:
    length = np.sqrt(squared_lengths(X))
    share = 1.0 / np.where(length > 0.0, length, 1.0)
    return sparse.diags_array(share, format="csr") @ X if sparse.issparse(X) else X * share[:, None]
