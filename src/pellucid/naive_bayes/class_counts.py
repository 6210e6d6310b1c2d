"""Sums of the rows of each class, and scores by log probabilities, for dense and for sparse counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data

BLOCK_ROWS = 4096


def class_totals(codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weight of the rows of each class."""
    return np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)


def class_sums(X: Data, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the weighted sum of the rows of each class, of shape (K, p)."""
    if sparse.issparse(X):
        return _sparse_sums(X, codes, weight, n_classes)

    def work(part: slice) -> Array:
        total = np.zeros((n_classes, X.shape[1]))
        for start in range(part.start, part.stop, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, part.stop))
            members = np.zeros((n_classes, rows.stop - rows.start))
            members[codes[rows], np.arange(members.shape[1])] = 1.0 if weight is None else weight[rows]
            total += members @ X[rows].astype(np.float64, copy=False)
        return total

    return np.asarray(np.sum(run_blocks(work, split_evenly(len(codes), thread_count())), axis=0))


def row_scores(X: Data, table: Array) -> Array:
    """Return ``X @ table.T`` in float64, of shape (n, K); the rows of ``table`` belong to the classes."""
    columns = np.ascontiguousarray(table.T)
    if not sparse.issparse(X):
        return np.asarray(X.astype(np.float64, copy=False) @ columns)
    scores = np.empty((X.shape[0], len(table)))

    def work(rows: slice) -> None:
        scores[rows] = _row_slice(X, rows) @ columns

    run_blocks(work, split_evenly(X.shape[0], thread_count()))
    return scores


def _sparse_sums(X: Any, codes: Array, weight: Array | None, n_classes: int) -> Array:
    """Return the sums in one pass over the stored values: each goes to the place of its class and column."""
    lengths = np.diff(X.indptr)
    place = np.repeat(codes.astype(np.int64) * X.shape[1], lengths)
    place += X.indices
    values = X.data if weight is None else X.data * np.repeat(weight, lengths)
    return np.bincount(place, weights=values, minlength=n_classes * X.shape[1]).reshape(n_classes, X.shape[1])


def _row_slice(X: Any, rows: slice) -> Any:
    """Return some rows of a CSR matrix without copying their values."""
    start, stop = X.indptr[rows.start], X.indptr[rows.stop]
    pointers = X.indptr[rows.start : rows.stop + 1] - start
    return sparse.csr_array(
        (X.data[start:stop], X.indices[start:stop], pointers), shape=(rows.stop - rows.start, X.shape[1]), copy=False
    )
