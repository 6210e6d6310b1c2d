r"""The rotation of white rows that makes their coordinates least Gaussian, by the fixed point of Hyvarinen.

.. math:: w \leftarrow E\,[z\,g(w'z)] - E\,[g'(w'z)]\,w

for all rows of ``W`` at once, made orthonormal by :math:`(WW')^{-1/2}W`, or for one after the other, each orthogonal to
those before it. Means over many rows are nearly those over a part of them: the first steps see a part only, and large
data are multiplied in float32, whose rounding is far below what means over rows can tell.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.random_state import some_rows
from pellucid.core.threads import run_blocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.decomposition.ica.contrasts import Contrast
from pellucid.decomposition.ica.whitening import row_blocks

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
