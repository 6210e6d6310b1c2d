"""The entries of a matrix that are known, by rows and by columns, and their ridge regressions on given factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.decomposition.alternating.observed_matrix import observed_matrix

ROWS_AT_ONCE = 256
"""Rows solved in one go; the cuts do not depend on the number of threads."""


ENTRIES_AT_ONCE = 64
"""Entries of a row whose factors are gathered in one go."""


class Entries(Protocol):
    """What alternating least squares asks of the data."""

    def fit_rows(self, components: Array, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each row for ``components`` (d, q), and half its products with the right sides."""
        ...

    def fit_columns(self, weights: Array, alpha: float) -> tuple[Array, float]:
        """Return the same for the columns and ``weights`` (n, q)."""
        ...

    @property
    def squares(self) -> float:
        """The sum of the squares of all known entries."""
        ...


@dataclass(frozen=True)
class CompleteEntries:
    """A dense matrix of which everything is known: one system of equations serves all rows."""

    X: Array

    @property
    def squares(self) -> float:
        """The sum of squares."""
        return float(np.vdot(self.X, self.X))

    def fit_rows(self, components: Array, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each row."""
        return _shared_ridge(self.X @ components, components, alpha)

    def fit_columns(self, weights: Array, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each column."""
        return _shared_ridge(self.X.T @ weights, weights, alpha)


@dataclass(frozen=True)
class ObservedEntries:
    """The known entries of a matrix, in CSR form by rows and by columns: each row has equations of its own."""

    rows: Any
    columns: Any

    @property
    def squares(self) -> float:
        """The sum of squares."""
        return float(self.rows.data @ self.rows.data)

    def fit_rows(self, components: Array, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each row."""
        return _own_ridges(self.rows, components, alpha)

    def fit_columns(self, weights: Array, alpha: float) -> tuple[Array, float]:
        """Return the best factor of each column."""
        return _own_ridges(self.columns, weights, alpha)


def entries_of(X: Any) -> Entries:
    """Return the known entries of dense data with NaN, or of sparse data."""
    if not sparse.issparse(X) and not np.isnan(np.sum(X)):
        return CompleteEntries(np.asarray(X, dtype=np.float64))
    rows = observed_matrix(X)
    return ObservedEntries(rows, sparse.csr_array(rows.T))


def _shared_ridge(right: Array, others: Array, alpha: float) -> tuple[Array, float]:
    gram = others.T @ others
    gram[np.diag_indices(len(gram))] += alpha
    try:
        solved = cho_solve(cho_factor(gram, lower=True), right.T, check_finite=False).T
    except np.linalg.LinAlgError:  # without a penalty, factors may depend on each other: the shortest answer
        solved = right @ np.linalg.pinv(gram, hermitian=True)
    return np.ascontiguousarray(solved), 0.5 * float(np.vdot(right, solved))


def _own_ridges(rows: Any, others: Array, alpha: float) -> tuple[Array, float]:
    from pellucid.decomposition.alternating.alternating_kernels import solve_rows

    n, q = rows.shape[0], others.shape[1]
    out, others = np.empty((n, q)), np.ascontiguousarray(others)

    def work(part: slice) -> float:
        pointers = rows.indptr[part.start : part.stop + 1]
        room = np.empty((q, q)), np.empty((q + 1, ENTRIES_AT_ONCE))
        return float(solve_rows(rows.data, rows.indices, pointers, others, alpha, out[part], *room))

    return out, 0.5 * float(np.sum(run_blocks(work, split_evenly(n, -(-n // ROWS_AT_ONCE)))))
