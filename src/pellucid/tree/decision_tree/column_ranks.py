"""Columns as ranks: every value replaced by its place among the sorted different values of its column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array


@dataclass(frozen=True)
class ColumnRanks:
    """Ranks of all columns, their sorted values, and the rows in the order of each column."""

    ranks: Array
    """uint32 (n_columns, n_rows); a missing value comes last."""
    orders: Array
    """uint32 (n_columns, n_rows)."""
    n_ranks: Array
    """int64: different values of each column, which is the rank of a missing one."""
    values: Array
    value_starts: Array
    """float64, the sorted values of all columns one after the other, and where each column begins."""


def rank_columns(X: Any, n_categories: Array | None = None) -> ColumnRanks:
    """Return the ranks of rows, dense or sparse; NaN is a missing value. Codes of categories are ranks as they are."""
    from pellucid.tree.decision_tree.column_ranks_kernels import rank_column

    n, d = X.shape
    columns = X.tocsc() if sparse.issparse(X) else X
    ranks, orders = np.empty((d, n), np.uint32), np.empty((d, n), np.uint32)
    found: list[Array] = [np.empty(0)] * d

    def work(part: slice) -> None:
        values, keys, others = np.empty(n), np.empty(n, np.uint64), np.empty(n, np.uint64)
        spare, counts = np.empty(n, np.uint32), np.empty((6, 2048), np.int64)
        for j in range(part.start, part.stop):
            column = _column(columns, j)
            bits = column.view(np.uint64)
            count = rank_column(column, bits, keys, others, orders[j], spare, counts, ranks[j], values)
            found[j] = values[:count].copy()
            if n_categories is not None and n_categories[j]:
                ranks[j] = np.where(np.isnan(column), n_categories[j], column)
                found[j] = np.arange(float(n_categories[j]))

    run_blocks(work, shares(d, 16 * n * d))
    n_ranks = np.array([len(values) for values in found], dtype=np.int64)
    return ColumnRanks(ranks, orders, n_ranks, np.concatenate(found), np.concatenate([[0], np.cumsum(n_ranks)]))


def _column(columns: Any, j: int) -> Array:
    if not sparse.issparse(columns):
        return np.ascontiguousarray(columns[:, j], dtype=np.float64)
    dense = np.zeros(columns.shape[0])
    inside = slice(columns.indptr[j], columns.indptr[j + 1])
    dense[columns.indices[inside]] = columns.data[inside]
    return dense
