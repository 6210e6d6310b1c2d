"""Sums of kernels over support vectors: what a solver checks itself by, and what predictions are."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array, SparseOrDense
from pellucid.kernels import RBF, Constant, Kernel, Linear, Polynomial, Product, Scaled, Sum
from pellucid.kernels.formulas import whole_power
from pellucid.kernels.product_blocks import squared_lengths
from pellucid.proofs.arrays import dense
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.soft_assignment_kernels import double_exponentials, single_exponentials

HEIGHT, WIDTH = 256, 1024
"""Rows and columns of products held at once: 2 MB."""

PRECISE = 1e-11
"""Error of a value that rounding may cause; if it could be larger, the kernel computes its values itself."""

MANY_COLUMNS = 4096
"""Columns from which sparse rows stay sparse: spread out, they would be mostly zeros."""


def kernel_matrix(kernel: Kernel, X: SparseOrDense) -> Array:
    """Return the products of few rows with each other, in float64; of few columns the same if they are sparse."""
    if X.shape[1] > MANY_COLUMNS:
        return kernel(X)
    X = dense(X)
    if isinstance(kernel, RBF):
        rows = X.astype(np.float64)
        rows -= rows.mean(axis=0)
        lengths = squared_lengths(rows)
        if _is_precise(kernel.gamma, 2.0 * float(lengths.max(initial=0.0)), X.shape[1]):
            products = rows @ rows.T
            double_exponentials(products, lengths, lengths, kernel.gamma / math.log(2.0), np.empty(len(rows)))
            return products
    return kernel(X)


def kernel_sums(kernel: Kernel, X: SparseOrDense, Z: Any, coef: Array) -> Array:
    """Return the products of the rows of ``X`` and ``Z`` times ``coef``, in float64 and on all threads."""
    if isinstance(kernel, Linear):
        return np.asarray(X @ (Z.T @ coef))
    if isinstance(kernel, RBF) and Z.shape[0] > 0 and not (sp.issparse(X) and X.shape[1] > MANY_COLUMNS):
        vectors = dense(Z).astype(np.float64)
        center = vectors.mean(axis=0)
        vectors -= center
        lengths = squared_lengths(vectors)
        far = (_longest(X) + float(np.linalg.norm(center))) ** 2 + float(lengths.max())
        if _is_precise(kernel.gamma, far, Z.shape[1]):
            return _gaussian_sums(kernel.gamma, X, center, vectors, lengths, coef)
    return np.asarray(kernel.times(X, Z, coef))


def _is_precise(gamma: float, far: float, n_columns: int) -> bool:
    """Return whether distances may come from products: ``far`` is the sum of the largest squared lengths."""
    return gamma * far * (4.0 + math.sqrt(n_columns)) * EPSILON <= PRECISE


def _gaussian_sums(gamma: float, X: SparseOrDense, center: Array, vectors: Array, lengths: Array, coef: Array) -> Array:
    out = np.zeros((X.shape[0], *coef.shape[1:]))
    rate = gamma / math.log(2.0)

    def fill(start: int) -> None:
        rows = slice(start, start + HEIGHT)
        block = dense(X[rows]).astype(np.float64)
        block -= center
        own, powers = squared_lengths(block), np.empty(min(WIDTH, len(vectors)))
        for left in range(0, len(vectors), WIDTH):
            columns = slice(left, left + WIDTH)
            products = block @ vectors[columns].T
            double_exponentials(products, own, lengths[columns], rate, powers[: products.shape[1]])
            out[rows] += products @ coef[columns]

    run_blocks(fill, range(0, X.shape[0], HEIGHT))
    return out


def _longest(X: SparseOrDense) -> float:
    """Return the length of the longest row."""
    return math.sqrt(float(squared_lengths(X).max(initial=0.0)))


ROUGH = 1e-4
"""Largest error that float32 may cause in a value of the Gaussian kernel; otherwise float64 computes it."""

LARGEST = 1e12
"""Squared length of a row up to which products are computed in float32, far from its largest number."""

HIGHEST_DEGREE = 8


class SumBlocks(ABC):
    """Blocks of the matrix of products, computed when asked for."""

    def __init__(self, kernel: Kernel, rows: Any) -> None:
        self.kernel, self.rows = kernel, rows
        self.narrow(None)

    def narrow(self, columns: Array | None) -> None:
        """Look at these rows only, as columns of the blocks; None stands for all."""
        self.columns = self.rows if columns is None else self.rows[columns]

    @abstractmethod
    def fill(self, chosen: Array, span: slice, out: Array) -> None:
        """Write the products of the chosen rows with the columns of the span to ``out``."""


class PreciseBlocks(SumBlocks):
    """The kernel itself, in float64."""

    def fill(self, chosen: Array, span: slice, out: Array) -> None:
        """Write the products, rounded to what ``out`` holds."""
        out[...] = self.kernel(self.rows[chosen], self.columns[span])


class GivenBlocks(SumBlocks):
    """Products that the user has computed."""

    def narrow(self, columns: Array | None) -> None:
        """Look at these columns only."""
        self.columns = np.arange(self.rows.shape[0]) if columns is None else columns

    def fill(self, chosen: Array, span: slice, out: Array) -> None:
        """Copy the products."""
        out[...] = self.kernel(self.rows[chosen], self.columns[span])


class FloatBlocks(SumBlocks):
    """Products by one matrix product in float32, then the kernel of each."""

    def __init__(self, kernel: Kernel, rows: Array) -> None:
        self._norms = np.einsum("ij,ij->i", rows, rows)
        super().__init__(kernel, rows)

    def narrow(self, columns: Array | None) -> None:
        """Look at these rows only."""
        super().narrow(columns)
        self._column_norms = self._norms if columns is None else self._norms[columns]

    def fill(self, chosen: Array, span: slice, out: Array) -> None:
        """Write the products."""
        np.matmul(self.rows[chosen], self.columns[span].T, out=out)
        self._apply(self.kernel, out, self._norms[chosen], self._column_norms[span])

    def _apply(self, kernel: Kernel, products: Array, norms: Array, column_norms: Array) -> None:
        """Turn inner products into values of the kernel, in place."""
        match kernel:
            case RBF():
                rate = np.float32(kernel.gamma / math.log(2.0))
                single_exponentials(products, norms, column_norms, rate, np.empty_like(column_norms))
            case Polynomial():
                products *= np.float32(kernel.gamma)
                products += np.float32(kernel.coef0)
                products[...] = whole_power(products, int(kernel.degree))
            case Constant():
                products[...] = kernel.value
            case Scaled():
                self._apply(kernel.kernel, products, norms, column_norms)
                products *= np.float32(kernel.factor)
            case Sum() | Product():
                inner = products.copy()
                self._apply(kernel.parts[0], products, norms, column_norms)
                for part in kernel.parts[1:]:
                    values = inner.copy()
                    self._apply(part, values, norms, column_norms)
                    (np.add if isinstance(kernel, Sum) else np.multiply)(products, values, out=products)


def blocks_of(kernel: Kernel, rows: Any, *, room: float) -> SumBlocks:
    """Return the fastest blocks of a kernel that are precise enough; a dense copy may take ``room`` bytes."""
    if kernel.is_given:
        return GivenBlocks(kernel, rows)
    leaves = plain_parts(kernel)
    if not all(_has_float_form(leaf) for leaf in leaves) or 4.0 * rows.shape[0] * rows.shape[1] > room:
        return PreciseBlocks(kernel, rows)
    dense = rows.toarray() if sp.issparse(rows) else rows
    if all(isinstance(leaf, RBF | Constant) for leaf in leaves):
        dense = dense - dense.mean(axis=0)  # no distance changes
    length = float(np.einsum("ij,ij->i", dense, dense).max(initial=0.0))
    rate = max((leaf.gamma for leaf in leaves if isinstance(leaf, RBF)), default=0.0)
    if (
        not max(length, rate, 1.0 / max(length, 1.0 / LARGEST)) <= LARGEST
        or rate * length * float(np.finfo(np.float32).eps) > ROUGH
    ):
        return PreciseBlocks(kernel, rows)
    return FloatBlocks(kernel, np.ascontiguousarray(dense, dtype=np.float32))


def plain_parts(kernel: Kernel) -> list[Kernel]:
    """Return the kernels that a sum, product or multiple is made of, none of which has parts."""
    return [leaf for part in kernel.parts for leaf in plain_parts(part)] if kernel.parts else [kernel]


def _has_float_form(kernel: Kernel) -> bool:
    if isinstance(kernel, Polynomial):
        return float(kernel.degree).is_integer() and 1 <= kernel.degree <= HIGHEST_DEGREE
    return isinstance(kernel, Linear | RBF | Constant)
