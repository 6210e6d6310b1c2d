"""NonzeroRows: some rows of a sparse matrix, as the factor of a product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.random_state import some_rows
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.neural_network.mlp.nonzero_kernels import (
    columns_times,
    count_nonzeros,
    rows_times,
    turn,
    write_nonzeros,
)

WORTH_SKIPPING = 0.7
"""Share of zeros from which products that skip them are faster than dense ones."""

LARGE = 1_000_000
"""Entries from which it is worth to look for zeros."""


@dataclass(frozen=True)
class NonzeroRows:
    """The rows ``places`` of a matrix in CSR form."""

    matrix: Any
    places: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.places), self.matrix.shape[1]

    def times(self, W: Array, out: Array) -> None:
        """Write the product with ``W``."""
        rows_times(self.matrix.data, self.matrix.indices, self.matrix.indptr, self.places, W, out)

    def turned_times(self, D: Array, out: Array) -> None:
        """Write the product of these rows, transposed, with ``D``."""
        matrix = self.matrix
        count = int((matrix.indptr[self.places + 1] - matrix.indptr[self.places]).sum())
        starts = np.zeros(matrix.shape[1] + 1, np.int64)
        values, rows = np.empty(count, matrix.data.dtype), np.empty(count, np.int64)
        turn(matrix.data, matrix.indices, matrix.indptr, self.places, starts, values, rows)
        columns_times(values, rows, starts, D, out)


def without_zeros(X: Array) -> Any:
    """Return a dense matrix in CSR form if it is large and mostly zeros, like images of ink on paper; else itself."""
    if X.size < LARGE or (X[some_rows(len(X), 200)] == 0).mean() < WORTH_SKIPPING:
        return X
    blocks = split_evenly(len(X), -(-X.size // LARGE))
    counts = np.empty(len(X), np.int64)
    run_blocks(lambda block: count_nonzeros(X[block], counts[block]), blocks)
    starts = np.concatenate([[0], np.cumsum(counts)])
    starts = starts.astype(sparse.get_index_dtype(maxval=max(starts[-1], X.shape[1])))
    values, columns = np.empty(starts[-1], X.dtype), np.empty(starts[-1], starts.dtype)
    run_blocks(lambda block: write_nonzeros(X[block], starts[block], values, columns), blocks)
    return sparse.csr_array((values, columns, starts), shape=X.shape)
