"""Kernels: products of rows in the space that a kernel stands for, as value objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import pairwise
from sklearn.utils.extmath import row_norms

from pellucid.core.types import Array

BLOCK = 1 << 21
"""Products computed in one go."""


class Kernel(ABC):
    """``kernel(X, Z)`` are the products of the rows of two matrices, dense or sparse."""

    @abstractmethod
    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products, of shape (n_rows of ``X``, n_rows of ``Z``)."""

    @abstractmethod
    def diagonal(self, X: Any) -> Array:
        """Return the product of each row with itself."""

    def times(self, X: Any, Z: Any, coef: Array) -> Array:
        """Return the products times ``coef`` of shape (n_rows of ``Z``, ...), never all at once."""
        if coef.shape[0] == 0:
            return np.zeros((X.shape[0], *coef.shape[1:]))
        height = max(1, BLOCK // coef.shape[0])
        return np.concatenate([self(X[i : i + height], Z) @ coef for i in range(0, X.shape[0], height)])


@dataclass(frozen=True)
class LinearKernel(Kernel):
    r""":math:`x'z`."""

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.linear_kernel(X, Z), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return the squared length of each row."""
        return np.asarray(row_norms(X, squared=True))


@dataclass(frozen=True)
class PolynomialKernel(Kernel):
    r""":math:`(\gamma x'z + c)^d`.

    Examples
    --------
    >>> PolynomialKernel(degree=2, coef0=1.0)(np.array([[1.0, 2.0]]), np.array([[3.0, 0.0]]))
    array([[16.]])
    """

    gamma: float = 1.0
    degree: float = 3
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.polynomial_kernel(X, Z, self.degree, self.gamma, self.coef0), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return the power of the squared length of each row."""
        return np.asarray((self.gamma * row_norms(X, squared=True) + self.coef0) ** self.degree)


@dataclass(frozen=True)
class RBFKernel(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_2^2)`."""

    gamma: float = 1.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.rbf_kernel(X, Z, self.gamma), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return ones."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class LaplacianKernel(Kernel):
    r""":math:`\exp(-\gamma\|x - z\|_1)`."""

    gamma: float = 1.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.laplacian_kernel(X, Z, self.gamma), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return ones."""
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class SigmoidKernel(Kernel):
    r""":math:`\tanh(\gamma x'z + c)`, which is no inner product for most parameters."""

    gamma: float = 1.0
    coef0: float = 0.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.sigmoid_kernel(X, Z, self.gamma, self.coef0), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return the hyperbolic tangent for the squared length of each row."""
        return np.asarray(np.tanh(self.gamma * row_norms(X, squared=True) + self.coef0))


@dataclass(frozen=True)
class FunctionKernel(Kernel):
    """A function of two rows that returns a number."""

    function: Callable[..., float]

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(pairwise.pairwise_kernels(X, Z, metric=self.function), dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return the function of each row and itself."""
        return np.array([self(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])


@dataclass(frozen=True)
class GivenKernel(Kernel):
    """Products that the user has computed: ``X`` has them, and ``Z`` numbers its columns."""

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return np.asarray(X[:, Z], dtype=np.float64)

    def diagonal(self, X: Any) -> Array:
        """Return the diagonal of the products."""
        return np.asarray(X.diagonal(), dtype=np.float64)


@dataclass(frozen=True)
class ShiftedKernel(Kernel):
    """A kernel plus a constant; 1 stands for an intercept: one more feature that is 1 in every row."""

    kernel: Kernel
    constant: float = 1.0

    def __call__(self, X: Any, Z: Any) -> Array:
        """Return the products."""
        return self.kernel(X, Z) + self.constant

    def diagonal(self, X: Any) -> Array:
        """Return the diagonal plus the constant."""
        return self.kernel.diagonal(X) + self.constant


KERNELS: dict[str, Callable[[float, float, float], Kernel]] = {
    "linear": lambda _gamma, _degree, _coef0: LinearKernel(),
    "poly": PolynomialKernel,
    "rbf": lambda gamma, _degree, _coef0: RBFKernel(gamma),
    "sigmoid": lambda gamma, _degree, coef0: SigmoidKernel(gamma, coef0),
    "laplacian": lambda gamma, _degree, _coef0: LaplacianKernel(gamma),
    "precomputed": lambda _gamma, _degree, _coef0: GivenKernel(),
}
"""The names of scikit-learn -> what makes the kernel of gamma, degree and coef0."""


def kernel_from(
    kernel: str | Callable[..., float], *, gamma: float = 1.0, degree: float = 3, coef0: float = 0.0
) -> Kernel:
    """Return the kernel of this name in scikit-learn, 'precomputed' among them, or of this function of two rows.

    Examples
    --------
    >>> kernel_from("rbf", gamma=0.5)
    RBFKernel(gamma=0.5)
    """
    return FunctionKernel(kernel) if callable(kernel) else KERNELS[kernel](gamma, degree, coef0)


def scale_gamma(X: Any, weight: Array) -> float:
    """Return one over the number of columns times the variance of all entries; 1 if they are all the same."""
    columns = X.shape[1]
    total = float(weight.sum()) * columns
    mean = float(np.sum(weight @ X)) / total
    if hasattr(X, "tocsr"):
        variance = float(np.sum(weight @ X.multiply(X))) / total - mean**2
    else:
        variance = float(np.sum(weight @ (X - mean) ** 2)) / total
    return 1.0 / (columns * variance) if variance > 0.0 else 1.0
