r"""Alternating least squares: the best factor of every row, then of every column, each by its own ridge regression.

For the solution of a ridge regression with right side :math:`r` the objective is half the squares of the data less
:math:`\tfrac12 r'z`, so that each half of a round tells its value without another look at the data. A round begins
beyond the last components, in the direction in which they moved; one that raises the objective is taken back. Factors
turned together are as good: those are kept whose components are at right angles, the longest first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve

from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.decomposition.momentum import FactorMomentum
from pellucid.proofs.rounding import TINY

SAFETY = 0.9
"""The residual is asked to be this part of ``tol``: factors are rounded when they are stored."""


def alternating_factors(
    entries: Entries, components: Array, alphas: tuple[float, float], effort: Effort, dtype: type
) -> Fit:
    """Return components (d, q) that one more step improves by no more than the goal, and the best rows for them."""
    half, trace, stopped = 0.5 * entries.squares, Trace(), "max_iter"
    before = last = components
    momentum, objective = FactorMomentum(), np.inf

    def best_rows(begin: Array) -> tuple[Any, float]:
        weights, gained = entries.fit_rows(begin, alphas[0])
        return weights, half - gained + 0.5 * alphas[1] * float(np.vdot(begin, begin))

    for n_iter in range(1, effort.max_iter + 1):
        begin = _stored(last + momentum.part * (last - before), dtype)
        weights, reached = best_rows(begin)
        if reached > objective:
            momentum.slow_down()
            begin = _stored(last, dtype)
            weights, reached = best_rows(begin)
        else:
            momentum.speed_up()
        objective = reached
        following, gained = entries.fit_columns(weights, alphas[1])
        after = half - gained + 0.5 * alphas[0] * entries.squares_of(weights)
        residual = float(np.sqrt(max(reached - after, 0.0) / max(half, TINY)))
        trace.add(iteration=n_iter, objective=objective, residual=residual)
        trace.keep(weights=weights, components=begin.T)
        is_done = residual <= SAFETY * effort.goal
        if effort.watch(begin.T) or is_done:
            stopped = "one more step gains no more than tol" if is_done else "a callback"
            break
        before, last = (following if n_iter == 1 else last), following  # what chance began with is no direction
    turned = _stored(_along_axes(begin), dtype)
    return Fit({"weights_": best_rows(turned)[0], "components_": turned.T, "n_iter_": n_iter}, trace, stopped)


def _along_axes(components: Array) -> Array:
    """Return components (d, q), as good, at right angles: the longest first, the largest entry of each above 0."""
    _, axes = np.linalg.eigh(components.T @ components)
    turned = components @ axes[:, ::-1]
    size = np.abs(turned)
    first = np.argmax(size >= (1.0 - 1e-9) * size.max(axis=0), axis=0)
    return np.asarray(turned * np.where(turned[first, np.arange(turned.shape[1])] < 0.0, -1.0, 1.0))


def _stored(components: Array, dtype: type) -> Array:
    """Return components as they will be stored: the rows are the best for these."""
    return components.astype(dtype).astype(np.float64)


ROWS_AT_ONCE = 256
"""Rows solved in one go; the cuts do not depend on the number of threads."""


ENTRIES_AT_ONCE = 64
"""Entries of a row whose factors are gathered in one go."""


class Entries(Protocol):
    """What alternating least squares asks of the data."""

    def fit_rows(self, components: Array, alpha: float) -> tuple[Any, float]:
        """Return the best factor of each row for ``components`` (d, q), and half its products with the right sides."""
        ...

    def fit_columns(self, weights: Any, alpha: float) -> tuple[Array, float]:
        """Return the same for the columns and ``weights`` (n, q)."""
        ...

    def squares_of(self, weights: Any) -> float:
        """Return the sum of the squares of the factors of all rows."""
        ...

    @property
    def squares(self) -> float:
        """The sum of the squares of all known entries."""
        ...


class WeightsHere:
    """Factors of rows that are an array: data in memory."""

    def squares_of(self, weights: Array) -> float:
        """Return the sum of their squares."""
        return float(np.vdot(weights, weights))


@dataclass(frozen=True)
class CompleteEntries(WeightsHere):
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
class ObservedEntries(WeightsHere):
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


def entries_of(X: SparseOrDense) -> Entries:
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


def observed_matrix(X: SparseOrDense) -> Any:
    """Return the known entries as CSR in float64: the stored ones of a sparse matrix, those of a dense one not NaN."""
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    known = ~np.isnan(X)
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    columns = np.nonzero(known)[1].astype(np.int32)
    return sparse.csr_array((X[known].astype(np.float64), columns, indptr), shape=X.shape)
