"""Newton's equations: the second derivative times a step is the gradient, factored or by conjugate gradients."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from pellucid.core.rounding import EPSILON
from pellucid.core.types import Array

DIRECT = 1500
"""Unknowns up to which the second derivative is factored; conjugate gradients otherwise."""

MOST_CONJUGATE_STEPS, RESIDUAL = 300, 1e-2
"""When conjugate gradients stop: after so many steps, or at this part of the gradient."""


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
    return (_factored if len(g) <= DIRECT else _by_conjugate_gradients)(problem, loss, g)


def _factored(problem: Curved, loss: Any, g: Array) -> Array:
    """Solve with a Cholesky factor, the diagonal scaled to 1, or with eigenvalues where that fails."""
    H = problem.hessian(loss)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1.0))
    scaled = H * np.outer(scale, scale)
    try:
        return scale * np.asarray(cho_solve(cho_factor(scaled), scale * g))
    except LinAlgError:  # rounding has made it indefinite
        values, vectors = eigh(scaled)
        return np.asarray(scale * (vectors @ ((scale * g) @ vectors / np.maximum(values, EPSILON * values[-1]))))


def _by_conjugate_gradients(problem: Curved, loss: Any, g: Array) -> Array:
    """Solve roughly, preconditioned by the diagonal."""
    diagonal = problem.hessian_diagonal(loss)
    d, r = np.zeros_like(g), g.copy()
    z = r / diagonal
    direction, rho = z, float(r @ z)
    for _ in range(MOST_CONJUGATE_STEPS):
        curved = problem.hessian_product(loss, direction)
        step = rho / float(direction @ curved)
        d += step * direction
        r -= step * curved
        if float(r @ r) <= RESIDUAL**2 * float(g @ g):
            break
        z = r / diagonal
        rho, old = float(r @ z), rho
        direction = z + (rho / old) * direction
    return d
