"""Products of the data with either factor, on all threads, the same bits on any number of them.

Factors have one row for each component. Dense data are multiplied in their own precision, sparse data in float64.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

COLUMNS_AT_ONCE = 512
"""Columns of a dense product that one thread computes; the cuts do not depend on the number of threads."""

ENTRIES_AT_ONCE = 1 << 15
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

    def __init__(self, X: Any) -> None:
        rows = sparse.csr_array(X, dtype=np.float64)
        columns = sparse.csr_array(rows.T)
        self.rows, self.columns = SparseRows.of(rows), SparseRows.of(columns)

    def with_rows(self, H: Array) -> Array:
        """Return ``H X'``."""
        return self.rows.times(H)

    def with_columns(self, W: Array) -> Array:
        """Return ``W X``."""
        return self.columns.times(W)


class SparseRows:
    """The rows of a CSR matrix, cut into parts of about as many entries."""

    def __init__(self, values: Array, indices: Array, indptr: Array) -> None:
        self.values, self.indices, self.indptr = values, indices, indptr
        n_parts = -(-len(values) // ENTRIES_AT_ONCE)
        ends = np.searchsorted(indptr, np.arange(1, n_parts) * ENTRIES_AT_ONCE)
        edges = np.unique(np.concatenate([[0], ends, [len(indptr) - 1]]))
        self.parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]

    @classmethod
    def of(cls, X: Any) -> SparseRows:
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


def products_of(X: Any) -> DataProducts:
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
