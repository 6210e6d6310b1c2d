"""Kernels: products of rows in the space that a kernel stands for, as value objects that add and multiply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

from pellucid.core.checks import check_nonnegative, check_positive, is_number
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.product_blocks import (
    as_rows,
    lower_products_in_tiles,
    products_in_tiles,
    products_times,
)


class Kernel(ABC):
    """``kernel(X, Z)`` are the products of the rows of two matrices, dense or sparse, in float64.

    Kernels are values: equal if they are written in the same way, and never changed. They add, multiply and take
    factors above 0, all of which leads to kernels again.

    Examples
    --------
    >>> from pellucid.kernels import RBF, Polynomial
    >>> 2 * RBF(0.5) + Polynomial(2, coef0=1) * RBF(1) + 3
    2.0 * RBF(gamma=0.5) + Polynomial(degree=2, coef0=1.0, gamma=1.0) * RBF(gamma=1.0) + 3.0
    """

    is_given = False
    """Whether ``X`` has products instead of rows; ``Z`` then numbers its columns."""

    has_function = False
    """Whether a function of the user's is in it, which one thread at a time may call."""

    parts: tuple[Kernel, ...] = ()
    """The kernels that it is made of; none for a plain one."""

    @abstractmethod
    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the products of two blocks of checked rows, as an array of its own."""

    @abstractmethod
    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the product of each row with itself."""

    @property
    @abstractmethod
    def positive(self) -> bool:
        """Whether it is known to be an inner product whatever the rows are (Mercer's condition)."""

    def __call__(self, X: SparseOrDense, Z: Any = None) -> Array:
        """Return the products, of shape (n_rows of ``X``, n_rows of ``Z``); without ``Z`` those of ``X`` with itself.

        Each pair of the latter is computed once, so that the result is symmetric to the last bit.
        """
        rows = self._rows(X)
        if Z is not None:
            return products_in_tiles(self.tile, rows, self._others(rows, Z), share=not self.has_function)
        if self.is_given:
            return self.tile(rows, np.arange(rows.shape[1]))
        return self._lower(rows, np.empty((rows.shape[0], rows.shape[0])))

    def lower(self, X: SparseOrDense, out: Array) -> Array:
        """Write the products of the rows of ``X`` with each other into ``out``; those above the diagonal are noise."""
        rows = self._rows(X)
        if self.is_given:
            out[...] = self.tile(rows, np.arange(rows.shape[1]))
            return out
        return self._lower(rows, out, mirror=False)

    def times(self, X: SparseOrDense, Z: Any, coef: Array) -> Array:
        """Return the products times ``coef`` of shape (n_rows of ``Z``, ...), never all products at once."""
        rows = self._rows(X)
        return products_times(self.tile, rows, self._others(rows, Z), coef, share=not self.has_function)

    def feature_map(self, X: SparseOrDense) -> Array:
        """Return features whose inner products are the kernel's, where there is a finite number of them."""
        from pellucid.kernels.feature_map import feature_map

        return feature_map(self, X)

    def feature_names(self, n_features: int) -> list[str]:
        """Return the monomial of each column of the feature map."""
        from pellucid.kernels.feature_map import feature_names

        return feature_names(self, n_features)

    def _lower(self, rows: Any, out: Array, *, mirror: bool = True) -> Array:
        return lower_products_in_tiles(self.tile, rows, out, mirror=mirror, share=not self.has_function)

    def _rows(self, X: SparseOrDense) -> Any:
        return X if self.is_given else as_rows(X)

    def _others(self, X: SparseOrDense, Z: Any) -> Any:
        if self.is_given:
            return np.asarray(Z)
        others = as_rows(Z)
        if others.shape[1] != X.shape[1]:
            raise ValueError(f"Z must have {X.shape[1]} columns as X has, got {others.shape[1]}.")
        return others

    def __add__(self, other: Any) -> Kernel:
        if is_number(other):
            return self if other == 0 else Sum((*_terms(self), Constant(other)))
        return Sum(_terms(self) + _terms(other)) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        if not is_number(other):
            return NotImplemented
        return self if other == 0 else Sum((Constant(other), *_terms(self)))  # sum() starts with 0

    def __mul__(self, other: Any) -> Kernel:
        if is_number(other):
            return scaled(other, self)
        return product(self, other) if isinstance(other, Kernel) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        return scaled(other, self) if is_number(other) else NotImplemented

    def __pow__(self, power: Any) -> Kernel:
        if not isinstance(power, int) or isinstance(power, bool) or power < 1:
            raise ValueError(f"the power of a kernel must be a whole number of at least 1, got {power!r}.")
        return reduce(product, [self] * power)


def keep(kernel: Kernel, **values: Any) -> None:
    """Set fields of a frozen kernel while it is made."""
    for name, value in values.items():
        object.__setattr__(kernel, name, value)


@dataclass(frozen=True, repr=False)
class Constant(Kernel):
    """The same product for every pair of rows: one more feature, the root of ``value``, that all rows share."""

    value: float = 1.0
    """The product, at least 0."""

    def __post_init__(self) -> None:
        check_nonnegative("No features have negative products with themselves.", value=self.value)
        keep(self, value=float(self.value))

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the constant."""
        return np.full((X.shape[0], Z.shape[0]), self.value)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the constant."""
        return np.full(X.shape[0], self.value)

    positive = True

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


@dataclass(frozen=True, repr=False)
class Scaled(Kernel):
    r""":math:`c\,k(x, z)`: every feature times the root of ``factor``."""

    factor: float
    """The number :math:`c`, above 0."""
    kernel: Kernel
    """The kernel :math:`k`."""

    def __post_init__(self) -> None:
        check_positive(
            "A kernel times a number below 0 is no inner product; times 0 it is nothing.", factor=self.factor
        )
        _check_kernels(self.kernel)
        keep(self, factor=float(self.factor))

    @property
    def is_given(self) -> bool:  # type: ignore[override]  # computed here, a constant of most classes
        """Whether ``X`` has products instead of rows."""
        return self.kernel.is_given

    @property
    def has_function(self) -> bool:  # type: ignore[override]
        """Whether a function of the user's is in it."""
        return self.kernel.has_function

    @property
    def positive(self) -> bool:
        """Whether the kernel is."""
        return self.kernel.positive

    @property
    def parts(self) -> tuple[Kernel, ...]:  # type: ignore[override]
        """The kernel."""
        return (self.kernel,)

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the products of the kernel times the factor."""
        products = self.kernel.tile(X, Z)
        products *= self.factor
        return products

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the diagonal of the kernel times the factor."""
        return self.factor * self.kernel.diagonal(X)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_product(self.kernel)}"


class Several(Kernel):
    """Kernels that are added or multiplied."""

    def __post_init__(self) -> None:
        _check_kernels(*self.parts)
        if len(self.parts) < 2:
            raise ValueError(f"a {type(self).__name__} must have at least 2 kernels, got {len(self.parts)}.")

    @property
    def is_given(self) -> bool:  # type: ignore[override]
        """Whether ``X`` has products instead of rows."""
        return any(part.is_given for part in self.parts)

    @property
    def has_function(self) -> bool:  # type: ignore[override]
        """Whether a function of the user's is in it."""
        return any(part.has_function for part in self.parts)

    @property
    def positive(self) -> bool:
        """Whether all parts are."""
        return all(part.positive for part in self.parts)


@dataclass(frozen=True, repr=False)
class Sum(Several):
    """The sum of kernels: their features side by side."""

    parts: tuple[Kernel, ...] = ()

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the sum of the products."""
        first, *others = self.parts
        total = first.tile(X, Z)
        for part in others:
            total += part.value if isinstance(part, Constant) else part.tile(X, Z)
        return total

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the sum of the diagonals."""
        return np.sum([part.diagonal(X) for part in self.parts], axis=0)

    def __repr__(self) -> str:
        return " + ".join(repr(part.value) if isinstance(part, Constant) else repr(part) for part in self.parts)


@dataclass(frozen=True, repr=False)
class Product(Several):
    """The product of kernels: every feature of one times every feature of the other."""

    parts: tuple[Kernel, ...] = ()

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the product of the products."""
        first, *others = self.parts
        total = first.tile(X, Z)
        for part in others:
            total *= part.tile(X, Z)
        return total

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the product of the diagonals."""
        return np.prod([part.diagonal(X) for part in self.parts], axis=0)

    def __repr__(self) -> str:
        return " * ".join(map(_in_product, self.parts))


def scaled(factor: Any, kernel: Kernel) -> Kernel:
    """Return a kernel times a number; factors of factors are one factor, and a factor of 1 is none."""
    if isinstance(kernel, Scaled):
        check_positive("A kernel times a number below 0 is no inner product.", factor=factor)
        return scaled(factor * kernel.factor, kernel.kernel)
    return kernel if factor == 1 else Scaled(factor, kernel)


def product(one: Kernel, other: Kernel) -> Kernel:
    """Return the product of two kernels, with their factors in front."""
    factor = mul(*(kernel.factor if isinstance(kernel, Scaled) else 1.0 for kernel in (one, other)))
    bare = [kernel.kernel if isinstance(kernel, Scaled) else kernel for kernel in (one, other)]
    parts = tuple(part for kernel in bare for part in (kernel.parts if isinstance(kernel, Product) else (kernel,)))
    return scaled(factor, Product(parts))


def _terms(kernel: Kernel) -> tuple[Kernel, ...]:
    return kernel.parts if isinstance(kernel, Sum) else (kernel,)


def _in_product(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, (Sum, Scaled)) else repr(kernel)


def _check_kernels(*kernels: Any) -> None:
    for kernel in kernels:
        if not isinstance(kernel, Kernel):
            raise TypeError(f"kernel must be a kernel of pellucid.kernels, got {kernel!r}. Use kernel_from.")
