"""Quadratic functions: the problems on which theory is exact."""

from __future__ import annotations

from array_api_compat import array_namespace

from pellucid.core.arrays import as_numpy
from pellucid.core.types import Array
from pellucid.optimize.problem import Problem


def quadratic(A: Array, b: Array | None = None, c: float = 0.0) -> Problem:
    r"""Return the problem of minimizing :math:`\frac12 x'Ax - b'x + c` for a symmetric matrix.

    Its smoothness is the largest eigenvalue of :math:`A`, its strong convexity the smallest, if that is not negative.

    Examples
    --------
    >>> import numpy as np
    >>> bowl = quadratic(np.diag([1.0, 4.0]), np.array([1.0, 4.0]))
    >>> bowl.strong_convexity, bowl.smoothness
    (1.0, 4.0)
    >>> bowl.gradient(np.ones(2))
    array([0., 0.])
    """
    xp = array_namespace(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix, got shape {tuple(A.shape)}.")
    if not bool(xp.all(abs(A - A.T) <= 1e-12 * abs(A).max())):
        raise ValueError("A must be symmetric, got a matrix that is not. Use (A + A.T) / 2: x'Ax is the same.")
    offset = xp.zeros_like(A[0]) if b is None else b
    if tuple(offset.shape) != (A.shape[0],):
        raise ValueError(f"b must have shape {(A.shape[0],)}, got {tuple(offset.shape)}.")
    eigenvalues = as_numpy(xp.linalg.eigvalsh(A))
    smallest, largest = float(eigenvalues[0]), float(abs(eigenvalues).max())
    semidefinite = smallest >= -1e-14 * largest

    def value_and_gradient(x: Array) -> tuple[float, Array]:
        product = A @ x
        return float(x @ (0.5 * product - offset)) + c, product - offset

    return Problem(
        value=lambda x: value_and_gradient(x)[0],
        gradient=lambda x: A @ x - offset,
        hessian=lambda _: A,
        hessian_product=lambda _, v: A @ v,
        value_and_gradient=value_and_gradient,
        strong_convexity=max(smallest, 0.0) if semidefinite else None,
        smoothness=largest or None,
        is_quadratic=True,
    )
