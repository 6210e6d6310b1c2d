"""Newton's equations: the second derivative times a step is the gradient, factored or by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, lapack

from pellucid.core.threads import shared_blas
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

DIRECT = 1500
"""Unknowns up to which the second derivative is factored; conjugate gradients otherwise."""

MOST_CONJUGATE_STEPS, RESIDUAL = 300, 1e-2
"""When conjugate gradients stop: after so many steps, or at this part of the gradient."""

DAMPING = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)
"""What is added to the unit diagonal, the least that works: rounding may have eaten the smallest eigenvalues."""


class Curved(Protocol):
    """The second derivative of a smoothed objective, at the scores of a loss."""

    def hessian(self, loss: Any) -> Array:
        """Return the second derivative."""
        ...

    def hessian_product(self, loss: Any, d: Array) -> Array:
        """Return the second derivative times a vector."""
        ...

    def hessian_diagonal(self, loss: Any) -> Array:
        """Return the diagonal of the second derivative, or a bound of it."""
        ...


def solve_curvature(problem: Curved, loss: Any, g: Array) -> Array:
    """Return the step ``d`` with ``H d = g``, where ``H`` is the second derivative."""
    if len(g) <= DIRECT:
        return _factored(problem.hessian(loss), g)
    return conjugate_gradient(
        lambda d: problem.hessian_product(loss, d),
        g,
        problem.hessian_diagonal(loss),
        precision=RESIDUAL,
        max_steps=MOST_CONJUGATE_STEPS,
    )


def _factored(H: Array, g: Array) -> Array:
    """Solve with a Cholesky factor, the diagonal scaled to 1, or with eigenvalues where that fails."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1.0))
    scaled = H * np.outer(scale, scale)
    try:
        return scale * np.asarray(cho_solve(cho_factor(scaled), scale * g))
    except np.linalg.LinAlgError:  # rounding has made it indefinite
        values, vectors = eigh(scaled)
        return np.asarray(scale * (vectors @ ((scale * g) @ vectors / np.maximum(values, EPSILON * values[-1]))))


def scaled_cholesky(H: Array) -> Callable[[Array], Array]:
    """Return what solves ``H d = g``, whatever the scales of its columns; raise LinAlgError if ``H`` is indefinite.

    Examples
    --------
    >>> scaled_cholesky(np.diag([4.0, 1e20]))(np.array([2.0, 1e20]))
    array([0.5, 1. ])
    """
    if not len(H):
        return np.zeros_like
    scale = 1.0 / np.sqrt(np.diagonal(H))
    unit = H * (scale[:, None] * scale)
    for damping in DAMPING:
        unit.flat[:: len(unit) + 1] = 1.0 + damping  # a third of fill_diagonal's time
        with shared_blas(len(unit) ** 3 / 3):
            factor, failed = lapack.dpotrf(unit, lower=True)
        if not failed:
            return lambda g: np.asarray(scale * lapack.dpotrs(factor, scale * g, lower=True)[0])
    raise np.linalg.LinAlgError("The matrix is not positive definite.")


# Preconditioned conjugate gradients: equations whose matrix is known by its products only.
#
# .. math:: x \mathrel{+}= \frac{r'z}{d'Hd}d,\qquad z = r/\operatorname{diag}(H),\qquad
# d \leftarrow z + \frac{r'z}{r_{\text{before}}'z_{\text{before}}}d


def conjugate_gradient(
    product: Callable[[Array], Array], right: Array, diagonal: Array, *, precision: float, max_steps: int
) -> Array:
    """Return ``x`` with ``H x = right``, up to ``precision`` in the norm that the diagonal of ``H`` gives.

    ``right`` may have any shape; ``product`` returns ``H`` times an array of that shape.

    Examples
    --------
    >>> conjugate_gradient(lambda d: d * [4.0, 1.0], np.array([8.0, 3.0]), np.ones(2), precision=1e-9, max_steps=2)
    array([2., 3.])
    """
    x, residual = np.zeros_like(right), right.copy()
    z = residual / diagonal
    direction, size = z.copy(), float(np.vdot(residual, z))
    enough = precision**2 * size
    for _ in range(max_steps):
        curved = product(direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 0.0:  # a direction without effect, found by rounding
            break
        step = size / curvature
        x += step * direction
        residual -= step * curved
        z = residual / diagonal
        size, before = float(np.vdot(residual, z)), size
        if size <= enough:
            break
        direction = z + (size / before) * direction
    return x
