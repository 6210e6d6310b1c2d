"""Kernels that the user has written as functions, whose results are looked at; and products the user has computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels.kernel import Kernel

ASYMMETRY = 1e-6
"""Share of the largest product by which k(x, z) and k(z, x) may differ: products in float32 do."""

PAIRS_TRIED = 32
"""Pairs of rows for which a function of two rows is asked in both orders."""


class FunctionKernel(Kernel):
    """A function of the user's: called by one thread, whole matrices at a time, and never known to be positive."""

    positive = False
    has_function = True

    def __call__(self, X: SparseOrDense, Z: Any = None) -> Array:
        """Return the products."""
        rows = _table(X)
        return self.tile(rows, rows if Z is None or Z is X else _table(Z))

    def lower(self, X: SparseOrDense, out: Array) -> Array:
        """Write all products of the rows of ``X`` with each other into ``out``."""
        out[...] = self.tile(X, X)
        return out

    def times(self, X: SparseOrDense, Z: Any, coef: Array) -> Array:
        """Return the products times ``coef``."""
        return np.asarray(self.tile(X, Z) @ coef)


@dataclass(frozen=True)
class MatrixFunction(FunctionKernel):
    """A function of two matrices that returns the products of their rows, as scikit-learn's SVC takes.

    Examples
    --------
    >>> MatrixFunction(lambda X, Z: X @ Z.T)(np.eye(2), np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    function: Callable[..., Any]
    """Takes matrices of n and of m rows and returns an array or a sparse matrix of shape (n, m)."""

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return what the function says, checked."""
        found = self.function(X, Z)
        found = found.toarray() if sparse.issparse(found) else found
        products = np.array(found, dtype=np.float64)
        wanted = (X.shape[0], Z.shape[0])
        if products.shape != wanted:
            raise ValueError(
                f"kernel must return a matrix of shape {wanted} for {wanted[0]} and {wanted[1]} rows, "
                f"got shape {products.shape}."
            )
        check_products(products)
        return check_symmetric(products) if X is Z else products

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the product of each row with itself."""
        return np.array([self.tile(X[i : i + 1], X[i : i + 1])[0, 0] for i in range(X.shape[0])])


@dataclass(frozen=True)
class RowFunction(FunctionKernel):
    """A function of two rows that returns a number, as scikit-learn's KernelRidge and KernelPCA take.

    Of each pair of training rows it is asked in one order, and of a few in both.
    """

    function: Callable[..., Any]
    """Takes two rows, and ``params`` by their names, and returns a number."""
    params: tuple[tuple[str, Any], ...] = field(default=())
    """Keywords of the function, with their values."""

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return what the function says of each pair, checked."""
        own = _rows_of(X)
        others = own if X is Z else _rows_of(Z)
        products = np.empty((len(own), len(others)))
        for i, row in enumerate(own):
            for j in range(i, len(others)) if X is Z else range(len(others)):
                products[i, j] = self._of(row, others[j])
        if X is Z:
            below = np.tril_indices(len(own), -1)
            products[below] = products.T[below]
        check_products(products)
        if X is Z:
            self._check_order(own, products)
        return products

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the function of each row and itself."""
        found = np.array([self._of(row, row) for row in _rows_of(X)])
        check_products(found)
        return found

    def _of(self, row: Any, other: Any) -> float:
        found = self.function(row, other, **dict(self.params))
        if np.size(found) != 1:
            raise ValueError(f"kernel must return a number for two rows, got an array of shape {np.shape(found)}.")
        return float(np.asarray(found).item())

    def _check_order(self, rows: list[Any], products: Array) -> None:
        """Refuse a function that says something else of two rows in the other order; some pairs show it."""
        size = np.abs(products).max(initial=0.0)
        for i in range(min(PAIRS_TRIED, len(rows) - 1)):
            other = self._of(rows[i + 1], rows[i])
            if abs(other - products[i, i + 1]) > ASYMMETRY * size:
                raise _asymmetric(i, i + 1, products[i, i + 1], other)


@dataclass(frozen=True)
class GivenKernel(Kernel):
    """Products that the user has computed: ``X`` has them, and ``Z`` numbers its columns."""

    is_given = True
    positive = False

    def tile(self, X: SparseOrDense, Z: Any) -> Array:
        """Return the products."""
        chosen = X[:, Z]
        return np.array(chosen.toarray() if sparse.issparse(chosen) else chosen, dtype=np.float64)

    def diagonal(self, X: SparseOrDense) -> Array:
        """Return the diagonal of the products."""
        return np.asarray(X.diagonal(), dtype=np.float64)


def check_products(products: Array) -> None:
    """Refuse products that are no numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = products.sum()
    if not np.isfinite(total) and not np.isfinite(products).all():
        bad = products[~np.isfinite(products)][0]
        raise ValueError(f"kernel must return finite products, got {bad}. Look for an overflow or a division by 0.")


def check_symmetric(products: Array) -> Array:
    """Return square products, the mean of both orders where rounding tells them apart; refuse asymmetric ones."""
    if np.array_equal(products, products.T):
        return products
    apart = np.abs(products - products.T)
    if apart.max() > ASYMMETRY * np.abs(products).max():
        i, j = np.unravel_index(int(np.argmax(apart)), apart.shape)
        raise _asymmetric(int(i), int(j), products[i, j], products[j, i])
    return np.asarray((products + products.T) / 2.0)


def check_symmetric_entries(products: Any) -> None:
    """Refuse square sparse products that are not symmetric."""
    apart = abs(products - products.T).tocoo()
    if apart.nnz and apart.data.max() > ASYMMETRY * np.abs(products.data).max():
        worst = int(np.argmax(apart.data))
        i, j = int(apart.row[worst]), int(apart.col[worst])
        raise _asymmetric(i, j, products[i, j], products[j, i])


def _asymmetric(i: int, j: int, one: float, other: float) -> ValueError:
    return ValueError(
        f"kernel must be symmetric, k(x, z) = k(z, x), got {one:g} for rows {i} and {j} "
        f"and {other:g} in the other order."
    )


def _table(X: SparseOrDense) -> Any:
    """Return rows as an array, of whatever numbers they are, or as sparse rows."""
    return X.tocsr() if sparse.issparse(X) else np.asarray(X)


def _rows_of(X: SparseOrDense) -> list[Any]:
    return [X[i : i + 1] if sparse.issparse(X) else X[i] for i in range(X.shape[0])]
