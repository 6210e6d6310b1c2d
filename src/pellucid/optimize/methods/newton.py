"""Newton's method, damped, with a modified Cholesky factor where the Hessian is not positive definite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, ldl, solve_triangular

from pellucid.core.arrays import as_numpy, like
from pellucid.core.checks import check_one_of
from pellucid.core.types import Array
from pellucid.optimize.line_searches import LineSearch, StrongWolfe
from pellucid.optimize.method import NoStep
from pellucid.optimize.oracle import Oracle
from pellucid.optimize.problem import Point


class NewtonState(NamedTuple):
    """The iterate, its value and gradient, and the number of steps."""

    x: Array
    point: Point
    t: int


@dataclass(frozen=True)
class Newton:
    r"""Go to the minimum of the parabola that fits the function best here, or part of the way.

    .. math:: x_{t+1} = x_t - \eta_t\,H_t^{-1}\,\nabla f(x_t), \qquad H_t \approx \nabla^2 f(x_t)

    :math:`H_t` is the Hessian if that is positive definite, else a matrix near it that is, so that the direction always
    leads downhill. The line search tries the full step :math:`\eta_t = 1` first.

    Parameters
    ----------
    line_search : LineSearch, default=StrongWolfe()
        ``FixedStep(1.0)`` gives the undamped method.
    repair : {"eigenvalues", "bunch-kaufman"}, default="eigenvalues"
        How an indefinite Hessian is made positive definite, see
        ``modified_solver``.
    """

    line_search: LineSearch = StrongWolfe()
    repair: str = "eigenvalues"

    takes_batches: ClassVar[bool] = False
    takes_penalty: ClassVar[bool] = False
    descends: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_one_of(REPAIRS, repair=self.repair)

    def start(self, oracle: Oracle, x: Array) -> NewtonState:
        """Return the first state."""
        return NewtonState(x, oracle.at(x), 0)

    def step(self, oracle: Oracle, state: NewtonState) -> NewtonState:
        """Solve for the direction, then search along it."""
        direction = newton_direction(oracle.hessian(state.x), state.point.gradient, self.repair)
        point = self.line_search.search(oracle, state.point, direction, 1.0, state.t)
        return NewtonState(point.x, point, state.t + 1)


def newton_direction(hessian: Array, gradient: Array, repair: str = "eigenvalues") -> Array:
    r"""Return :math:`-H^{-1}g` for the Hessian or its positive definite stand-in."""
    dense = as_numpy(hessian)
    if not np.isfinite(dense).all():
        raise NoStep("the Hessian is not finite here")
    solve, _ = modified_solver(dense, repair)
    direction = -solve(as_numpy(gradient))
    return like(direction, gradient)


SMALLEST = 1e-8
"""Eigenvalues below this share of the largest are raised to it."""

Solver: TypeAlias = Callable[[Array], Array]


def modified_solver(A: Array, repair: str = "eigenvalues") -> tuple[Solver, bool]:
    r"""Return the solver of a system with :math:`A`, or with a near matrix that is positive definite.

    The second value tells whether Cholesky's factorization failed and the matrix had to be repaired: by

    - ``eigenvalues``: :math:`A = V\Lambda V'` becomes :math:`V|\Lambda|V'`, or
    - ``bunch-kaufman``: :math:`PAP' = LDL'`, with blocks of 1 x 1 and 2 x 2 in :math:`D`, becomes
      :math:`L|D|L'`, the modified Cholesky factor of Cheng and Higham (1998): an order of magnitude cheaper, but the
      matrix may be further from :math:`A`.

    Sizes below a small share of the largest are raised to it.

    Examples
    --------
    >>> solve, repaired = modified_solver(np.diag([2.0, -4.0]))
    >>> solve(np.array([2.0, 4.0])), repaired
    (array([1., 1.]), True)
    """
    A = np.asarray(A, dtype=np.float64)
    diagonal = np.diag(A)
    if not (diagonal > 0).all():
        return REPAIRS[repair](A), True
    scale = 1 / np.sqrt(diagonal)  # a unit diagonal: variables in different units must not look singular
    try:
        factor = cho_factor(scale[:, None] * A * scale, lower=True)
    except np.linalg.LinAlgError:
        return REPAIRS[repair](A), True
    if np.diag(factor[0]).min() ** 2 <= 4 * len(A) * np.finfo(float).eps:  # positive definite in name only
        return REPAIRS[repair](A), True
    return lambda b: scale * cho_solve(factor, scale * b), False


def _by_eigenvalues(A: Array) -> Solver:
    values, V = eigh(A)
    sizes = _raised(values)
    return lambda b: V @ ((V.T @ b) / sizes)


def _raised(values: Array) -> Array:
    sizes = np.abs(values)
    return np.maximum(sizes, max(SMALLEST * float(sizes.max(initial=0.0)), 1e-300))


def _by_blocks(A: Array) -> Solver:
    lower, middle, order = ldl(A)
    lower = lower[order]
    sizes, vectors = _block_eigenvalues(middle)
    sizes = _raised(sizes)

    def solve(b: Array) -> Array:
        half = vectors.T @ solve_triangular(lower, b[order], lower=True, unit_diagonal=True)
        solution = np.empty_like(half)
        solution[order] = solve_triangular(lower, vectors @ (half / sizes), lower=True, unit_diagonal=True, trans="T")
        return solution

    return solve


def _block_eigenvalues(middle: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of a matrix of 1 x 1 and 2 x 2 blocks, block by block."""
    n = len(middle)
    sizes, vectors = np.diag(middle).astype(float), np.eye(n)
    j = 0
    while j < n - 1:
        if middle[j + 1, j] != 0.0:
            block = slice(j, j + 2)
            sizes[block], vectors[block, block] = eigh(middle[block, block])
            j += 1
        j += 1
    return sizes, vectors


REPAIRS: dict[str, Callable[[Array], Solver]] = {"eigenvalues": _by_eigenvalues, "bunch-kaufman": _by_blocks}
