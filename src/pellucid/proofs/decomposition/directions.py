r"""Proof that directions are the leading right singular vectors of rows: residuals, right angles, order, none missed.

With rows :math:`A`, centered or not and weighted, each pair is tested by :math:`\|A'Av - \sigma^2v\|`, which puts a
squared singular value within that distance of :math:`\sigma^2` (Weyl). How it is shown that no larger one was missed is
told in ``eigenpairs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense, largest
from pellucid.proofs.certificate import Claim
from pellucid.proofs.matrices.eigenpairs import Symmetric, missed_claim, turned_claim, wrong_signs
from pellucid.proofs.rounding import EPSILON, TINY, rounding_unit, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

RESIDUAL = 1e-10
"""Residuals accepted, in parts of the largest squared singular value, where no ``tol`` or float32 allows more."""

TURNED = 1e-14
"""Products of the images of two directions that rounding of rows leaves, in parts of the largest square."""

ZERO = 1e-5
"""Lengths of images, in parts of the longest, whose squares may be rounding: they may be called 0."""

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)

BLOCK_ROWS = 2048


@dataclass(frozen=True)
class GramOfRows:
    """:math:`A'A` of the training rows about ``mean``, times ``unit``, from the data alone."""

    data: TrainingData
    mean: Array
    unit: float = 1.0
    """A power of two in which squares neither overflow nor vanish."""

    @classmethod
    def of(cls, data: TrainingData, *, is_centered: bool) -> GramOfRows:
        """Return the products of the training rows, about their mean or as they are."""
        mean = weighted_mean(data) if is_centered else np.zeros(data.X.shape[1])
        values = data.X.data if sparse.issparse(data.X) else data.X
        size = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
        is_ordinary = size == 0.0 or 1e-100 < size < 1e100
        return cls(data, mean, 1.0 if is_ordinary else 0.5 ** int(np.frexp(size)[1]))

    def subnormal_loss(self, level: float) -> float:
        """Return the part of a level that squares of tiny rows lose when they are stored in the units of the rows."""
        return SMALLEST * self.unit * self.unit / max(level, TINY)

    def times(self, block: Array) -> Array:
        """Return :math:`A'A` times a vector or a block of vectors."""
        if sparse.issparse(self.data.X):
            image = self._weighted(self._sparse @ block - (self.unit * self.mean) @ block, self.data.weight)
            return np.asarray(self._sparse.T @ image - np.multiply.outer(self.unit * self.mean, image.sum(axis=0)))
        return np.asarray(sum(A.T @ self._weighted(A @ block, weight) for A, weight in self._blocks()))

    def image_squares(self, block: Array) -> Array:
        """Return the squared length of :math:`Av` for each of the vectors, and what is left of all squares beside them.

        Both are sums of squares, so that small ones keep their digits; the vectors are at right angles.
        """
        found, left = np.zeros(block.shape[1]), 0.0
        for A, weight in self._blocks():
            image = A @ block
            found += self._weighted(image * image, weight).sum(axis=0)
            rest = A - image @ block.T
            left += float(self._weighted(rest * rest, weight).sum())
        return np.append(found, left)

    @cached_property
    def matrix(self) -> Array:
        """:math:`A'A` itself."""
        return np.asarray(sum(A.T @ self._weighted(A, weight) for A, weight in self._blocks()))

    @cached_property
    def trace(self) -> float:
        """The sum of all squared singular values: that of all squares in :math:`A`."""
        return float(sum(self._weighted(A * A, weight).sum() for A, weight in self._blocks()))

    @cached_property
    def least_norm(self) -> float:
        """What the largest squared singular value is at least: their mean."""
        return max(self.trace / max(1, min(self.data.X.shape)), TINY)

    @cached_property
    def _sparse(self) -> Any:
        return sparse.csr_array(self.data.X, dtype=np.float64) * self.unit

    @staticmethod
    def _weighted(values: Array, weight: Array | None) -> Array:
        return values if weight is None else (values.T * weight).T

    def _blocks(self) -> Any:
        """Yield the rows of A, a block at a time, with their weights."""
        n = self.data.X.shape[0]
        for start in range(0, n, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, n))
            X = self.data.X[rows]
            A = np.subtract(X.toarray() if sparse.issparse(X) else X, self.mean, dtype=np.float64)
            yield A * self.unit, None if self.data.weight is None else self.data.weight[rows]


def centering_loss(X: SparseOrDense, mean: Array, n_rows: float, least_norm: float) -> float:
    """Return the part of the largest squared singular value that rounding makes of the offset of sparse rows.

    Their mean is taken away from the products; that of dense rows from the rows themselves, which costs no digits.
    """
    return 64 * EPSILON * float(mean @ mean) * n_rows / max(least_norm, TINY) if sparse.issparse(X) else 0.0


def weighted_mean(data: TrainingData) -> Array:
    """Return the mean of the columns in float64."""
    n = data.X.shape[0]
    weight = np.ones(n) if data.weight is None else data.weight
    totals = [
        weight[start : start + BLOCK_ROWS] @ data.X[start : start + BLOCK_ROWS] for start in range(0, n, BLOCK_ROWS)
    ]
    return np.asarray(np.sum(totals, axis=0, dtype=np.float64) / weight.sum(), dtype=np.float64).reshape(-1)


@dataclass(frozen=True)
class ClaimedDirections:
    """The directions that a proof is about, in the units of the products."""

    squares: Array
    vectors: Array
    """As columns."""
    dtype: Any
    """That of the training data, which the directions are stored in."""
    tol: float = 0.0
    lost: float = 0.0
    """What the products themselves have lost to rounding."""

    @property
    def noise(self) -> float:
        """Part of the largest square by which rounding moves residuals and squares."""
        n = len(self.vectors)
        return max(RESIDUAL, 2 * rounding_unit(self.dtype), 8 * sum_error(n), 4 * self.tol) + self.lost


def direction_claims(products: Symmetric, found: ClaimedDirections, *, is_factored: bool) -> list[Claim]:
    """Return the claims about directions; ``is_factored`` allows a Cholesky factor of the matrix of the products."""
    level = max(largest(found.squares), products.least_norm)
    with np.errstate(over="ignore", invalid="ignore"):
        image = products.times(found.vectors)
        residual = np.sum(((image - found.vectors * found.squares) / level) ** 2, axis=0).max(initial=0.0)
        angles = np.abs(found.vectors.T @ found.vectors - np.eye(len(found.squares))).max(initial=0.0)
        between = found.vectors.T @ image
    slack = 4 * float(np.finfo(found.dtype).eps) * largest(found.squares)
    disorder = int(np.sum(np.diff(found.squares) > slack)) + int(np.sum(found.squares < 0.0))
    disorder += wrong_signs(found.vectors, 1e-9 + rounding_unit(found.dtype))
    missed = Claim("missed", "no direction was asked for", 0.0, 0.0)
    if len(found.squares):
        missed = missed_claim(
            products, found.squares, found.vectors, noise=found.noise, wants_all=False, is_positive=True,
            is_fit=not is_factored,
        )  # fmt: skip
    rounding = TURNED + 8 * sum_error(len(found.vectors)) + found.lost
    return [
        Claim("directions", "longest residual of every direction, in parts of the largest squared singular value",
              float(np.sqrt(residual)), found.noise, "Lower tol, or use another solver."),
        Claim("right angles", "largest product of two directions, or distance of one from length 1",
              float(angles), max(1e-9, 2 * rounding_unit(found.dtype))),
        Claim("order", "squares out of order or below 0, and directions of the other sign", float(disorder), 0.0),
        missed,
        turned_claim(between, found.squares, level=level, rounding=rounding, stored=float(np.finfo(found.dtype).eps)),
    ]  # fmt: skip


def singular_values_claim(fitted: Seen, rows: GramOfRows, V: Array) -> Claim:
    """Return the claim that the singular values are the lengths of the images, 0 where these are rounding."""
    lengths = np.sqrt(rows.image_squares(V)[:-1])
    values = fitted.singular_values_.astype(np.float64) * rows.unit
    level = max(float(lengths.max(initial=0.0)), np.sqrt(rows.least_norm))
    is_zero = (values == 0.0) & (lengths <= ZERO * level)
    return Claim("singular values",
                 "largest distance of a singular value from the length of its image, in parts of the largest",
                 float(np.where(is_zero, 0.0, np.abs(values - lengths)).max(initial=0.0)) / level,
                 2 * rounding_unit(rows.data.dtype))  # fmt: skip
