r"""The largest eigenvalues of a symmetric matrix that is only multiplied: blocks of Lanczos, restarted.

A block of vectors times the matrix is made orthogonal to all before it and becomes the next block; the matrix on the
span of all blocks is small, and its eigenvectors tend to those wanted. What is stored and tested are the residuals
:math:`\|Av - \lambda v\|` themselves, not the estimates of the recursion.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, eigh, lapack, qr

from pellucid.core.array_api import array_namespace
from pellucid.core.arrays import as_numpy, is_foreign, like
from pellucid.core.threads import run_blocks, shared_blas, shares, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

MOST_STEPS = 1000
MOST_TURNS = 50
"""Steps of a span that is multiplied as a whole: a start needs no more."""

WIDTH = 4
"""Vectors in a block: fewer read the matrix more often, more find less with each vector; 8 take a third more time."""

ROOM = 300
"""Vectors that are kept before the span is reduced to the best, besides three for each one wanted."""

LOOK_FROM = 4
"""Vectors in the span, for each one wanted, from which eigenvectors are looked at: a look takes a few steps' time."""

HASTE = 0.4
"""Residuals fall ever faster: a look is due after this part of the steps that the last two looks tell."""

STEPS_TO_CONFIRM = 3
"""Steps from random vectors at the end: an eigenvalue that many vectors share may have been found too few times."""

NOTHING_LEFT = 1e-10
"""Part of a vector that is left when the others are taken away, below which it has nothing new."""

NEARLY_NOTHING = 1e-3
"""Part below which rounding has made it less orthogonal than it must be."""

FEW = 0.25
"""Part of all vectors up to which those of float32 and a step in float64 take less time than those of float64."""

BLOCK_ROWS = 128

FEW_COLUMNS = 32
"""Columns up to which SciPy takes longer to begin than to find all eigenvectors, which NumPy does not."""

SOME, SOME_COLUMNS = 1.0 / 16.0, 160
"""Part of all eigenvalues from which, of so many columns at most, all of them take less time than some by bisection."""

MANY = 0.25
"""Part of all eigenvectors from which all of them take less time than some."""

ORDINARY = 1e70
"""Size of a matrix up to which, and down to its inverse, nothing on the way to eigenvalues is out of range."""

WORTH = 64
"""Products of BLAS that take as long as one of ours: a second thread pays for so many times more of them."""


@dataclass(frozen=True)
class EigenPairs:
    """Eigenvalues in falling order with their vectors, and what was done to find them."""

    values: Array
    vectors: Array
    n_steps: int
    trace: Trace


def leading_eigenpairs(
    times: Callable[[Array], Array],
    n: int,
    k: int,
    *,
    goal: float,
    seed: int = 0,
    most_steps: int | None = None,
    width: int = WIDTH,
    look_from: float = LOOK_FROM,
    beside: Any = None,
) -> EigenPairs:
    """Return the ``k`` largest eigenvalues of the n x n matrix that ``times`` multiplies blocks by.

    It ends when all residuals are at most ``goal`` times the largest eigenvalue in size, or after ``most_steps``.
    ``width`` is the number of vectors in a block; the eigenvectors are looked at when the span has ``look_from``
    vectors for each one wanted. The span is kept ``beside`` a tensor, if there is one: only blocks come to the host.
    """
    rng, trace, looks = np.random.default_rng(seed), Trace(), LookSchedule(haste=HASTE)
    width = min(n, width)
    span = _KrylovSpace(n, min(n, ROOM + 3 * k), beside)
    block = qr(rng.standard_normal((n, width)), mode="economic")[0]
    most, confirm_at, before = MOST_STEPS if most_steps is None else most_steps, 0, np.zeros(0)
    for step in range(1, most + 1):
        image = times(block)
        coordinates = span.add(block, image)
        is_last = span.size == n or (step == most and span.size >= k)
        is_due = confirm_at == step or (not confirm_at and span.size >= look_from * k and step >= looks.next_look)
        following = block[:, :0] if is_last else span.new_directions(image, rng, coordinates)
        needs_room = span.size + following.shape[1] > span.room
        if is_last or needs_room or is_due:
            values, vectors, residuals = span.best(k)
            size = max(float(np.abs(span.values).max()), np.finfo(float).tiny)
            trace.add(iteration=step, captured=float(values.sum()), residual=float(residuals.max() / size))
            looks.saw(step, float(residuals.max()), goal=goal * size)
            is_done = len(values) == k and residuals.max() <= goal * size
            if is_last or (is_done and confirm_at == step and np.abs(values - before).max() <= 8 * goal * size):
                break
            if needs_room:
                span.reduce(min(2 * k + width, span.room - following.shape[1]))
            if is_done and confirm_at <= step:
                confirm_at, before = step + STEPS_TO_CONFIRM, values
                following = span.random_directions(width, rng)
            elif confirm_at == step:
                confirm_at = 0
        block = following
    return EigenPairs(values, vectors, step, trace)


def leading_eigenpairs_there(
    times: Callable[[Any], Any], n: int, k: int, there: Any, *, goal: float, most_steps: int = MOST_TURNS
) -> EigenPairs:
    """Return the ``k`` largest eigenvalues of a positive matrix on a device, as near as the goal, or the steps, allow.

    More vectors than are wanted stay there, in float64, and are multiplied and made orthogonal again and again: a card
    does that with many vectors in the time of a few, and the host looks at one number of each step.
    """
    import torch

    start = np.random.default_rng(0).standard_normal((n, min(n, 2 * k + WIDTH)))
    image, trace = torch.asarray(start, device=there), Trace()
    for step in range(1, most_steps + 1):
        span = torch.linalg.qr(image).Q
        image = times(span)
        small = span.T @ image
        values, turn = (part[..., -k:].flip(-1) for part in torch.linalg.eigh((small + small.T) / 2.0))
        vectors = span @ turn
        rest = (image @ turn - vectors * values).norm(dim=0).amax() / values[0]
        trace.add(iteration=step, captured=float(values.sum()), residual=float(rest))
        if not trace["residual"][-1] > goal:  # of zeros nothing is left, which is no number
            break
    return EigenPairs(as_numpy(values), as_numpy(vectors), step, trace)


class _KrylovSpace:
    """Orthonormal vectors, the matrix times each, and the matrix on their span."""

    def __init__(self, n: int, room: int, beside: Any = None) -> None:
        self.basis, self.image = (
            np.empty((n, room), order="F") if beside is None else beside.new_empty((room, n)).T for _ in range(2)
        )
        self.small = np.zeros((room, room))
        self.size, self.room = 0, room
        self.values, self.directions = np.zeros(0), np.zeros((0, 0))

    def add(self, block: Array, image: Array) -> Array:
        """Add a block that is orthogonal to all before it; return the coordinates of its image in the span."""
        new = slice(self.size, self.size + block.shape[1])
        self.basis[:, new], self.image[:, new] = _beside(self.basis, block), _beside(self.basis, image)
        self.size = new.stop
        part = _coordinates(self.basis[:, : self.size], image)
        self.small[: self.size, new] = part
        self.small[new, : self.size] = part.T
        return part

    def best(self, k: int) -> tuple[Array, Array, Array]:
        """Return the ``k`` largest eigenvalues on the span, their vectors, and the length of what is left of each."""
        small = self.small[: self.size, : self.size]
        self.values, self.directions = eigh((small + small.T) / 2.0, check_finite=False)
        chosen = self.directions[:, ::-1][:, :k]
        values = self.values[::-1][:k]
        vectors, rest = (_combined(part[:, : self.size], chosen) for part in (self.basis, self.image))
        rest -= vectors * values
        return values, vectors, np.sqrt(np.einsum("ij,ij->j", rest, rest))

    def reduce(self, kept: int) -> None:
        """Keep the best vectors only; ``best`` has been called."""
        chosen = self.directions[:, ::-1][:, :kept]
        for part in (self.basis, self.image):
            part[:, :kept] = _beside(part, _combined(part[:, : self.size], chosen))
        self.small[...] = 0.0
        self.small[range(kept), range(kept)] = self.values[::-1][:kept]
        self.size = kept

    def new_directions(self, image: Array, rng: np.random.Generator, coordinates: Array | None = None) -> Array:
        """Return what of the vectors is orthogonal to the span, orthonormal; random vectors where nothing is left.

        Their ``coordinates`` in the span may be known already.
        """
        width = min(image.shape[1], len(image) - self.size)
        found = self._orthonormal(image, coordinates)[:, :width]
        while found.shape[1] == 0:  # the span holds whole eigenspaces: the rest of the matrix is found from elsewhere
            found = self.random_directions(width, rng)
        return found

    def random_directions(self, width: int, rng: np.random.Generator) -> Array:
        """Return random orthonormal vectors orthogonal to the span."""
        return self._orthonormal(rng.standard_normal((len(self.basis), min(width, len(self.basis) - self.size))))

    def _orthonormal(self, vectors: Array, coordinates: Array | None = None) -> Array:
        """Return what of the vectors is outside the span, unless it is rounding beside the longest of them."""
        basis = self.basis[:, : self.size]
        level = float(np.sqrt(np.einsum("ij,ij->j", vectors, vectors)).max(initial=0.0))
        if not level > 0.0:
            return vectors[:, :0]
        if coordinates is None:
            coordinates = _coordinates(basis, vectors)
        found = (vectors - _combined(basis, coordinates)) / level
        # once is not enough: rounding of the first time may be as large as what is left
        found -= _combined(basis, _coordinates(basis, found))
        q, r, _ = qr(found, mode="economic", pivoting=True)
        left = np.abs(np.diagonal(r))
        q = q[:, left > NOTHING_LEFT]
        if q.shape[1] and left[q.shape[1] - 1] < NEARLY_NOTHING:
            q = qr(q - _combined(basis, _coordinates(basis, q)), mode="economic")[0]
        return np.asarray(q)


def _beside(part: Any, block: Array) -> Any:
    """Return vectors where others are; those of NumPy may be turned around, tensors may not."""
    return like(np.ascontiguousarray(block), part) if is_foreign(part) else block


def _coordinates(basis: Array, vectors: Array) -> Array:
    """Return ``basis' vectors``, some columns of the basis on each thread: no sum is split."""
    if is_foreign(basis):
        return as_numpy(basis.T @ _beside(basis, vectors))
    parts = shares(basis.shape[1], basis.size * vectors.shape[1] // WORTH)
    return np.concatenate(run_blocks(lambda columns: basis[:, columns].T @ vectors, parts))


def _combined(basis: Array, coordinates: Array) -> Array:
    """Return ``basis coordinates``, some rows on each thread."""
    if is_foreign(basis):
        return as_numpy(basis @ _beside(basis, coordinates))
    parts = shares(len(basis), basis.size * coordinates.shape[1] // WORTH)
    return np.concatenate(run_blocks(lambda rows: basis[rows] @ coordinates, parts))


def dense_times(matrix: Array) -> Callable[[Array], Array]:
    """Return the function that multiplies blocks of vectors by a C-ordered float64 matrix, on all threads.

    By a tensor they are multiplied where it is.
    """
    if is_foreign(matrix):
        return lambda block: as_numpy(matrix @ _beside(matrix, block))
    from pellucid.solvers.product_kernels import times_four

    parts = split_evenly(len(matrix), -(-len(matrix) // BLOCK_ROWS))

    def times(block: Array) -> Array:
        out = np.empty(block.shape)
        if block.shape[1] == WIDTH:
            columns = np.ascontiguousarray(block.T)
            run_blocks(lambda rows: times_four(matrix[rows], columns, out[rows]), parts)
        else:
            run_blocks(lambda rows: np.matmul(matrix[rows], block, out=out[rows]), parts)
        return out

    return times


def eigenpairs_at_once(matrix: Array, k: int, *, is_rough: bool = False) -> EigenPairs:
    """Return the ``k`` largest eigenvalues from a factorization of the whole matrix.

    Few of a matrix that is only known to float32 are found in float32; the vectors are then multiplied once, made
    orthogonal and combined in float64, which gives them right angles and the last digits that the matrix has.
    """
    n, trace = len(matrix), Trace()
    is_rough = is_rough and k <= FEW * n
    with shared_blas(float(n) ** 3 / 8):  # half of it are products of vectors, which gain little
        values, vectors = _last_eigenpairs(_in_float32(matrix) if is_rough else matrix, k)
        if is_rough:
            span = qr(matrix @ vectors, mode="economic", check_finite=False)[0]
            values, turn = eigh(span.T @ (matrix @ span), check_finite=False)
            vectors = span @ turn
    trace.add(iteration=1, captured=float(values.sum()))
    return EigenPairs(values[::-1], vectors[:, ::-1], 1, trace)


def _last_eigenpairs(matrix: Array, k: int) -> tuple[Array, Array]:
    n = len(matrix)
    if is_foreign(matrix):
        values, vectors = (as_numpy(part[..., n - k :]) for part in array_namespace(matrix).linalg.eigh(matrix))
        return values, vectors
    if k == n <= FEW_COLUMNS:
        values, vectors = np.linalg.eigh(matrix)
        return values, vectors
    found = _by_all_values(matrix, k) if SOME * n <= k < MANY * n and n <= SOME_COLUMNS else None
    if found is not None:
        return found
    if k < MANY * n:
        with suppress(LinAlgError):  # of many equal eigenvalues bisection may miss some, and rarely does it say so
            values, vectors = eigh(matrix, subset_by_index=(n - k, n - 1), check_finite=False)
            if len(values) == k:
                return values, vectors
    values, vectors = (part[..., n - k :] for part in eigh(matrix, driver="evd", check_finite=False))
    return values, vectors


def _by_all_values(matrix: Array, k: int) -> tuple[Array, Array] | None:
    """Return the same from all eigenvalues of the tridiagonal form, and inverse iteration for the vectors wanted.

    None where that is not the way: in float32 bisection is quicker, and a form that falls into blocks, as that of a
    matrix with few different eigenvalues, needs each of them looked at alone.
    """
    n = len(matrix)
    if matrix.dtype != np.float64:
        return None
    form, diagonal, beside, factors, _ = lapack.dsytrd(matrix.T, lower=True, lwork=n)
    size = float(np.abs(diagonal).max())
    if not (1.0 / ORDINARY < size < ORDINARY and np.abs(beside).min() > EPSILON * size):
        return None
    values, failed = lapack.dsterf(diagonal, beside)
    if failed:
        return None
    one_block = np.ones(n, dtype=np.int32), np.full(n, n, dtype=np.int32)
    own, failed = lapack.dstein(diagonal, beside, values[n - k :], *one_block)
    vectors = np.empty((n, k), order="F")
    vectors[0] = own[0]
    vectors[1:] = lapack.dormqr("L", "N", form[1:, :-1], factors, own[1:], 64 * k)[0]
    return None if failed else (values[n - k :], vectors)


def _in_float32(matrix: Array) -> Array:
    """Return the matrix in units in which float32 holds it."""
    return (matrix / (matrix.diagonal().max(initial=0.0) or 1.0)).astype(np.float32)


def signed(vectors: Array) -> Array:
    """Return vectors with the first of their largest entries above 0: equal up to rounding counts as equal."""
    size = np.abs(vectors)
    first = (size >= (1.0 - 1e-9) * size.max(axis=0, initial=0.0)).argmax(axis=0)
    return np.asarray(vectors * np.where(vectors[first, range(len(first))] < 0.0, -1.0, 1.0))


FEWEST, MOST = 5, 40
"""Passes between two looks."""


@dataclass
class LookSchedule:
    """When to look at the gap of a method whose passes are cheaper than the look.

    Looks after five passes, and once the gap is seen to fall, where it should have reached the goal.

    Examples
    --------
    >>> looks = LookSchedule()
    >>> looks.saw(0, 1.0, goal=1e-6), looks.next_look
    (None, 5)
    >>> looks.saw(5, 0.1, goal=1e-6), looks.next_look  # a tenth in five passes: 25 more are needed
    (None, 30)
    """

    next_look: int = 0
    haste: float = 1.0
    """Part of the passes that should be needed after which to look: less than 1 for a gap that falls ever faster."""
    _last: tuple[int, float] | None = None

    def saw(self, n_iter: int, gap: float, *, goal: float) -> None:
        """Note the gap after so many passes."""
        self.next_look = n_iter + FEWEST
        if self._last is not None and 0.0 < goal < gap < self._last[1]:
            passes, before = n_iter - self._last[0], self._last[1]
            needed = math.ceil(self.haste * passes * math.log(gap / goal) / math.log(before / gap))
            self.next_look = n_iter + min(max(needed, FEWEST), MOST)
        self._last = (n_iter, gap)


SAME = 1e-9
"""Values that differ by less, in parts of the larger, are equal: the first is preferred."""


def elbow_of(counts: Array, values: Array) -> int | None:
    """Return the count whose value is farthest below the line from the first to the last; None where there is no bend.

    Examples
    --------
    >>> elbow_of(np.array([1, 2, 3, 4]), np.array([100.0, 20.0, 15.0, 10.0]))
    2
    """
    if len(counts) < 3 or not values[0] > values[-1]:
        return None
    along = (counts - counts[0]) / (counts[-1] - counts[0])
    below = 1.0 - along - (values - values[-1]) / (values[0] - values[-1])
    return int(counts[first_largest(below)]) if below.max() > SAME else None


def first_largest(values: Array) -> int:
    """Return the place of the first value that no other exceeds by more than rounding."""
    best = values.max()
    return int(np.argmax(values >= best - SAME * abs(best)))
