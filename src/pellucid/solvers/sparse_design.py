"""Products with a centered, weighted sparse matrix; the centering stays implicit, so nothing becomes dense."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.solvers.product_kernels import add_cross_gram
from pellucid.solvers.target import center_target

BLOCK_BYTES = 1 << 20
"""Size of a dense block of rows: about one core's second-level cache."""


class SparseDesign:
    """``A = sqrt(W) (X - 1 mean')`` for a sparse ``X``; see :mod:`pellucid.solvers.design`."""

    def __init__(self, X: Data, *, fit_intercept: bool = True, sample_weight: Array | None = None) -> None:
        self.fit_intercept = fit_intercept
        self.sample_weight = sample_weight
        self.root_weight = None if sample_weight is None else np.sqrt(sample_weight)
        self.shape: tuple[int, int] = X.shape
        self.total_weight = float(X.shape[0] if sample_weight is None else sample_weight.sum())
        weight = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        X = sparse.csc_array(X, dtype=np.float64)
        X = X if X.has_sorted_indices else X.sorted_indices()  # a sorted copy: nobody sorts what is shared below
        self.mean = X.T @ weight / self.total_weight if fit_intercept else np.zeros(X.shape[1])
        self.offset = np.ones(X.shape[0]) if self.root_weight is None else self.root_weight
        self.raw = X
        self.X = X if self.root_weight is None else _scale_rows(X, self.root_weight)  # A = sqrt(W) X - offset mean'

    def center(self, y: Array) -> tuple[Array, Array]:
        """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``."""
        return center_target(y, self.sample_weight, fit_intercept=self.fit_intercept)

    def times(self, w: Array) -> Array:
        """Return ``A w``, for one vector or the columns of a matrix."""
        if not self.fit_intercept:
            return self.X @ w
        return self.X @ w - np.multiply.outer(self.offset, (self.mean * w.T).sum(axis=-1))

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``, for one vector or the columns of a matrix."""
        if not self.fit_intercept:
            return self.X.T @ r
        return self.X.T @ r - np.multiply.outer(self.mean, self.offset @ r)

    def residual_and_correlations(self, b: Array, w: Array) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w)``."""
        residual = b - self.times(w)
        return residual, self.transposed_times(residual)

    def normal_equations(self, b: Array) -> tuple[Array, Array]:
        """Return ``A'A`` and ``A'b``."""
        return self.gram(), self.transposed_times(b)

    def gram(self, columns: Array | None = None, others: Array | None = None) -> Array:
        """Return ``A[:, columns]' A[:, others]``."""
        left = np.arange(self.shape[1]) if columns is None else columns
        right = left if others is None else others
        product = _cross_gram(self.X[:, left], sparse.csr_array(self.X[:, right]))
        if not self.fit_intercept:
            return product
        # With the mean m, sqrt(W) X has the sums N m against the root weights: -N m m' - N m m' + N m m' remains.
        return product - self.total_weight * np.outer(self.mean[left], self.mean[right])

    def columns(self, indices: Array) -> Array:
        """Return ``A[:, indices]``, dense, in Fortran order."""
        return np.asfortranarray(self.X[:, indices].toarray() - np.outer(self.offset, self.mean[indices]))

    def row_gram(self) -> Array:
        """Return ``A A'``."""
        product = (self.X @ self.X.T).toarray()
        along = self.X @ self.mean
        cross = np.outer(along, self.offset)
        return product - cross - cross.T + float(self.mean @ self.mean) * np.outer(self.offset, self.offset)

    def row_blocks(self, part: slice | None = None, rows_at_least: int = 1) -> Iterator[tuple[slice, Array]]:
        """Yield the rows of ``A`` in this part, or all, in dense blocks."""
        part = slice(0, self.shape[0]) if part is None else part
        height = max(BLOCK_BYTES // (8 * max(self.shape[1], 1)), rows_at_least)
        for start in range(part.start, part.stop, height):
            rows = slice(start, min(start + height, part.stop))
            yield rows, self._by_rows[rows].toarray() - np.outer(self.offset[rows], self.mean)

    @cached_property
    def _by_rows(self) -> sparse.csr_array:
        return sparse.csr_array(self.X)

    def raw_rows(self, rows: slice) -> Array:
        """Return ``X[rows]`` as it was given, dense."""
        return self._raw_by_rows[rows].toarray()

    @cached_property
    def _raw_by_rows(self) -> sparse.csr_array:
        return sparse.csr_array(self.raw)

    def sq_norms(self) -> Array:
        """Return the squared norms of the columns of ``A``."""
        squares = np.asarray(self.X.multiply(self.X).sum(axis=0)).ravel()
        if not self.fit_intercept:
            return squares
        return np.maximum(squares - self.total_weight * self.mean**2, 0.0)


def _scale_rows(X: sparse.csc_array, factors: Array) -> sparse.csc_array:
    """Return ``diag(factors) X``, which is 0 where ``X`` is and so shares its indices."""
    return sparse.csc_array((X.data * factors[X.indices], X.indices, X.indptr), shape=X.shape)


def _cross_gram(left: sparse.csc_array, right: sparse.csr_array) -> Array:
    """Return ``left' right``, dense."""
    gram = np.zeros((left.shape[1], right.shape[1]))

    def work(part: slice) -> None:
        add_cross_gram(
            left.data,
            left.indices,
            left.indptr,
            right.data,
            right.indices,
            right.indptr,
            part.start,
            gram[part],
        )

    run_blocks(work, split_evenly(left.shape[1], thread_count()))
    return gram
