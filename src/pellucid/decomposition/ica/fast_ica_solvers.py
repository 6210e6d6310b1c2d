r"""The rotation of white rows that makes their coordinates least Gaussian, by the fixed point of Hyvarinen.

.. math:: w \leftarrow E\,[z\,g(w'z)] - E\,[g'(w'z)]\,w

for all rows of ``W`` at once, made orthonormal by :math:`(WW')^{-1/2}W`, or for one after the other, each orthogonal to
those before it. Means over many rows are nearly those over a part of them: the first steps see a part only, and large
data are multiplied in float32, whose rounding is far below what means over rows can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, svd

from pellucid.core.fit import Effort, Fit
from pellucid.core.random_state import some_rows
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

SAMPLE = 16
"""The first steps see one of so many rows."""

FEWEST = 2048
"""Rows that such a part must have at least."""

SAMPLE_STEPS = 30

UNDAMPED, DAMPED = 20, 0.6
"""After so many steps they may be going back and forth: then only this part of each is taken. 1,000 whole steps on the
ten columns of the diabetes data do not end; 20 whole and 40 damped ones do."""


def symmetric_rotation(Z: Array, W: Array, contrast: Contrast, effort: Effort, *, in_parts: bool) -> Fit:
    """Return the rotation at which one more step turns no row by more than the goal: of all rows at once."""
    trace, stopped = Trace(), "max_iter"
    W = orthonormal(W)
    if in_parts and Z.shape[1] >= SAMPLE * FEWEST:
        part = np.ascontiguousarray(Z[:, some_rows(Z.shape[1], Z.shape[1] // SAMPLE)])
        for _ in range(min(SAMPLE_STEPS, effort.max_iter)):
            W, turned = _turned(part, W, contrast, in_parts=True)
            if turned < effort.goal:
                break
    for n_iter in range(1, effort.max_iter + 1):
        new, turned = _turned(Z, W, contrast, in_parts=in_parts)
        if turned >= effort.goal:
            W = new if n_iter <= UNDAMPED else _between(W, new)
        elif n_iter <= UNDAMPED and _turned(Z, new, contrast, in_parts=in_parts)[1] < effort.goal:
            W = new  # otherwise it stays: the step beyond turns more
        trace.add(iteration=n_iter, turned=turned)
        trace.keep(W=W)
        if effort.watch(W) or turned < effort.goal:
            stopped = "no row of the rotation turns by more than tol" if turned < effort.goal else "a callback"
            break
    return Fit({"rotation": W, "n_iter_": n_iter}, trace, stopped)


def deflated_rotation(Z: Array, W: Array, contrast: Contrast, effort: Effort, *, in_parts: bool) -> Fit:
    """Return the same, one row after the other; the steps counted are those of the row that took most."""
    trace, found, most, stopped = Trace(), np.zeros((0, len(Z))), 0, "no row of the rotation turns by more than tol"
    for k, start in enumerate(W):
        w = _unit(start)
        for n_iter in range(1, effort.max_iter + 1):
            new, turned = _turned_row(Z, w, found, contrast, in_parts=in_parts)
            most = max(most, n_iter)
            if turned >= effort.goal or _turned_row(Z, new, found, contrast, in_parts=in_parts)[1] < effort.goal:
                w = new  # otherwise it stays: the step beyond turns more
            trace.add(iteration=len(trace) + 1, turned=turned, component=float(k))
            trace.keep(W=np.vstack([found, w]))
            if turned < effort.goal:
                break
        else:
            stopped = "max_iter"
        found = np.vstack([found, w])
        if effort.watch(found):
            found, stopped = np.vstack([found, _completion(found)]), "a callback"
            break
    return Fit({"rotation": found, "n_iter_": most}, trace, stopped)


def _turned_row(Z: Array, w: Array, found: Array, contrast: Contrast, *, in_parts: bool) -> tuple[Array, float]:
    """Return the next row at right angles to those found, and how far it turned: 1 less the cosine."""
    product, curvature = step_means(Z, w[None], contrast, in_parts=in_parts)
    new = product[0] - curvature[0] * w
    new = _unit(new - (new @ found.T) @ found)
    return new, abs(abs(float(new @ w)) - 1.0)


def step_means(Z: Array, W: Array, contrast: Contrast, *, in_parts: bool) -> tuple[Array, Array]:
    """Return the means of ``g(Wz) z'`` and of ``g'(Wz)`` over the columns of ``Z``, in float64."""
    n, narrow = Z.shape[1], W.astype(Z.dtype)

    def work(columns: slice) -> tuple[Array, Array]:
        part = Z[:, columns]
        projected = narrow @ part
        slope, curvature = contrast(projected if len(W) > 1 or in_parts else projected[0])
        slope = np.asarray(slope).reshape(projected.shape)
        return (slope @ part.T).astype(np.float64), np.atleast_1d(curvature) * part.shape[1]

    found = run_blocks(work, row_blocks(n) if in_parts else [slice(0, n)])
    return np.sum([one for one, _ in found], axis=0) / n, np.sum([other for _, other in found], axis=0) / n


def orthonormal(W: Array) -> Array:
    """Return the nearest matrix with orthonormal rows, from singular vectors."""
    left, _, right = np.linalg.svd(W, full_matrices=False)
    return np.asarray(left @ right)


def _turned(Z: Array, W: Array, contrast: Contrast, *, in_parts: bool) -> tuple[Array, float]:
    """Return the next rotation, and how far the row that turned most did: 1 less the cosine."""
    product, curvature = step_means(Z, W, contrast, in_parts=in_parts)
    new = orthonormal(product - curvature[:, None] * W)
    return new, float(np.max(np.abs(np.abs(np.einsum("ij,ij->i", new, W)) - 1.0)))


def _between(W: Array, new: Array) -> Array:
    """Return the rotation a part of the way to the next; a row may have changed its sign."""
    signs = np.where(np.einsum("ij,ij->i", new, W) < 0.0, -1.0, 1.0)
    return orthonormal(W + DAMPED * (signs[:, None] * new - W))


def _unit(w: Array) -> Array:
    return np.asarray(w / max(float(np.linalg.norm(w)), np.finfo(float).tiny))


def _completion(found: Array) -> Array:
    """Return orthonormal rows that complete some to a rotation."""
    return np.linalg.svd(found)[2][len(found) :]


Solver = Callable[..., Fit]
SOLVERS: dict[str, Solver] = {"parallel": symmetric_rotation, "deflation": deflated_rotation}


# Contrasts of independent components: a slope :math:`g` and the mean of its derivative, for each row of a matrix.
#
# 'logcosh' is :math:`g(s) = \tanh(\alpha s)`, 'exp' :math:`s e^{-s^2/2}`, 'cube' :math:`s^3`; or a function of the
# user's that returns :math:`g` and the mean of :math:`g'` over the last axis.


Contrast = Callable[[Array], tuple[Array, Array]]


def contrast_of(parameters: Any) -> Contrast:
    """Return the contrast that ``fun`` and ``fun_args`` ask for."""
    options = {} if parameters.fun_args is None else dict(parameters.fun_args)
    alpha = float(options.get("alpha", 1.0))
    if not 1.0 <= alpha <= 2.0:
        raise ValueError(f"alpha must be in [1,2], got {alpha:g}.")
    if callable(parameters.fun):
        return _users_own(parameters.fun, options)
    if parameters.fun == "logcosh":
        return lambda s: _logcosh(s, alpha)
    return {"exp": _exp, "cube": _cube}[parameters.fun]


def is_built_in(fun: Any) -> bool:
    """Return whether a contrast is one of ours, which may be asked about a part of the rows."""
    return isinstance(fun, str)


def _logcosh(s: Array, alpha: float) -> tuple[Array, Array]:
    slope = np.tanh(s if alpha == 1.0 else s * s.dtype.type(alpha))
    return slope, alpha * (1.0 - np.einsum("...j,...j->...", slope, slope, dtype=np.float64) / s.shape[-1])


def _exp(s: Array) -> tuple[Array, Array]:
    squares = s * s
    bell = np.exp(squares * s.dtype.type(-0.5))
    curvature = bell.mean(axis=-1, dtype=np.float64)
    return s * bell, curvature - np.einsum("...j,...j->...", squares, bell, dtype=np.float64) / s.shape[-1]


def _cube(s: Array) -> tuple[Array, Array]:
    squares = s * s
    return squares * s, 3.0 * squares.mean(axis=-1, dtype=np.float64)


def _users_own(function: Callable[..., Any], options: dict[str, Any]) -> Contrast:
    def contrast(s: Array) -> tuple[Array, Array]:
        found = function(s, **options)
        if not (isinstance(found, tuple) and len(found) == 2 and np.shape(found[0]) == s.shape):
            raise ValueError(
                "fun must return its values, in the shape of its argument, and the mean of its derivative over the "
                f"last axis, got {type(found).__name__}. Return a pair such as (x**3, (3 * x**2).mean(axis=-1))."
            )
        slope, curvature = np.asarray(found[0]), np.asarray(found[1], dtype=np.float64)
        if curvature.shape == s.shape and s.ndim == 1:  # the derivative itself, where there is one row
            curvature = curvature.mean()
        if curvature.shape != s.shape[:-1]:
            raise ValueError(
                f"fun must return the mean of its derivative over the last axis, of shape {s.shape[:-1]}, got "
                f"{curvature.shape}."
            )
        return slope, curvature

    return contrast


# Whitening: the mean taken away, and the principal directions divided by what is spread along each.
#
# .. math:: K = D^{-1}U',\qquad (X - \bar x)' = U D V',\qquad \sqrt n\,K(x - \bar x)\ \text{has covariance}\ I .
#
# The first entry of each direction is above 0.


ROWS_AT_ONCE = 4096

WELL_CONDITIONED = 1e6
"""Quotient of the largest and the least squared singular value up to which products of columns lose no digit that
matters: beyond, the centered rows are factored themselves."""


@dataclass(frozen=True)
class Whitening:
    """The mean, the directions ``K`` (q, d), and how many there could have been."""

    mean: Array
    K: Array
    rank: int
    is_degenerate: bool
    """Whether fewer directions have a spread than there are rows or columns."""

    @property
    def inverse(self) -> Array:
        """The directions times their spread, of shape (d, q): ``K @ inverse`` is the identity."""
        lengths = np.einsum("ij,ij->i", self.K, self.K)
        return (self.K / lengths[:, None]).T

    def white(self, X: Array, dtype: type) -> Array:
        """Return the white rows, transposed: of shape (q, n)."""
        out: Array = np.empty((len(self.K), len(X)), dtype=dtype)
        scaled = np.sqrt(len(X)) * self.K

        def work(rows: slice) -> None:
            out[:, rows] = scaled @ (X[rows] - self.mean).T

        run_blocks(work, row_blocks(len(X)))
        return out


def find_whitening(X: Array, n_components: int | None) -> Whitening:
    """Return the leading directions, no more than have a spread."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    directions, squares = _from_products(X, mean) if n > d else (np.empty((d, 0)), np.zeros(0))
    if not len(squares) or squares[-1] * WELL_CONDITIONED <= squares[0]:
        directions, values, _ = svd((X - mean).T, full_matrices=False, check_finite=False)
        squares = values**2
    unit = EPSILON * _unit_of_rows(X)  # of the data, and of a mean that is taken away from numbers of its size
    noise = (max(n, d) * unit) ** 2 * squares[0] + n * (4.0 * unit * float(np.abs(mean).max())) ** 2
    rank = int(np.sum(squares > noise))
    q = min(rank, rank if n_components is None else n_components)
    directions = directions[:, :q] * np.where(directions[0, :q] < 0.0, -1.0, 1.0)
    return Whitening(mean, (directions / np.sqrt(squares[:q])).T, rank, rank < min(n, d))


def row_blocks(n: int) -> list[slice]:
    """Return blocks of rows, the same on any number of threads."""
    return split_evenly(n, -(-n // ROWS_AT_ONCE))


def _unit_of_rows(X: Array) -> float:
    """Return how much coarser the rounding of the data is than that of float64."""
    return float(np.finfo(X.dtype).eps) / EPSILON


def _from_products(X: Array, mean: Array) -> tuple[Array, Array]:
    """Return directions and squared singular values, the largest first, from the products of columns."""

    def products(rows: slice) -> Array:
        centered = X[rows] - mean
        return centered.T @ centered

    squares, directions = eigh(np.sum(run_blocks(products, row_blocks(len(X))), axis=0), check_finite=False)
    return directions[:, ::-1], np.maximum(squares[::-1], 0.0)
