"""Products with a centered, weighted dense matrix, in blocks of rows that fit in cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.solvers.row_pass_kernels import residual_pass, transposed_pass
from pellucid.solvers.target import center_target

BLOCK_BYTES = 1 << 20
"""Size of a scratch block: about one core's second-level cache."""

LARGEST_PART = 32
"""A scratch block is at most this part of ``X``, but not less than ``FEWEST_ROWS`` rows."""

FEWEST_ROWS = 256
"""Rows of a block at least: with fewer, adding up Gram matrices costs more than multiplying."""

WIDE, VERY_WIDE, TALL = 512, 1024, 8
"""From this many columns on, threads share one Gram matrix, a tile each, and do not add up one apiece, unless there are
so many rows for each column that adding up costs nothing: PCA of MNIST takes three quarters of the time by rows."""

TILE = 256
"""Rows and columns of a tile."""

LONGEST_ROW = 4096
"""Numbers in a row that stays in a core's first cache while it is read twice."""

FAR_MEAN = 10.0
"""A column whose mean exceeds this many deviations is centered before it is multiplied, not after: no digits cancel."""

SMALL = 1 << 14
"""Fewer numbers than this are centered first in any case: it costs nothing and saves the last digits."""

LARGEST_KEPT = 1 << 20
"""Fewer numbers than this are centered once where rows stand for others: they fit in a core's second or third cache."""

FARTHER_MEAN = 3 * FAR_MEAN
"""A mean that only the whole column shows to be this far makes the products begin again."""

SAMPLED_ROWS = 32

RUN = 8192
"""Rows summed in one go."""

MOST_ROWS = 4096
"""Rows of a block at most: the sums of its columns are taken along the way and stay as precise as its products."""

RUN_WIDTH = 512
"""Numbers added at once when columns are few."""

SQUARE_WIDTH = 32
"""Columns from which BLAS multiplies at its full speed."""

Result = TypeVar("Result")


class DenseDesign:
    """``A = sqrt(W) (X - 1 mean')`` for a dense ``X``; see :mod:`pellucid.solvers.design`."""

    def __init__(
        self,
        X: Array,
        *,
        fit_intercept: bool = True,
        sample_weight: Array | None = None,
        if_not_finite: Callable[[], None] | None = None,
        known: tuple[Array, Array] | None = None,
    ) -> None:
        self.X = X
        self.if_not_finite = if_not_finite
        """Refuses NaN and infinity in ``X``; called, if nobody looked yet, unless sums show that all is well."""
        self.shape = X.shape
        self.fit_intercept = fit_intercept
        self.sample_weight = sample_weight
        self.root_weight = None if sample_weight is None else np.sqrt(sample_weight)
        self.total_weight = float(X.shape[0] if sample_weight is None else sample_weight.sum())
        self._mean = None if fit_intercept else np.zeros(X.shape[1])
        self._gram: Array | None = None
        """``A'A`` where it is known, with the mean, of more columns perhaps: those of the target come behind them."""
        if known is not None:
            self._mean, self._gram = known[0][: X.shape[1]], known[1][: X.shape[1], : X.shape[1]]
        self._centers_first = X.dtype != np.float64 or X.size < SMALL or known is not None or self._seems_far()
        if not self.is_plain:
            if if_not_finite is not None:
                if_not_finite()
            self._find_mean()

    @property
    def mean(self) -> Array:
        """What was subtracted from the columns: computed with the normal equations, or when asked for before."""
        self._find_mean()
        assert self._mean is not None
        return self._mean

    def _find_mean(self) -> None:
        if self._mean is None:
            self._mean = self._column_means()

    @property
    def is_plain(self) -> bool:
        """Whether products with ``X`` itself, centered afterwards, are right."""
        return not self._centers_first and self.root_weight is None

    @property
    def takes_row_passes(self) -> bool:
        """Whether a loop over the rows of ``X``, centered afterwards, is right and quick."""
        return self.is_plain and self.X.flags.c_contiguous and self.shape[1] <= LONGEST_ROW

    def center(self, y: Array) -> tuple[Array, Array]:
        """Return ``b = sqrt(W) (y - y_mean)`` and ``y_mean``."""
        return center_target(y, self.sample_weight, fit_intercept=self.fit_intercept)

    @cached_property
    def _small(self) -> Array | None:
        """``A`` itself where it is so small that calls cost more than sums, None elsewhere.

        Rows whose Gram matrix is known stand for others, and are few: they are centered once, not at every product.
        """
        most = SMALL if self._gram is None else LARGEST_KEPT
        return next(self._centered(self._all(), rows_at_least=len(self.X)))[1] if 0 < self.X.size < most else None

    def times(self, w: Array) -> Array:
        """Return ``A w``, for one vector or the columns of a matrix."""
        if self._small is not None:
            return np.asarray(self._small @ w)
        out = np.empty((self.shape[0], *w.shape[1:]))

        def work(part: slice) -> None:
            for rows, block in self._centered(part) if self._centers_first else self._whole(part):
                self._image(block, w, rows, out[rows])

        self._run(work)
        return out

    def transposed_times(self, r: Array) -> Array:
        """Return ``A' r``, for one vector or the columns of a matrix."""
        if self._small is not None:
            return np.asarray(self._small.T @ r)

        def work(part: slice) -> Array:
            blocks = self._centered(part) if self._centers_first else self._raw(part)
            return _total([self._pull(block, r[rows], rows) for rows, block in blocks])

        def work_by_rows(part: slice) -> Array:
            pull, flat = np.zeros(self.shape[1]), np.ascontiguousarray(r[part]).reshape(-1)
            for rows in _slices(slice(0, len(flat)), RUN):
                pull += self._pull_and_sums(self.X[part][rows], flat[rows])[0]
            return (pull - flat.sum() * self.mean).reshape(-1, *r.shape[1:])

        by_rows = self.takes_row_passes and r.size == self.shape[0]
        return _total(self._run(work_by_rows if by_rows else work))

    def residual_and_correlations(self, b: Array, w: Array) -> tuple[Array, Array]:
        """Return ``b - A w`` and ``A'(b - A w)``, reading ``X`` once."""
        if self._small is not None:
            residual = b - self._small @ w
            return residual, np.asarray(self._small.T @ residual)
        residual = np.empty_like(b)

        def work(part: slice) -> Array:
            pulls = []
            for rows, block in self._centered(part) if self._centers_first else self._raw(part):
                self._image(block, w, rows, residual[rows])
                np.subtract(b[rows], residual[rows], out=residual[rows])
                pulls.append(self._pull(block, residual[rows], rows))
            return _total(pulls)

        def work_by_rows(part: slice) -> Array:
            pull, target, out = np.zeros((self.shape[1], *b.shape[1:])), b.reshape(-1), residual.reshape(-1)
            offset = float(self.mean @ w.reshape(-1))
            for rows in _slices(part, RUN):
                run = np.zeros(self.shape[1])
                residual_pass(self.X[rows], w.reshape(-1), offset, target[rows], out[rows], run)
                pull += run.reshape(pull.shape)
            return pull - _outer(self.mean, residual[part].sum(axis=0))

        by_rows = self.takes_row_passes and b.size == self.shape[0]
        return residual, _total(self._run(work_by_rows if by_rows else work))

    def normal_equations(self, b: Array) -> tuple[Array, Array]:
        """Return ``A'A`` and ``A'b``, reading ``X`` once; the means come out on the way if nobody knew them."""
        if self._gram is not None:
            return self._gram, self.transposed_times(b)
        if self._small is not None:
            return self._small.T @ self._small, np.asarray(self._small.T @ b)
        plain = self.is_plain
        n, p = self.shape
        by_rows = p < WIDE or (p <= VERY_WIDE and n >= TALL * p)
        gram, pull, sums = (self._products if by_rows else self._tiled_products)(b, plain)
        if self.if_not_finite is not None and not np.isfinite(gram.diagonal()).all():
            self.if_not_finite()
        if not plain or not self.fit_intercept:
            return gram, pull
        if self._mean is None:
            self._mean = sums / n
        if np.any(n * self.mean**2 > FARTHER_MEAN**2 * (gram.diagonal() - n * self.mean**2)):
            self._centers_first = True
            return self.normal_equations(b)
        gram -= np.outer(n * self.mean, self.mean)  # the means are near, so little cancels
        return gram, pull - _outer(self.mean, b.sum(axis=0))

    def _products(self, b: Array, plain: bool) -> tuple[Array, Array, Array]:
        """Return ``B'B``, ``B'b`` and the sums of the columns of ``B``, which is ``X`` if plain and ``A`` otherwise."""
        p = self.shape[1]

        def work(part: slice) -> tuple[Array, Array, Array]:
            total, product, moments = np.zeros((p, p)), np.empty((p, p)), []
            for rows, block in self._raw(part) if plain else self._centered(part):
                _add_square(block, product, total)
                moments.append(self._pull_and_sums(block, b[rows]))
            pulls, sums = zip(*moments, strict=True)
            return total, _total(list(pulls)), _total(list(sums))

        grams, pulls, sums = zip(*run_blocks(work, self._parts(self.X.size * p)), strict=True)
        return _total(list(grams)), _total(list(pulls)), _total(list(sums))

    def _tiled_products(self, b: Array, plain: bool) -> tuple[Array, Array, Array]:
        """Return the same for many columns."""
        gram, moments = np.zeros((self.shape[1], self.shape[1])), []
        blocks = self._whole(self._all()) if plain else self._centered(self._all(), rows_at_least=4 * FEWEST_ROWS)
        for rows, block in blocks:
            _add_gram(block, gram)
            parts = shares(len(block), block.size)
            moments += run_blocks(partial(self._part_of_moments, block, b[rows]), parts)
        pulls, sums = zip(*moments, strict=True)
        return gram, _total(list(pulls)), _total(list(sums))

    def _part_of_moments(self, block: Array, r: Array, part: slice) -> tuple[Array, Array]:
        return self._pull_and_sums(block[part], r[part])

    def gram(self, columns: Array | None = None, others: Array | None = None) -> Array:
        """Return ``A[:, columns]' A[:, others]``."""
        if columns is None and others is None and self._gram is not None:
            return self._gram
        if columns is None and others is None:
            return self.normal_equations(np.empty((self.shape[0], 0)))[0]
        if others is not None:
            return self._cross_gram(columns, others)
        assert columns is not None
        k = len(columns)

        def work(part: slice) -> Array:
            total, product = np.zeros((k, k)), np.empty((k, k))
            for _, block in self._centered(part, columns):
                _add_square(block, product, total)
            return total

        return _total(self._run(work))

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
            return _total([np.einsum("ij,ij->j", block, block) for _, block in self._centered(part)])

        return _total(self._run(work))

    def row_gram(self) -> Array:
        """Return ``A A'`` from blocks of columns."""
        n, p = self.shape
        width = max(BLOCK_BYTES // (8 * max(n, 1)), FEWEST_ROWS)
        total = np.zeros((n, n))
        for start in range(0, p, width):
            _add_gram(self.columns(np.arange(start, min(start + width, p))).T, total)
        return total

    def row_blocks(self, part: slice | None = None, rows_at_least: int = 1) -> Iterator[tuple[slice, Array]]:
        """Yield the rows of ``A`` in this part, or all, in dense blocks; a block is overwritten by the next."""
        return self._centered(self._all() if part is None else part, rows_at_least=rows_at_least)

    def raw_rows(self, rows: slice) -> Array:
        """Return ``X[rows]`` as it was given, in float64."""
        return self.X[rows].astype(np.float64, copy=False)

    def _centered(
        self, part: slice, columns: Array | None = None, rows_at_least: int = FEWEST_ROWS
    ) -> Iterator[tuple[slice, Array]]:
        """Yield ``A[rows][:, columns]`` for blocks of rows of the part, in one reused buffer."""
        mean = self.mean if columns is None else self.mean[columns]
        height = self._height(len(mean), rows_at_least)
        buffer = np.empty((min(height, part.stop - part.start), len(mean)))
        for rows in _slices(part, height):
            block = buffer[: rows.stop - rows.start]
            np.subtract(self.X[rows] if columns is None else self.X[rows][:, columns], mean, out=block)
            if self.root_weight is not None:
                block *= self.root_weight[rows, None]
            yield rows, block

    def _raw(self, part: slice) -> Iterator[tuple[slice, Array]]:
        """Yield ``X[rows]`` itself for blocks of rows that stay in cache while they are used twice."""
        height = self._height(self.shape[1], min(2 * self.shape[1], 4 * FEWEST_ROWS))
        for rows in _slices(part, min(height, MOST_ROWS)):
            yield rows, self.X[rows]

    def _whole(self, part: slice) -> Iterator[tuple[slice, Array]]:
        """Yield ``X[part]`` itself, for what uses it once."""
        yield part, self.X[part]

    def _image(self, block: Array, w: Array, rows: slice, out: Array) -> None:
        """Write ``A[rows] w``, from rows of ``A`` or of ``X``."""
        np.matmul(block, w, out=out)
        if not self._centers_first:
            out -= self.mean @ w
            if self.root_weight is not None:
                out *= self.root_weight[rows] if out.ndim == 1 else self.root_weight[rows, None]

    def _pull(self, block: Array, r: Array, rows: slice) -> Array:
        """Return ``A[rows]' r``, from rows of ``A`` or of ``X``."""
        if self._centers_first:
            return block.T @ r
        if self.root_weight is not None:
            r = (r.T * self.root_weight[rows]).T
        return self._plain_pull(block, r) - _outer(self.mean, r.sum(axis=0))

    def _plain_pull(self, block: Array, r: Array) -> Array:
        """Return ``block' r``."""
        return self._pull_and_sums(block, r)[0] if r.size == len(block) else block.T @ r

    def _pull_and_sums(self, block: Array, r: Array) -> tuple[Array, Array]:
        """Return ``block' r`` and the sums of the columns of the block, or zeros where nobody needs them any more."""
        if not (self.takes_row_passes and r.size == len(block)):
            with np.errstate(invalid="ignore", over="ignore"):  # whether all was finite, the sums will show
                sums = np.ones(len(block)) @ block if self._mean is None else np.zeros(block.shape[1])
                return block.T @ r, sums
        pull, sums = np.zeros(block.shape[1]), np.zeros(block.shape[1])
        transposed_pass(block, np.ascontiguousarray(r).reshape(-1), pull, sums)
        return pull.reshape(-1, *r.shape[1:]), sums

    def _cross_gram(self, columns: Array | None, others: Array) -> Array:
        k = self.shape[1] if columns is None else len(columns)
        both = np.concatenate([np.arange(k) if columns is None else columns, others])

        def work(part: slice) -> Array:
            total = np.zeros((k, len(others)))
            for _, block in self._centered(part, both):
                total += block[:, :k].T @ block[:, k:]
            return total

        return _total(self._run(work))

    def _run(self, work: Callable[[slice], Result]) -> list[Result]:
        """Do the work on parts of the rows, a thread each; all of them may ask for the mean."""
        self._find_mean()
        return run_blocks(work, self._parts())

    def _parts(self, work: int | None = None) -> list[slice]:
        return shares(self.shape[0], self.X.size if work is None else work)

    def _height(self, width: int, rows_at_least: int) -> int:
        size = min(BLOCK_BYTES, 8 * self.X.size // LARGEST_PART)
        return max(size // (8 * max(width, 1)), rows_at_least, 1)

    def _all(self) -> slice:
        return slice(0, self.shape[0])

    def _column_means(self) -> Array:
        if self.sample_weight is None:
            if self.X.size < SMALL:
                return np.asarray(self.X.sum(axis=0, dtype=np.float64) / self.shape[0])
            return _total(run_blocks(self._column_sums, self._parts())) / self.shape[0]
        weight = self.sample_weight

        def work(part: slice) -> Array:
            return _total([weight[rows] @ self.X[rows] for rows in _slices(part, RUN)])

        return _total(run_blocks(work, self._parts())) / self.total_weight

    def _column_sums(self, part: slice) -> Array:
        """Return the sums of short runs of rows, then their sum: rounding grows with the run, not with n."""
        p = self.shape[1]
        together = max(1, RUN_WIDTH // p)  # several rows side by side: longer loops
        sums = []
        for rows in _slices(part, RUN):
            block = self.X[rows]
            whole = len(block) // together * together
            if together > 1 and whole and self.X.flags.c_contiguous:
                side_by_side = block[:whole].reshape(-1, together * p).sum(axis=0, dtype=np.float64)
                sums.append(side_by_side.reshape(together, p).sum(axis=0))
                block = block[whole:]
            sums.append(block.sum(axis=0, dtype=np.float64))
        return _total(sums)

    def _seems_far(self) -> bool:
        """Return whether some rows say that a mean is far from 0, in units of its column's deviation."""
        if not self.fit_intercept:
            return False
        sample = self.X[:: max(1, self.shape[0] // SAMPLED_ROWS)]
        with np.errstate(invalid="ignore", over="ignore"):
            return bool(np.any(np.abs(sample.mean(axis=0)) > FAR_MEAN * sample.std(axis=0)))


def _add_square(block: Array, product: Array, total: Array) -> None:
    """Add ``block' block`` to ``total``; NumPy, unlike SciPy's dsyrk, lets other threads of Python run meanwhile.

    BLAS is slow at few columns: several rows are then laid side by side, and of their products those of a row with
    itself are added up. On 800,000 x 16 that takes two thirds of the time (``make bench FAMILY=linear_model``).
    """
    n, p = block.shape
    together = SQUARE_WIDTH // max(p, 1)
    whole = n - n % together if together > 1 and block.flags.c_contiguous else 0
    with np.errstate(invalid="ignore", over="ignore"):  # whether all was finite, the sums will show
        if whole:
            wide = block[:whole].reshape(-1, together * p)
            total += np.einsum("iaib->ab", (wide.T @ wide).reshape(together, p, together, p))
        if whole < n:
            total += np.matmul(block[whole:].T, block[whole:], out=product)


def _add_gram(block: Array, total: Array) -> None:
    """Add ``block' block`` to the symmetric matrix ``total``, each tile on a thread of ours."""
    columns = list(_slices(slice(0, len(total)), TILE))
    tiles = [(left, right) for k, left in enumerate(columns) for right in columns[k:]]

    def work(tile: tuple[slice, slice]) -> None:
        left, right = tile
        with np.errstate(invalid="ignore", over="ignore"):
            product = block[:, left].T @ block[:, right]
            total[left, right] += product
            if left != right:
                total[right, left] += product.T

    run_blocks(work, tiles)


def _slices(part: slice, height: int) -> Iterator[slice]:
    for start in range(part.start, part.stop, height):
        yield slice(start, min(start + height, part.stop))


def _total(parts: list[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _outer(mean: Array, sums: Array) -> Array:
    return mean * sums if np.ndim(sums) == 0 else np.outer(mean, sums)
