r"""Right singular vectors of a design: :math:`A'Av = \sigma^2 v`, the directions in which its rows spread most.

Three ways, from the same products with ``A``, which is never copied by the first two:

- ``from_gram`` forms :math:`A'A` and factors it: of rows in float32, from products in float32.
- ``by_lanczos`` multiplies blocks of vectors until the residuals are small: few directions of very many columns.
- ``from_rows`` factors ``A`` itself: singular values far below the largest keep their digits, which squares lose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svd
from scipy.sparse.linalg import LinearOperator

from pellucid.core.input_rules import unit_for
from pellucid.core.threads import run_blocks, shared_blas, shares, split_evenly, thread_count
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.proofs.rounding import EPSILON, TINY
from pellucid.solvers.dense_design import FEWEST_ROWS, DenseDesign
from pellucid.solvers.design import Design
from pellucid.solvers.leading_eigenvectors import (
    WIDTH,
    EigenPairs,
    eigenpairs_at_once,
    first_largest,
    leading_eigenpairs,
    signed,
)
from pellucid.solvers.smallest_eigenvectors import leading_vectors, on_span
from pellucid.solvers.sparse_design import SparseDesign

GOAL = 1e-11
"""Residuals that are asked for, in parts of the largest square."""

BLAS_WIDTH = 8
"""Vectors in a block that BLAS multiplies: fewer are slow, more find less with each; 16 take a fifth more time."""

LOOK_FROM = 2
"""Vectors in the span, for each one wanted, from which directions are looked at: a step costs as much as a look."""

GRAM_ROWS = 1024
"""Rows that a thread multiplies in one go, whose sums are then added up."""

LONG = 4
"""Columns for each row from which vectors of the length of a column are shorter to work with."""

FEW = 0.25
"""Part of all directions up to which blocks of vectors find them sooner than a factorization."""

FEW_COLUMNS = 200
"""Columns whose products with each other take no longer than a few blocks of vectors."""

LEAST_SIZE, SAMPLED_ROWS = {"d": 1e-70, "f": 1e-12}, 64
"""Rows below this size, or above its inverse, are scaled: fourth powers of their entries stay ordinary numbers, and so
do sums of squares that are taken in float32."""

WELL_ABOVE = 1e-4
"""Part of the largest square above which images of vectors at right angles are at right angles to most digits."""

SQUARED_LOSS = 8 * EPSILON
"""Part of the largest square, for each row of a Gram matrix, up to which a square may be rounding of 0."""

ROUGH_ROWS = 1024
"""Rows multiplied at once in float32: their sums are added in float64."""


@dataclass(frozen=True)
class PrincipalDirections:
    """Squared singular values in falling order, at least one for each vector, and the vectors as columns."""

    squares: Array
    vectors: Array
    trace: Trace
    gram: Array | None = None
    """The Gram matrix, where it was formed."""
    is_rough: bool = False
    """Whether that was in float32."""
    residual: float | None = None
    """Longest residual, in parts of the largest square, where products with the rows themselves have shown it."""
    left: Array | None = None
    """Left singular vectors as columns, where they were found on the way."""


def in_ordinary_units(X: SparseOrDense) -> tuple[Any, float]:
    """Return rows whose squares neither vanish nor overflow, and the power of two that they were multiplied by.

    That is 1 as a rule; a few rows tell.
    """
    values = X.data if sparse.issparse(X) else X[:: max(1, len(X) // SAMPLED_ROWS)]
    size, least = _largest(values), LEAST_SIZE[X.dtype.char]
    if size < least:
        size = _largest(X.data if sparse.issparse(X) else X)
    if size == 0.0 or least <= size <= 1.0 / least:
        return X, 1.0
    unit = unit_for(size)
    return X.astype(np.float64) * unit, unit


def _largest(values: Array) -> float:
    """Return the largest absolute value, 0 of none, without a copy; a NaN stays."""
    return float(max(values.max(), -values.min())) if values.size else 0.0


def leading_directions(design: Design, k: int, *, tol: float, seed: int) -> PrincipalDirections:
    """Return the ``k`` leading directions: few from blocks of vectors, many from a factorization."""
    n, d = design.shape
    is_sparse = isinstance(design, SparseDesign)
    if d <= FEW_COLUMNS and n >= d:
        return from_gram(design, k)
    if k <= FEW * min(n, d) or (is_sparse and n < d):
        return by_lanczos(design, k, goal=max(GOAL, tol), seed=seed)
    return from_gram(design, k) if is_sparse else from_rows(design)


def from_gram(design: Design, k: int, *, all_values: bool = False) -> PrincipalDirections:
    """Return the ``k`` leading directions from the Gram matrix; all squares if asked for."""
    n, d = design.shape
    is_rough = isinstance(design, DenseDesign) and design.X.dtype == np.float32 and n >= ROUGH_ROWS
    gram = _rough_gram(design) if isinstance(design, DenseDesign) and is_rough else design.gram()
    pairs = eigenpairs_at_once(gram, d if all_values else max(k, 1), is_rough=is_rough)
    squares, vectors = completed(pairs.values, pairs.vectors[:, :k], SQUARED_LOSS * d)
    return PrincipalDirections(squares, vectors, pairs.trace, gram, is_rough)


def by_lanczos(design: Design, k: int, *, goal: float, seed: int) -> PrincipalDirections:
    """Return the ``k`` leading directions from products with vectors, as long as the rows or the columns."""
    n, d = design.shape
    is_sparse = isinstance(design, SparseDesign)
    is_wide = d > (1 if is_sparse else LONG) * n
    times, length = (_row_gram_times(design), n) if is_wide else (_gram_times(design), d)
    if is_sparse and k <= FEW * length:
        pairs = _one_by_one(times, length, k, goal=goal, seed=seed)
    else:
        width = WIDTH if _reads_once(design) and not is_wide else BLAS_WIDTH
        pairs = leading_eigenpairs(times, length, k, goal=goal, seed=seed, width=width, look_from=LOOK_FROM)
    if not is_wide:
        squares, vectors = completed(pairs.values, pairs.vectors, SQUARED_LOSS * d)
        return PrincipalDirections(squares, vectors, pairs.trace, residual=float(pairs.trace["residual"][-1]))
    squares, vectors = completed(pairs.values, _other_side(design, pairs), SQUARED_LOSS * n)
    return PrincipalDirections(squares, vectors, pairs.trace)


def _other_side(design: Design, pairs: EigenPairs) -> Array:
    """Return the right vectors that belong to left ones, at right angles also where the singular value is 0."""
    images = design.transposed_times(pairs.vectors)
    if pairs.values[-1] > WELL_ABOVE * pairs.values[0]:
        return np.asarray(images / np.sqrt(np.einsum("ij,ij->j", images, images)))
    return np.asarray(qr(images, mode="economic", check_finite=False)[0])


def _one_by_one(times: Callable[[Array], Array], n: int, k: int, *, goal: float, seed: int) -> EigenPairs:
    """Return the leading eigenpairs from products with one vector at a time, which for sparse rows cost little."""
    span = min(n, max(20, 3 * k // 2))
    with shared_blas(8.0 * n * span * span):  # products of each vector with the span
        found, n_products = leading_vectors(times, n, k, seed=seed, tol=goal, span=span)
        matrix = LinearOperator((n, n), matvec=times, matmat=times, dtype=np.float64)
        values, vectors, residual = on_span(matrix, found)
    trace = Trace()
    part = residual / max(float(values[-1]), TINY)
    trace.add(iteration=n_products, captured=float(values.sum()), residual=part)
    return EigenPairs(values[::-1], vectors[:, ::-1], n_products, trace)


def _row_gram_times(design: Design) -> Callable[[Array], Array]:
    """Return the function that multiplies blocks of vectors by ``AA'``."""
    return lambda block: design.times(design.transposed_times(block))


def _reads_once(design: Design) -> bool:
    """Return whether one loop over the rows multiplies four vectors by ``A'A``."""
    return isinstance(design, DenseDesign) and design.is_plain and design.X.flags.c_contiguous


def _blas_gram_times(design: Design) -> Callable[[Array], Array]:
    """Return the function that multiplies blocks of vectors by ``A'A``, from blocks of rows used for both products."""
    n, d = design.shape
    if isinstance(design, SparseDesign):
        return lambda block: design.transposed_times(design.times(block))

    def times(block: Array) -> Array:
        def work(part: slice) -> Array:
            total = np.zeros((d, block.shape[1]))
            for _, A in design.row_blocks(part, rows_at_least=FEWEST_ROWS):
                total += A.T @ (A @ block)
            return total

        return np.asarray(sum(run_blocks(work, shares(n, n * d))))

    return times


def _gram_times(design: Design) -> Callable[[Array], Array]:
    """Return the function that multiplies blocks of vectors by ``A'A``."""
    n, d = design.shape
    if not _reads_once(design):
        return _blas_gram_times(design)
    from pellucid.solvers.product_kernels import add_gram_four

    assert isinstance(design, DenseDesign)
    X, mean = design.X, design.mean
    parts = split_evenly(n // 4, -(-n // GRAM_ROWS))

    def times(block: Array) -> Array:
        columns = np.zeros((WIDTH, d))
        columns[: block.shape[1]] = block.T
        offset = columns @ mean

        def work(fours: slice) -> Array:
            out = np.zeros((WIDTH, d))
            add_gram_four(X[4 * fours.start : 4 * fours.stop], columns, offset, out)
            return out

        last = X[n - n % 4 :]
        found = run_blocks(work, parts) if n >= 4 else []
        total = sum(found, (last @ columns.T - offset).T @ last)  # images sum to 0: their mean is the offset
        return np.asarray(total[: block.shape[1]].T)

    return times


def from_rows(design: Design, *, whole: bool = False) -> PrincipalDirections:
    """Return all directions from a factorization of ``A``; ``whole`` adds vectors for singular values that are 0."""
    n, d = design.shape
    A = next(iter(design.row_blocks(rows_at_least=n)))[1]
    with shared_blas(float(n) * d * min(n, d)):
        left, singular, right = svd(A, full_matrices=whole, check_finite=False)
    trace = Trace()
    trace.add(iteration=1, captured=float(singular @ singular))
    squares, vectors = completed(singular**2, right.T, (EPSILON * max(n, d)) ** 2)
    flipped = np.einsum("ij,ij->j", vectors, right.T)[: left.shape[1]] < 0.0
    left[:, : len(flipped)][:, flipped] *= -1.0
    return PrincipalDirections(squares, vectors, trace, left=left)


def completed(squares: Array, vectors: Array, loss: float) -> tuple[Array, Array]:
    """Return squares and vectors with signs settled; where a square is 0, the vector depends on the others alone.

    A square counts as 0 up to the part ``loss`` of the largest. Any vectors at right angles to the others would do: in
    their place come the unit vectors that lie farthest outside the span so far, the first of the farthest each time.
    """
    squares = np.maximum(squares, 0.0)
    rank = int(np.count_nonzero(squares > loss * squares.max(initial=0.0)))
    vectors = signed(vectors)
    for j in range(rank, vectors.shape[1]):
        span = vectors[:, :j]
        place = first_largest(1.0 - np.einsum("ij,ij->i", span, span))
        new = -span @ span[place]
        new[place] += 1.0
        new -= span @ (span.T @ new)
        vectors[:, j] = new / np.linalg.norm(new)
    squares[rank:] = 0.0
    return squares, signed(vectors) if rank < vectors.shape[1] else vectors


def _rough_gram(design: DenseDesign) -> Array:
    """Return the Gram matrix from products in float32 of blocks of rows, summed in float64."""
    n, d = design.shape
    mean, root = design.mean, design.root_weight

    def work(part: slice) -> Array:
        total, product = np.zeros((d, d)), np.empty((d, d), dtype=np.float32)
        block = np.empty((ROUGH_ROWS, d), dtype=np.float32)
        for start in range(part.start, part.stop, ROUGH_ROWS):
            rows = slice(start, min(start + ROUGH_ROWS, part.stop))
            A = block[: rows.stop - rows.start]
            np.subtract(design.X[rows], mean, out=A, casting="same_kind")
            if root is not None:
                A *= root[rows, None].astype(np.float32)
            total += np.matmul(A.T, A, out=product)
        return total

    with np.errstate(over="ignore", invalid="ignore"):  # beyond float32: seen on the diagonal
        return np.asarray(sum(run_blocks(work, split_evenly(n, thread_count()))))
