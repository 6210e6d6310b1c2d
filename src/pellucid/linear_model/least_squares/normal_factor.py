"""Factors of ``A'A + alpha I`` that solve the normal equations, and say when they lose digits doing so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import lapack, svd, svdvals

from pellucid.core.tall_triangle import tall_triangle
from pellucid.core.threads import shared_blas
from pellucid.core.types import Array
from pellucid.solvers.design import Design

EPS = float(np.finfo(np.float64).eps)

SAFE_CONDITION = 1e5
"""Largest condition number of A for which A'A is factored: refinement then still gains five digits a step."""


class NormalFactor(Protocol):
    """Solves ``(A'A + alpha I) z = g``; on a singular matrix, with the least ``|z|``."""

    @property
    def condition(self) -> float:
        """Estimate of the condition number of ``A``."""

    @property
    def rank(self) -> int:
        """Number of directions kept."""

    def solve(self, g: Array) -> Array:
        """Return ``z``, for one right-hand side per column of ``g``."""

    def inverse(self) -> Array:
        """Return the (pseudo-)inverse of ``A'A + alpha I``."""


@dataclass(frozen=True)
class CholeskyFactor:
    """Cholesky factor of the matrix scaled to a unit diagonal; columns that are zero are left out."""

    lower: Array
    scale: Array
    kept: Array
    size: int
    condition: float

    @property
    def rank(self) -> int:
        """Number of columns that are not zero."""
        return len(self.kept)

    def solve(self, g: Array) -> Array:
        """Return ``z`` with zeros for the columns left out."""
        scale, is_whole = self.scale[:, None], len(self.kept) == self.size
        if not len(self.kept):
            return np.zeros_like(g)
        found = scale * lapack.dpotrs(self.lower, scale * (g if is_whole else g[self.kept]), lower=True)[0]
        if is_whole:
            return np.ascontiguousarray(found)
        z = np.zeros_like(g)
        z[self.kept] = found
        return z

    def inverse(self) -> Array:
        """Return the pseudo-inverse."""
        inverse, out = np.zeros((self.size, self.size)), np.ix_(self.kept, self.kept)
        lower = np.tril(lapack.dpotri(self.lower, lower=True)[0]) * np.outer(self.scale, self.scale)
        inverse[out] = lower + np.tril(lower, -1).T
        return inverse

    def singular_values(self) -> Array:
        """Return the singular values of ``A`` where there is no penalty, largest first, 0 for a column left out."""
        return np.pad(svdvals(self.lower / self.scale[:, None], check_finite=False), (0, self.size - len(self.kept)))


def cholesky_factor(
    gram: Array, noise: Array, alpha: float = 0.0, condition_limit: float = SAFE_CONDITION
) -> CholeskyFactor | None:
    """Return the factor of a Gram matrix plus ``alpha I``, or None where its condition number makes that unsafe.

    A column whose squared norm is within ``noise`` counts as zero.
    """
    diagonal = gram.diagonal() + alpha
    if not np.all(np.isfinite(diagonal)):
        return None
    kept = np.flatnonzero(diagonal > noise)
    scale = 1.0 / np.sqrt(diagonal[kept])
    scaled = (gram if len(kept) == len(gram) else gram[np.ix_(kept, kept)]) * scale
    scaled *= scale[:, None]
    scaled.flat[:: len(kept) + 1] = 1.0
    size = lapack.dlange("1", scaled.T) if len(kept) else 0.0
    with shared_blas(len(kept) ** 3 / 3):
        # the transpose of C order is Fortran order: no copy; the lower half takes a quarter less time than the upper
        lower, failed = lapack.dpotrf(scaled.T, lower=True, overwrite_a=True)
    if failed:
        return None
    reciprocal = lapack.dpocon(lower, size, uplo="L")[0] if len(kept) else 1.0
    condition = 1.0 / np.sqrt(max(reciprocal, EPS**2))
    return CholeskyFactor(lower, scale, kept, len(gram), condition) if condition <= condition_limit else None


@dataclass(frozen=True)
class SpectralFactor:
    """``A = Q U diag(s) V' / scale`` by QR and SVD: nothing is squared, directions at rounding level are dropped."""

    basis: Array
    s: Array
    left: Array
    null: Array
    alpha: float
    condition: float

    @property
    def rank(self) -> int:
        """Number of directions kept."""
        return len(self.s)

    def first_solution(self, q: Array) -> Array:
        """Return the solution for ``Q'b = q``, without forming ``A'b``."""
        filtered = (self.s / (self.s**2 + self.alpha))[:, None] * (self.left.T @ q)
        return self._least_norm(self.basis @ filtered)

    def solve(self, g: Array) -> Array:
        """Return ``z`` of least norm."""
        return self._least_norm(self.basis @ ((self.basis.T @ g) / (self.s**2 + self.alpha)[:, None]))

    def inverse(self) -> Array:
        """Return the (pseudo-)inverse."""
        half = self._least_norm(self.basis / np.sqrt(self.s**2 + self.alpha))
        return half @ half.T

    def _least_norm(self, z: Array) -> Array:
        return z - self.null @ (self.null.T @ z) if self.null.size else z


def spectral_factor(triangle: Array, noise: Array, alpha: float = 0.0, cutoff: float | None = None) -> SpectralFactor:
    """Return the factor from the triangular factor of ``A``.

    Without a penalty the columns are first scaled to unit norm, so that which directions count does not depend on the
    units of the features; an explicit ``cutoff`` is applied to the singular values as they are.
    """
    p = triangle.shape[1]
    norms = np.linalg.norm(triangle, axis=0)
    present = norms**2 > noise
    unit_columns = alpha == 0.0 and cutoff is None
    scale = np.where(present, 1.0 / np.where(norms > 0, norms, 1.0), 0.0) if unit_columns else present.astype(float)
    with shared_blas(20.0 * p**2 * len(triangle)):
        left, s, right = svd(triangle * scale, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    least = (max(100, 10 * p) * EPS if cutoff is None else cutoff) * s.max(initial=0.0)
    if unit_columns:
        least = max(least, float(np.linalg.norm(np.sqrt(noise) * scale)))  # no direction is known better
    rank = int(np.sum(s > least)) if alpha == 0.0 else int(np.sum(s > 0.0))
    basis = scale[:, None] * right[:rank].T
    null = _null_space(right[rank:].T, scale, present) if alpha == 0.0 else np.empty((p, 0))
    if np.any(np.linalg.norm(triangle @ null, axis=0) > (1000 * EPS * norms + np.sqrt(noise)) @ np.abs(null)):
        # Units so far apart that the dropped directions cannot be written down in them: removing these directions
        # would change the fit, so least norm is then meant in units of the columns' norms.
        null = np.empty((p, 0))
    kept = np.sqrt(s[:rank] ** 2 + alpha)
    condition = float(kept[0] / kept[-1]) if rank else 1.0
    return SpectralFactor(basis, s[:rank], left[:, :rank], null, alpha, condition)


def _null_space(directions: Array, scale: Array, present: Array) -> Array:
    """Return an orthonormal basis of the dropped directions, in the features' own units.

    Directions of the columns that are there may come mixed with those of absent ones: their parts are either whole or
    nothing but rounding.
    """
    parts, sizes, _ = svd(directions[present], full_matrices=False, check_finite=False)
    inside = np.zeros((len(scale), int(np.sum(sizes > 0.5))))
    inside[present] = scale[present, None] * parts[:, sizes > 0.5]
    left, s, _ = svd(inside / np.linalg.norm(inside, axis=0), full_matrices=False, check_finite=False)
    return np.hstack([left[:, s > 1e-8], np.eye(len(scale))[:, ~present]])


def triangular_factor(design: Design, b: Array) -> tuple[Array, Array]:
    """Return ``R`` and ``Q'b`` of ``A = QR``, taking blocks of rows in turn: no copy of ``A`` is made."""
    p = design.shape[1]
    tables = (np.hstack([block, b[rows]]) for rows, block in design.row_blocks())
    found = tall_triangle(tables, p + b.shape[1])
    return found[:p, :p], found[:p, p:]
