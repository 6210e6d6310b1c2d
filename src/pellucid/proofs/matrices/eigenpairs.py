r"""Claims about eigenvectors that were found: they are some, at right angles, in order, and none larger was missed.

A residual :math:`\|Cv - \lambda v\|` puts an eigenvalue of a symmetric matrix within that distance of :math:`\lambda`
(Weyl). That none was missed is about the rest :math:`B = C - V\Lambda V'`, whose largest eigenvalue must not be above
the smallest one found, :math:`\lambda_k`. Of four bounds the first that decides counts:

- all eigenvalues of an inner product are at least 0, so none is above their sum, :math:`\mathrm{tr}\,B`;
- those of :math:`C = AA'` are those of :math:`A'A` and zeros: where one side is short, all of them are computed;
- up to ``FACTORED`` rows ``verify`` factors :math:`\lambda_k(1 + t)I - B`: a Cholesky factor exists only if none is
  above;
- otherwise Lanczos from a random vector finds, in q steps, all but a part e of the largest eigenvalue of a matrix
  without negative ones, with a chance of failure of at most :math:`1.648\sqrt n\,\exp(-\sqrt e\,(2q - 1))` (Kuczynski
  and Wozniakowski, 1992); e is what leaves 1 % for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import eigh_tridiagonal, lapack

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import TINY, sum_error
from pellucid.proofs.sampling import MISSED, draws, is_fitting
from pellucid.proofs.seen import Seen

RESIDUAL = 1e-11
"""Residuals accepted, in parts of the largest eigenvalue, where no ``tol`` allows more."""

FACTORED = 4000
"""Rows up to which ``verify`` factors the rest of the matrix."""

SHORT_AT_FIT = 64
"""Rows or columns up to which a fit has all eigenvalues of products computed."""

PROBE_STEPS = 20
PROBE_STEPS_AT_FIT = 8

NOTHING_LEFT = 1e-11
"""Part of the eigenvalues below which the probe has seen all that its vector has to do with."""


class Symmetric(Protocol):
    """What is asked of a symmetric matrix that may not be stored; a factor also asks for ``matrix``."""

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues."""

    @property
    def least_norm(self) -> float:
        """What the largest eigenvalue is at least, in size."""

    def times(self, block: Array) -> Array:
        """Return the matrix times a vector or a block of vectors."""


@dataclass(frozen=True)
class SymmetricMatrix:
    """A symmetric matrix, dense or of sparse rows."""

    matrix: Any

    def times(self, block: Array) -> Array:
        """Return the matrix times a vector or a block of vectors."""
        return np.asarray(self.matrix @ block)

    def diagonal(self) -> Array:
        """Return the entries on the diagonal."""
        return np.asarray(self.matrix.diagonal())

    @property
    def trace(self) -> float:
        """The sum of the diagonal, which is that of the eigenvalues."""
        return float(self.diagonal().sum())

    @cached_property
    def norm(self) -> float:
        """The root of the sum of squares, which no eigenvalue is above; infinite where the squares overflow."""
        flat = self.matrix.data if sparse.issparse(self.matrix) else self.matrix.ravel(order="K")
        with np.errstate(over="ignore"):
            return float(np.sqrt(flat @ flat))

    @cached_property
    def least_norm(self) -> float:
        """What the largest eigenvalue is at least, in size: the root of the mean square, or the largest diagonal."""
        diagonal = largest(self.diagonal())
        return max(diagonal, self.norm / np.sqrt(self.matrix.shape[0]) if np.isfinite(self.norm) else 0.0, TINY)


@dataclass(frozen=True)
class ProductsOfRows:
    """The inner products :math:`AA'` of rows, never formed."""

    rows: Array

    def times(self, block: Array) -> Array:
        """Return the products times a vector or a block of vectors."""
        return np.asarray(self.rows @ (self.rows.T @ block))

    @cached_property
    def trace(self) -> float:
        """The sum of all eigenvalues."""
        return float(np.vdot(self.rows, self.rows))

    @property
    def least_norm(self) -> float:
        """What the largest eigenvalue is at least: their mean."""
        return max(self.trace / max(min(self.rows.shape), 1), TINY)

    def largest(self, k: int) -> Array:
        """Return the k largest eigenvalues, from the products of the shorter side."""
        A = self.rows if len(self.rows) <= self.rows.shape[1] else self.rows.T
        return np.pad(np.linalg.eigvalsh(A @ A.T)[::-1], (0, k))[:k]


def missed_claim(
    symmetric: Any,
    values: Array,
    vectors: Array,
    *,
    noise: float,
    wants_all: bool,
    is_positive: bool,
    is_fit: bool | None = None,
) -> Claim:
    """Return the claim that no eigenvalue above the smallest one found is left; above 0 if all were wanted.

    ``symmetric`` is a :class:`Symmetric`; one that may be negative is a :class:`SymmetricMatrix`.
    """
    n, k = vectors.shape
    is_fit = is_fitting() if is_fit is None else is_fit
    level = max(float(values.max(initial=0.0)), symmetric.least_norm)
    left = symmetric.trace - float(values.sum())
    smallest = (0.0 if wants_all else float(values[-1])) if k else 0.0
    if k == n:
        return Claim("missed", "all eigenvalues were found", 0.0, 0.0)
    floor = smallest + noise * level * (n if wants_all else 1)
    statement = "largest eigenvalue that may have been missed, in parts of the smallest one found"
    if is_positive and left <= floor:
        return Claim("missed", f"{statement}, from the trace", max(left, 0.0) / floor, 1.0)
    if isinstance(symmetric, ProductsOfRows) and min(symmetric.rows.shape) <= (SHORT_AT_FIT if is_fit else FACTORED):
        top = symmetric.largest(k + 1)  # each may be as large as the one found in its place
        is_missed = top > np.append(values, smallest) + (floor - smallest)
        missed = max(float(np.max(np.where(is_missed, top, top[-1]))), 0.0)
        return Claim("missed", f"{statement}, from all eigenvalues of the shorter side", missed / floor, 1.0)
    if not is_fit and n <= FACTORED and hasattr(symmetric, "matrix"):
        excess = _excess_by_factor(symmetric, values, vectors, floor)
        return Claim("missed", f"{statement}, from a Cholesky factor of the rest", excess, 1.0)
    steps = min(n - k, PROBE_STEPS_AT_FIT if is_fit else PROBE_STEPS)
    part = min(0.9, (np.log(1.648 * np.sqrt(n) / MISSED) / (2 * steps - 1)) ** 2) if steps < n - k else 0.0
    shift = 0.0 if is_positive else symmetric.norm
    found = _probe(symmetric, values, vectors, steps, shift)
    return Claim(
        "missed",
        f"largest eigenvalue of the rest found by {steps} steps from a random vector, in parts of the smallest one "
        f"found: at 99 % confidence none is above {1.0 / (1.0 - part):.3g} times that"
        + ("" if is_positive else ", both counted from minus the norm of the matrix"),
        max(found - shift, 0.0) / floor,
        1.0,
        "Raise max_iter or use eigen_solver='dense'.",
    )


def _excess_by_factor(symmetric: SymmetricMatrix, values: Array, vectors: Array, floor: float) -> float:
    """Return 1 if floor I - B has a Cholesky factor, and infinity otherwise."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = np.asarray((vectors * values) @ vectors.T - symmetric.matrix)  # a sparse one becomes dense
    rest.flat[:: len(rest) + 1] += floor
    if not np.isfinite(rest).all():
        return float("inf")
    return float("inf") if lapack.dpotrf(rest, lower=True, clean=False, overwrite_a=True)[1] else 1.0


def _probe(symmetric: Symmetric, values: Array, vectors: Array, steps: int, shift: float) -> float:
    """Return the largest eigenvalue of B + shift I that Lanczos sees from a random vector."""
    v = draws().standard_normal(len(vectors))
    basis, diagonal, beside = [v / np.linalg.norm(v)], [], []
    for _ in range(steps):
        v = basis[-1]
        image = symmetric.times(v) - vectors @ (values * (vectors.T @ v)) + shift * v
        diagonal.append(float(v @ image))
        for _ in range(2):
            Q = np.column_stack(basis)
            image = image - Q @ (Q.T @ image)
        length = float(np.linalg.norm(image))
        if not np.isfinite(length):
            return float("inf")
        if length <= max(TINY, NOTHING_LEFT * max(map(abs, diagonal))) or len(basis) == steps:
            break  # what is left is rounding, which would not be orthogonal to the others
        beside.append(length)
        basis.append(image / length)
    return float(eigh_tridiagonal(np.array(diagonal), np.array(beside[: len(diagonal) - 1]), eigvals_only=True)[-1])


def eigenpair_claims(
    matrix: Symmetric, values: Array, vectors: Array, *, level: float, noise: float, remedy: str = ""
) -> list[Claim]:
    """Return the claims of residuals, in parts of ``level``, and of right angles; both may be off by ``noise``."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = (matrix.times(vectors) - vectors * values) / level
        residual = float(np.max(np.sqrt(np.sum(rest**2, axis=0)), initial=0.0))
        product = vectors.T @ vectors - np.eye(len(values))
    return [
        Claim("eigenvectors", "longest residual of an eigenvector, in parts of the largest eigenvalue", residual,
              noise, remedy),
        Claim("orthogonality", "largest product of two eigenvectors, or distance of one from length 1",
              largest(product), max(1e-9, sum_error(len(vectors)), noise)),
    ]  # fmt: skip


def leading_claims(
    matrix: Symmetric, values: Array, vectors: Array, *, level: float, noise: float, disorder: int,
    wants_all: bool = False, is_positive: bool, remedy: str = "",
) -> list[Claim]:  # fmt: skip
    """Return the same, with the claims that there is no ``disorder``, and that no larger eigenvalue was missed."""
    return [
        *eigenpair_claims(matrix, values, vectors, level=level, noise=noise, remedy=remedy),
        Claim("order", "eigenvalues out of order or below 0, and vectors of the other sign", float(disorder), 0.0),
        missed_claim(matrix, values, vectors, noise=noise, wants_all=wants_all, is_positive=is_positive),
    ]


def coordinate_claims(
    matrix: Any, fitted: Seen, *, unit: float = 1.0, tol: float = 0.0, rounding: float = 0.0, lost: float = 0.0,
    is_positive: bool,
) -> list[Claim]:  # fmt: skip
    """Return the claims about ``embedding_``, eigenvectors times roots of ``eigenvalues_``, of a matrix in this unit.

    ``rounding`` is that of the dtype in which the embedding is stored, ``lost`` that of the matrix. Fewer axes than
    were asked for have an extent only if the others have none: then no eigenvalue above rounding may be left.
    """
    values = np.asarray(fitted.eigenvalues_, dtype=np.float64) * unit * unit
    scaled = np.asarray(fitted.embedding_, dtype=np.float64) * unit
    has_extent = values > 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        vectors = scaled[:, has_extent] / np.sqrt(values[has_extent])
    level = max(float(values.max(initial=0.0)), matrix.least_norm)
    noise = max(RESIDUAL, 8 * sum_error(len(scaled)), 4 * tol) + lost / level + 4 * rounding
    disorder = int(np.sum(~(np.diff(values) <= 0.0)) + np.sum(~(values >= 0.0)) + np.any(scaled[:, ~has_extent] != 0.0))
    disorder += wrong_signs(vectors, max(1e-9, 8 * rounding)) + int(np.sum(np.cumsum(~has_extent)[has_extent] > 0))
    return leading_claims(
        matrix, values[has_extent], vectors, level=level, noise=noise, disorder=disorder,
        wants_all=not has_extent.all(), is_positive=is_positive, remedy="Raise max_iter, or lower tol.",
    )  # fmt: skip


def turned_claim(products: Array, values: Array, *, level: float, rounding: float, stored: float = 0.0) -> Claim:
    r"""Return the claim that no two vectors are turned into each other, from their products :math:`V'CV`.

    A residual in parts of the largest eigenvalue says nothing of vectors of small ones. Their products must vanish up
    to the ``rounding`` of the matrix, in parts of ``level``; vectors that are ``stored`` with a relative error u add
    :math:`u(\lambda_i + \lambda_j)`. Only vectors whose eigenvalues are equal up to that may be turned.
    """
    sizes = np.abs(values)
    allowed = (rounding + stored**2) * level + stored * (sizes[:, None] + sizes)
    with np.errstate(over="ignore", invalid="ignore"):
        beside = np.abs(products - np.diag(np.diagonal(products))) / np.maximum(allowed, TINY)
    statement = "largest product of two vectors by way of the matrix, in units of its rounding: above 1 if turned"
    return Claim("turned", statement, float(np.max(beside, initial=0.0)), 1.0)


def wrong_signs(vectors: Array, nearly: float = 1e-9) -> int:
    """Return how many vectors have a first of their largest entries that is not above 0; equal up to ``nearly``."""
    size = np.abs(vectors)
    is_largest = size >= (1.0 - nearly) * size.max(axis=0, initial=0.0)  # nowhere, where an entry is NaN
    candidates = np.where(is_largest, vectors, -np.inf)
    if nearly > 1e-9:  # rounding may have changed which is the first: one of them must be above 0
        return int(np.sum(~(candidates.max(axis=0, initial=-np.inf) > 0.0)))
    first = candidates[np.argmax(is_largest, axis=0), np.arange(vectors.shape[1])]
    return int(np.sum(~(first > 0.0)))
