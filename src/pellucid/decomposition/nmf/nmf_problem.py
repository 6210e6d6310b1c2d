r"""What a nonnegative factorization minimizes: a beta divergence and penalties on both factors.

.. math:: D_\beta(X, WH) + \lambda_1^W\|W\|_1 + \lambda_1^H\|H\|_1
          + \tfrac12\lambda_2^W\|W\|_F^2 + \tfrac12\lambda_2^H\|H\|_F^2 ,

with :math:`d_2(x, r) = \tfrac12(x - r)^2`, :math:`d_1 = x\log\frac xr - x + r`,
:math:`d_0 = \frac xr - \log\frac xr - 1` and, for every other beta,
:math:`d_\beta = \frac{x^\beta + (\beta - 1)r^\beta - \beta x r^{\beta - 1}}{\beta(\beta - 1)}`.

Missing entries do not count. Data far from 1 are divided by a power of 4: with :math:`X = s\tilde X` and both factors
divided by :math:`\sqrt s`, the objective is :math:`s^\beta` times that of the penalties
:math:`\lambda_1 s^{1/2 - \beta}, \lambda_2 s^{1 - \beta}`, and no bit of a digit changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from pellucid.core.array_api import array_namespace
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array, SparseOrDense
from pellucid.decomposition.momentum import product_entries

LOSSES = {"frobenius": 2.0, "kullback-leibler": 1.0, "itakura-saito": 0.0}

SMALLEST = float(np.finfo(np.float32).eps)
"""What an entry of the product is at least where it is divided by, as in scikit-learn."""

ORDINARY = 2.0**100
"""Data whose largest entry is between this and its inverse are taken as they are."""

ENTRIES_AT_ONCE = 1 << 18

MOST_SWEEPS = 16
"""Over the entries of a factor, for one product with the data."""


@dataclass(frozen=True)
class Penalties:
    """Factors of the absolute values and of the halved squares of the entries of one factor."""

    l1: float
    l2: float

    @classmethod
    def of(cls, alpha: float, l1_ratio: float) -> Penalties:
        """Return both from their sum and the part of the first."""
        return cls(alpha * l1_ratio, alpha * (1.0 - l1_ratio))

    def in_units(self, root: float, beta: float) -> Penalties:
        """Return what they are for factors divided by ``root``, when the objective is divided by its power 2 beta."""
        with np.errstate(over="ignore", under="ignore"):
            one, two = (float(np.float64(root) ** (power - 2.0 * beta)) for power in (1.0, 2.0))
            return Penalties(self.l1 and self.l1 * one, self.l2 and self.l2 * two)

    def value(self, factor: Array) -> float:
        """Return the penalty of a factor whose entries are at least 0."""
        if not (self.l1 or self.l2):  # without a look at the factor, for which a device would be waited
            return 0.0
        return self.l1 * float(factor.sum()) + 0.5 * self.l2 * dot(factor, factor)


@dataclass(frozen=True)
class NmfProblem:
    """The data, in units in which nothing overflows, and what is added for each factor."""

    X: SparseOrDense
    """Dense, with NaN where an entry is missing, or CSR."""
    beta: float
    on_weights: Penalties
    on_components: Penalties
    root: float = 1.0
    """Both factors of the given data are this many times those of ``X``."""

    @classmethod
    def of(cls, X: SparseOrDense, parameters: Any) -> NmfProblem:
        """Return the problem that an estimator's parameters ask for."""
        beta = beta_of(parameters.beta_loss)
        values = X.data if sparse.issparse(X) else X
        root = unit_of_size(float(np.nanmax(values)) if values.size else 0.0)
        if root != 1.0:
            X = X * X.dtype.type(1.0 / root) * X.dtype.type(1.0 / root)
        return cls(X, beta, *penalties_of(parameters, X.shape, root, beta), root)

    @cached_property
    def has_missing(self) -> bool:
        """Whether an entry is NaN."""
        return not sparse.issparse(self.X) and bool(np.isnan(np.sum(self.X)))

    @cached_property
    def size(self) -> float:
        r"""The size of the data in units of the objective, :math:`\sum x^\beta`: the squared norm for beta 2."""
        parts = [self.X.data.astype(np.float64)] if sparse.issparse(self.X) else (block for _, block in self.blocks())
        there = (part[part > 0.0] for part in parts)  # neither zeros nor NaN
        return float(sum(np.sum(np.square(part) if self.beta == 2.0 else part**self.beta) for part in there))

    @property
    def unit_of_error(self) -> float:
        """What the error of the given data is in parts of that of ``X``."""
        return float(self.root**self.beta)

    @property
    def precision(self) -> float:
        """What products of the data are rounded by, in parts of them."""
        return float(np.finfo(self.X.dtype).eps)

    def held(self, factor: Any) -> Any:
        """Return a copy of a factor in float64, where the data are."""
        return np.array(factor, dtype=np.float64, order="C")

    def products(self) -> DataProducts:
        """Return the products of the data with either factor."""
        return products_of(self.X)

    def sweeps_worth(self, q: int) -> int:
        """Return how many sweeps cost about as much as the product of dense data with a factor."""
        n, d = self.X.shape
        return int(np.clip(1 + 2 * n * d / ((n + d) * q), 2, MOST_SWEEPS))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield the rows in dense blocks of float64."""
        n, d = self.X.shape
        height = max(1, ENTRIES_AT_ONCE // d)
        for start in range(0, n, height):
            rows = slice(start, min(n, start + height))
            block = self.X[rows]
            yield rows, (block.toarray() if sparse.issparse(block) else block).astype(np.float64, copy=False)

    def divergence(self, W: Array, H: Array) -> float:
        """Return the divergence of the data from the product, in float64."""
        if sparse.issparse(self.X) and self.beta in (1.0, 2.0):
            return self._sparse_divergence(W, H)
        return sum(_divergence_of(block, W[rows] @ H, self.beta) for rows, block in self.blocks())

    def objective(self, W: Array, H: Array) -> float:
        """Return the divergence and the penalties."""
        return self.divergence(W, H) + self.on_weights.value(W) + self.on_components.value(H)

    def _sparse_divergence(self, W: Array, H: Array) -> float:
        """Return it from the stored entries and sums over all others, which are 0."""
        values = self.X.data.astype(np.float64)
        if self.beta == 2.0:
            of_product = float(np.vdot(W.T @ W, H @ H.T))
            crossed = float(np.vdot(self.X @ H.T, W))
            return max(0.5 * (float(values @ values) - 2.0 * crossed + of_product), 0.0)
        is_there = values > 0.0
        product = np.maximum(product_entries(self.X, W, H)[is_there], SMALLEST)
        values = values[is_there]
        total = float(W.sum(axis=0) @ H.sum(axis=1))
        return float(values @ np.log(values / product)) - float(values.sum()) + total


def beta_of(loss: Any) -> float:
    """Return the number of a named divergence."""
    return LOSSES[loss] if isinstance(loss, str) else float(loss)


def coordinate_gains(factor: Array, gram: Array, products: Array, penalties: Penalties) -> float:
    r"""Return what the best step of each single entry would gain, summed over all entries.

    For ``F`` of shape (q, m) and the objective :math:`\tfrac12\sum F'AF - \sum BF` with penalties, an entry with the
    gradient :math:`g` and the curvature :math:`a` moves to :math:`\max(f - g/a, 0)`.
    """
    xp = array_namespace(factor)
    curvature = gram.diagonal()[:, None] + penalties.l2
    gradient = gram @ factor - products + penalties.l1
    if penalties.l2:
        gradient += penalties.l2 * factor
    step = xp.minimum(factor, gradient / xp.where(curvature > 0.0, curvature, 1.0))
    is_flat = curvature[:, 0] <= 0.0  # the other factor has nothing to multiply these with: only an l1 penalty counts
    step[is_flat] = xp.where(gradient[is_flat] > 0.0, factor[is_flat], 0.0)
    return dot(gradient, step) - 0.5 * dot(curvature * step, step)


def dot(one: Any, other: Any) -> float:
    """Return the sum of products of the entries of two tables of any kind."""
    return float(one.reshape(-1) @ other.reshape(-1))


def filled(X: SparseOrDense, product: Array) -> Array:
    """Return dense data with the product's own entries where one is missing: those then ask for no change."""
    return np.where(np.isnan(X), product, X)


def penalties_of(parameters: Any, shape: tuple[int, int], root: float, beta: float) -> tuple[Penalties, Penalties]:
    """Return what is added for each factor of data of this shape, in units of ``root``."""
    n, d = shape
    alpha_W, mix = float(parameters.alpha_W), float(parameters.l1_ratio)
    alpha_H = alpha_W if isinstance(parameters.alpha_H, str) else float(parameters.alpha_H)
    weights, components = Penalties.of(d * alpha_W, mix), Penalties.of(n * alpha_H, mix)
    return weights.in_units(root, beta), components.in_units(root, beta)


def unit_of_size(largest: float) -> float:
    """Return the square root of the power of 4 to divide data by whose largest entry this is."""
    if not 0.0 < largest < np.inf or 1.0 / ORDINARY < largest < ORDINARY:
        return 1.0
    return float(2.0 ** round(np.log2(largest) / 2.0))


def _divergence_of(x: Array, r: Array, beta: float) -> float:
    """Return the sum of the divergences of entries; NaN among ``x`` do not count."""
    if beta == 2.0:
        return 0.5 * float(np.nansum(np.square(x - r)))
    is_there = x > 0.0
    at_zeros = r[x == 0.0]  # no entry is 0 where beta is 0 or less
    x, r = x[is_there], np.maximum(r[is_there], SMALLEST)
    if beta == 1.0:
        return float(x @ np.log(x / r) + np.sum(r - x) + np.sum(at_zeros))
    if beta == 0.0:
        quotient = x / r
        return float(np.sum(quotient - np.log(quotient) - 1.0))
    found = np.sum(x**beta + (beta - 1.0) * r**beta - beta * x * r ** (beta - 1.0))
    return float((found + (beta - 1.0) * np.sum(at_zeros**beta)) / (beta * (beta - 1.0)))


# Products of the data with either factor, on all threads, the same bits on any number of them.
#
# Factors have one row for each component. Dense data are multiplied in their own precision, sparse data in float64.


COLUMNS_AT_ONCE = 512
"""Columns of a dense product that one thread computes; the cuts do not depend on the number of threads."""

ENTRIES_OF_PRODUCTS = 1 << 15
"""Stored entries of sparse data that one thread takes."""


class DataProducts(Protocol):
    """What coordinate descent and multiplicative steps ask of the data."""

    def with_rows(self, H: Array) -> Array:
        """Return ``H X'`` for ``H`` of shape (q, d)."""
        ...

    def with_columns(self, W: Array) -> Array:
        """Return ``W X`` for ``W`` of shape (q, n)."""
        ...


class DenseProducts:
    """Products with a dense matrix without missing entries."""

    def __init__(self, X: Array) -> None:
        self.X = X

    def with_rows(self, H: Array) -> Array:
        """Return ``H X'``."""
        return _in_columns(H, self.X.T)

    def with_columns(self, W: Array) -> Array:
        """Return ``W X``."""
        return _in_columns(W, self.X)


class SparseProducts:
    """Products with a sparse matrix, which is kept by rows and by columns."""

    def __init__(self, X: SparseOrDense) -> None:
        rows = sparse.csr_array(X, dtype=np.float64)
        columns = sparse.csr_array(rows.T)
        self.rows, self.columns = PartsOfRows.of(rows), PartsOfRows.of(columns)

    def with_rows(self, H: Array) -> Array:
        """Return ``H X'``."""
        return self.rows.times(H)

    def with_columns(self, W: Array) -> Array:
        """Return ``W X``."""
        return self.columns.times(W)


class PartsOfRows:
    """The rows of a CSR matrix, cut into parts of about as many entries."""

    def __init__(self, values: Array, indices: Array, indptr: Array) -> None:
        self.values, self.indices, self.indptr = values, indices, indptr
        n_parts = -(-len(values) // ENTRIES_OF_PRODUCTS)
        ends = np.searchsorted(indptr, np.arange(1, n_parts) * ENTRIES_OF_PRODUCTS)
        edges = np.unique(np.concatenate([[0], ends, [len(indptr) - 1]]))
        self.parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]

    @classmethod
    def of(cls, X: SparseOrDense) -> PartsOfRows:
        """Return the parts of a CSR matrix of float64."""
        return cls(X.data, X.indices, X.indptr)

    def times(self, factor: Array) -> Array:
        """Return ``factor`` (q, d) times the transposed rows, of shape (q, n)."""
        from pellucid.decomposition.nmf.nmf_kernels import add_weighted_rows

        others = np.ascontiguousarray(factor.T)
        out = np.empty((len(self.indptr) - 1, len(factor)))

        def work(rows: slice) -> None:
            pointers = self.indptr[rows.start : rows.stop + 1]
            add_weighted_rows(self.values, self.indices, pointers, others, out[rows])

        run_blocks(work, self.parts)
        return np.ascontiguousarray(out.T)


def products_of(X: SparseOrDense) -> DataProducts:
    """Return the products of dense or sparse data."""
    return SparseProducts(X) if sparse.issparse(X) else DenseProducts(X)


def _in_columns(factor: Array, matrix: Array) -> Array:
    """Return ``factor @ matrix`` in float64, a block of columns at a time."""
    m = matrix.shape[1]
    out = np.empty((len(factor), m))
    narrow = factor.astype(matrix.dtype, copy=False)

    def work(columns: slice) -> None:
        out[:, columns] = narrow @ matrix[:, columns]

    run_blocks(work, split_evenly(m, -(-m // COLUMNS_AT_ONCE)))
    return out
