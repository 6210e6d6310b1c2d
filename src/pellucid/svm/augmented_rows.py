r"""Rows with one more, constant feature, whose weight is the intercept: :math:`A = [X\ \ s\mathbf 1]`.

The constant column is never written down. Products with a dense ``X`` run in blocks of rows on all threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, SparseOrDense
from pellucid.svm.svm_kernels import (
    csr_curve_pass,
    csr_gram_pass,
    csr_pull_pass,
    csr_scores_pass,
)

BLOCK_BYTES = 1 << 20
"""Size of a block of weighted rows: about one core's second-level cache."""

SMALL = 20_000
"""Numbers up to which rows are written out with their constant column."""

STEEPEST = 1e8
"""Size of the entries of a matrix up to which the ``I`` beside them keeps half its digits."""

WORTH_THREADS = 1 << 19
"""Entries from which a product gains from several threads."""


class AugmentedRows:
    """A dense C-ordered or CSR float64 matrix with a constant column of value ``constant``; 0 means no such column."""

    def __init__(self, X: SparseOrDense, constant: float) -> None:
        self.X = X
        self.constant = constant
        self.is_sparse = sparse.issparse(X)
        self.n, self.p = X.shape
        self.width = self.p + (constant > 0.0)

    @property
    def base(self) -> AugmentedRows:
        """The rows of which each stands there once: all of them."""
        return self

    def summed(self, values: Array) -> Array:
        """Return for each row of the base the sum over its repetitions."""
        return values

    def stored(self, U: Array) -> dict[str, Any]:
        """Return ``coef_`` and ``intercept_`` of weights, one row per machine, whose last column is the constant's."""
        if not self.constant:
            return {"coef_": U.copy(), "intercept_": 0.0}
        return {"coef_": np.ascontiguousarray(U[:, :-1]), "intercept_": self.constant * U[:, -1]}

    @property
    def is_small(self) -> bool:
        """Whether a product with all rows costs no more than one with a few."""
        return self._small is not None

    @cached_property
    def _small(self) -> Array | None:
        """``A`` written out where it is so small that calls cost more than sums, None elsewhere."""
        return self.written_out() if not self.is_sparse and self.X.size <= SMALL else None

    def scores(self, u: Array) -> Array:
        """Return ``A u``."""
        if self._small is not None:
            return self._small @ u
        offset = self.constant * u[-1] if self.constant else 0.0
        if self.is_sparse:
            scores = np.empty(self.n)
            self._in_parts(lambda part: csr_scores_pass(*self._rows(part), u, offset, scores[part]))
            return scores
        return np.concatenate(self._in_parts(lambda part: self.X[part] @ u[: self.p] + offset))

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``."""
        if self._small is not None:
            return r @ self._small
        if self.is_sparse:
            pulled = self._added(self.p, lambda part, out: csr_pull_pass(*self._rows(part), r[part], out))
        else:
            pulled = np.sum(self._in_parts(lambda part: r[part] @ self.X[part]), axis=0)
        return np.append(pulled, self.constant * r.sum()) if self.constant else pulled

    def scores_by_class(self, U: Array) -> Array:
        """Return ``A U'``, for one row of weights per class."""
        offset = self.constant * U[:, -1] if self.constant else 0.0
        W = np.ascontiguousarray(U[:, : self.p].T)
        if self.is_sparse:
            return np.asarray(self.X @ W) + offset
        return np.concatenate(self._in_parts(lambda part: self.X[part] @ W + offset))

    def transposed_by_class(self, R: Array) -> Array:
        """Return ``R' A``, of shape (n_classes, width)."""
        if self.is_sparse:
            pulled = np.asarray(self.X.T @ R).T
        else:
            pulled = np.sum(self._in_parts(lambda part: R[part].T @ self.X[part]), axis=0)
        return (
            np.column_stack([pulled, self.constant * R.sum(axis=0)]) if self.constant else np.ascontiguousarray(pulled)
        )

    def part(self, chosen: Array) -> AugmentedRows:
        """Return some of the rows."""
        return AugmentedRows(self.X[chosen], self.constant)

    def gram(self, h: Array) -> Array:
        """Return ``A' diag(h) A`` for weights of at least 0; rows of weight 0 cost nothing."""
        if self._small is not None:
            weighted = np.sqrt(h)[:, None] * self._small
            return weighted.T @ weighted
        G = np.zeros((self.width, self.width))
        work = self._sparse_gram if self.is_sparse else self._dense_gram
        grams, borders = zip(*self._in_parts(lambda part: work(part, h)), strict=True)
        G[: self.p, : self.p] = np.sum(grams, axis=0)
        border = np.sum(borders, axis=0)
        if self.constant:
            G[self.p, : self.p] = G[: self.p, self.p] = self.constant * border
            G[self.p, self.p] = self.constant**2 * h.sum()
        return G

    def curve(self, h: Array, d: Array) -> Array:
        """Return ``A' diag(h) A d``."""
        if not self.is_sparse:
            return self.transposed_times(h * self.scores(d))
        return self._added(
            self.width, lambda part, out: csr_curve_pass(*self._rows(part), self.constant, h[part], d, out)
        )

    def gram_diagonal(self, h: Array) -> Array:
        """Return the diagonal of ``A' diag(h) A``."""
        squares = self._squares().T @ h if self.is_sparse else np.einsum("i,ij,ij->j", h, self.X, self.X)
        return np.append(squares, self.constant**2 * h.sum()) if self.constant else squares

    def sq_lengths(self) -> Array:
        """Return the squared length of each row."""
        ones = np.ones(self.p)
        squares = self._squares() @ ones if self.is_sparse else np.einsum("ij,ij->i", self.X, self.X)
        return np.asarray(squares + self.constant**2)

    def keeps_unit(self, h: Array) -> bool:
        """Return whether ``I + diag(h) A A'`` has not lost its ``I`` to rounding."""
        with np.errstate(over="ignore"):
            return float(np.max(h * self.sq_lengths(), initial=0.0)) <= STEEPEST

    def inner_products(self) -> Array:
        """Return ``A A'``, of shape (n, n), not to be written to: the machines of all classes share it."""
        return self._inner_products

    @cached_property
    def _inner_products(self) -> Array:
        K = self.X @ self.X.T
        return (K.toarray() if self.is_sparse else K) + self.constant**2

    def written_out(self) -> Array:
        """Return ``A``, dense."""
        X = self.X.toarray() if self.is_sparse else self.X
        return np.column_stack([X, np.full(self.n, self.constant)]) if self.constant else X

    def sampled(self, one_in: int) -> Array:
        """Return the numbers of a random sample of the rows, the same each time."""
        return np.sort(np.random.RandomState(0).permutation(self.n)[::one_in])

    def by_column(self) -> Any:
        """Return ``A``, written out, as a CSC matrix."""
        X = sparse.csc_array(self.X)
        if not self.constant:
            return X
        data = np.concatenate([X.data, np.full(self.n, self.constant)])
        indices = np.concatenate([X.indices, np.arange(self.n, dtype=X.indices.dtype)])
        indptr = np.append(X.indptr, X.indptr[-1] + self.n).astype(X.indptr.dtype)
        return sparse.csc_array((data, indices, indptr), shape=(self.n, self.width))

    def _in_parts(self, work: Callable[[slice], Any]) -> list[Any]:
        return run_blocks(work, split_evenly(self.n, thread_count() if self.X.size > WORTH_THREADS else 1))

    def _added(self, width: int, add: Callable[[slice, Array], None]) -> Array:
        """Return the sum of what each part of the rows adds to zeros."""

        def work(part: slice) -> Array:
            out = np.zeros(width)
            add(part, out)
            return out

        return np.asarray(np.sum(self._in_parts(work), axis=0))

    def _rows(self, part: slice) -> tuple[Array, Array, Array]:
        data, indices, indptr = unsigned_parts(self.X)
        return data, indices, indptr[part.start : part.stop + 1]

    def _squares(self) -> Any:
        X = self.X
        return sparse.csr_array((X.data**2, X.indices, X.indptr), shape=X.shape)

    @cached_property
    def _sorted(self) -> Any:
        return self.X if self.X.has_sorted_indices else self.X.sorted_indices()

    def _sparse_gram(self, part: slice, h: Array) -> tuple[Array, Array]:
        X = self._sorted
        lower, border = np.zeros((self.p, self.p)), np.zeros(self.p)
        csr_gram_pass(X.data, X.indices, X.indptr, part.start, part.stop, h, lower, border)
        return lower + np.tril(lower, -1).T, border

    def _dense_gram(self, part: slice, h: Array) -> tuple[Array, Array]:
        gram, border = np.zeros((self.p, self.p)), np.zeros(self.p)
        height = max(BLOCK_BYTES // (8 * max(self.p, 1)), 64)
        for start in range(part.start, part.stop, height):
            rows = slice(start, min(start + height, part.stop))
            used = np.flatnonzero(h[rows])
            root = np.sqrt(h[rows][used])
            block = (self.X[rows] if len(used) == rows.stop - start else self.X[rows][used]) * root[:, None]
            gram += block.T @ block
            border += root @ block
        return gram, border


def unsigned_parts(X: SparseOrDense) -> tuple[Array, Array, Array]:
    """Return data, indices and pointers of a sparse matrix; unsigned, for compiled loops need not test their sign."""
    return X.data, X.indices.view(f"u{X.indices.itemsize}"), X.indptr.view(f"u{X.indptr.itemsize}")
