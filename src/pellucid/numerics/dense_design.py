"""Products with a centered, weighted dense matrix, in blocks of rows that fit in cache."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.linalg.blas import dgemm, dsyrk

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.numerics.target import center_target

BLOCK_BYTES = 1 << 20
"""Size of a scratch block: about one core's second-level cache."""

FEWEST_ROWS = 256
"""Rows of a block at least: with fewer, adding up Gram matrices costs more than multiplying."""

WIDE = 512
"""From this many columns on, BLAS's own threads beat one Gram accumulator per thread."""

FAR_MEAN = 100.0
"""A column whose mean exceeds this many deviations is centered before it is multiplied, not after: no digits cancel."""

SAMPLED_ROWS = 256


class DenseDesign:
    """``A = sqrt(W) (X - 1 mean')`` for a dense ``X``; see :mod:`pellucid.numerics.design`."""

    def __init__(self, X: Array, *, fit_intercept: bool = True, sample_weight: Array | None = None) -> None:
        self.X = X
        self.shape = X.shape
        self.fit_intercept = fit_intercept
        self.sample_weight = sample_weight
        self.root_weight = None if sample_weight is None else np.sqrt(sample_weight)
        self.mean = self._column_means() if fit_intercept else np.zeros(X.shape[1])
        self._centers_first = X.dtype != np.float64 or self._has_far_means()

    def center(self, y: Array) -> tuple[Array, Array]:
        """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``."""
        return center_target(y, self.sample_weight, fit_intercept=self.fit_intercept)

    def times(self, w: Array) -> Array:
        """Return ``A w``, for one vector or the columns of a matrix."""
        out = np.empty((self.shape[0], *w.shape[1:]))

        def work(part: slice) -> None:
            if self._centers_first:
                for rows, block in self._blocks(part):
                    np.matmul(block, w, out=out[rows])
            else:
                np.matmul(self.X[part], w, out=out[part])
                out[part] -= self.mean @ w
                self._weigh(out, part)

        run_blocks(work, self._parts())
        return out

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``, for one vector or the columns of a matrix."""

        def work(part: slice) -> Array:
            if self._centers_first:
                return _total([block.T @ r[rows] for rows, block in self._blocks(part)])
            weighted = self._weighted(r, part)
            return self.X[part].T @ weighted - _outer(self.mean, weighted.sum(axis=0))

        return _total(run_blocks(work, self._parts()))

    def gram(self, columns: Array | None = None, others: Array | None = None) -> Array:
        """Return ``A[:, columns]' A[:, others]`` from centered blocks."""
        k = self.shape[1] if columns is None else len(columns)
        if others is not None:
            return self._cross_gram(columns, others)
        parts = [slice(0, self.shape[0])] if k >= WIDE else self._parts()

        def work(part: slice) -> Array:
            total = np.zeros((k, k), order="F")
            for _, block in self._blocks(part, columns):
                total = dsyrk(1.0, block.T, beta=1.0, c=total, overwrite_c=True)
            return total

        upper = _total(run_blocks(work, parts))
        return _mirror_upper(upper)

    def columns(self, indices: Array) -> Array:
        """Return ``A[:, indices]``, dense, in Fortran order."""
        out = np.empty((self.shape[0], len(indices)), order="F")
        np.subtract(self.X[:, indices], self.mean[indices], out=out)
        if self.root_weight is not None:
            out *= self.root_weight[:, None]
        return out

    def sq_norms(self) -> Array:
        """Return the squared norms of the columns of ``A``."""

        def work(part: slice) -> Array:
            return _total([np.einsum("ij,ij->j", block, block) for _, block in self._blocks(part)])

        return _total(run_blocks(work, self._parts()))

    def row_gram(self) -> Array:
        """Return ``A A'`` from blocks of columns."""
        n, p = self.shape
        width = max(BLOCK_BYTES // (8 * max(n, 1)), FEWEST_ROWS)
        total = np.zeros((n, n), order="F")
        for start in range(0, p, width):
            block = self.columns(np.arange(start, min(start + width, p)))
            total = dsyrk(1.0, block, beta=1.0, c=total, overwrite_c=True)
        return _mirror_upper(total)

    def row_blocks(self, part: slice | None = None, rows_at_least: int = 1) -> Iterator[tuple[slice, Array]]:
        """Yield the rows of ``A`` in this part, or all, in dense blocks; a block is overwritten by the next."""
        return self._blocks(slice(0, self.shape[0]) if part is None else part, rows_at_least=rows_at_least)

    def raw_rows(self, rows: slice) -> Array:
        """Return ``X[rows]`` as it was given, in float64."""
        return self.X[rows].astype(np.float64, copy=False)

    def _blocks(
        self, part: slice, columns: Array | None = None, rows_at_least: int = FEWEST_ROWS
    ) -> Iterator[tuple[slice, Array]]:
        """Yield ``A[rows][:, columns]`` for blocks of rows of the part, in one reused buffer."""
        mean = self.mean if columns is None else self.mean[columns]
        k = len(mean)
        height = max(BLOCK_BYTES // (8 * max(k, 1)), rows_at_least)
        buffer = np.empty((min(height, part.stop - part.start), k))
        for start in range(part.start, part.stop, height):
            rows = slice(start, min(start + height, part.stop))
            block = buffer[: rows.stop - rows.start]
            np.subtract(self.X[rows] if columns is None else self.X[rows][:, columns], mean, out=block)
            if self.root_weight is not None:
                block *= self.root_weight[rows, None]
            yield rows, block

    def _cross_gram(self, columns: Array | None, others: Array) -> Array:
        k = self.shape[1] if columns is None else len(columns)
        both = np.concatenate([np.arange(k) if columns is None else columns, others])
        wide = len(both) >= WIDE

        def work(part: slice) -> Array:
            total = np.zeros((k, len(others)), order="F")
            for _, block in self._blocks(part, both):
                total = dgemm(1.0, block[:, :k].T, block[:, k:].T, beta=1.0, c=total, trans_b=True, overwrite_c=True)
            return total

        return _total(run_blocks(work, [slice(0, self.shape[0])] if wide else self._parts()))

    def _parts(self) -> list[slice]:
        return split_evenly(self.shape[0], thread_count())

    def _weighted(self, r: Array, part: slice) -> Array:
        if self.root_weight is None:
            return r[part]
        return (r[part].T * self.root_weight[part]).T

    def _weigh(self, out: Array, part: slice) -> None:
        if self.root_weight is not None:
            out[part] *= self.root_weight[part] if out.ndim == 1 else self.root_weight[part, None]

    def _column_means(self) -> Array:
        total_weight = float(self.shape[0] if self.sample_weight is None else self.sample_weight.sum())

        def work(part: slice) -> Array:
            weight = np.ones(part.stop - part.start) if self.sample_weight is None else self.sample_weight[part]
            # Sums of short runs of rows, then the sum of those: the rounding error grows with the run, not with n.
            return _total([weight[run] @ self.X[part][run] for run in _runs(part.stop - part.start)])

        return _total(run_blocks(work, self._parts())) / total_weight

    def _has_far_means(self) -> bool:
        if not self.fit_intercept:
            return False
        sample = self.X[:: max(1, self.shape[0] // SAMPLED_ROWS)]
        return bool(np.any(np.abs(self.mean) > FAR_MEAN * sample.std(axis=0, dtype=np.float64)))


def _runs(n: int, length: int = 4096) -> list[slice]:
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


def _total(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _outer(mean: Array, sums: Array) -> Array:
    return mean * sums if np.ndim(sums) == 0 else np.outer(mean, sums)


def _mirror_upper(upper: Array) -> Array:
    """Return the symmetric matrix whose upper triangle is given."""
    return np.triu(upper) + np.triu(upper, 1).T
