r"""Certificates for cone programs: :math:`\min \frac12 x'Px + q'x` subject to :math:`Ax + s = b,\ s \in K`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim


@dataclass(frozen=True, eq=False)
class ConicProgram:
    """The matrices of a cone program, and the sizes of its cones in the order of the rows.

    The cones are the zero cone, the nonnegative numbers, second-order cones, positive semidefinite matrices and
    exponential cones; any of them may be absent.
    """

    P: Any
    """Symmetric matrix of the quadratic part, of shape (n, n), dense or sparse; zeros if the objective is linear."""
    q: Array
    """Linear part of the objective, of shape (n,)."""
    A: Any
    """Matrix of the constraints, of shape (m, n), dense or sparse, with the rows of one cone after the other."""
    b: Array
    """Right side of the constraints, of shape (m,)."""
    zero: int = 0
    """Number of rows whose slack is 0: equalities."""
    nonnegative: int = 0
    """Number of rows whose slack is at least 0: inequalities."""
    second_order: tuple[int, ...] = ()
    """Rows of each second-order cone: the first entry is at least the length of the others."""
    semidefinite: tuple[int, ...] = ()
    """Order k of each matrix; it takes k (k + 1) / 2 rows, its upper triangle by columns, entries off the diagonal
    times the root of 2."""
    exponential: int = 0
    """Number of exponential cones, of three rows each."""


def conic_certificate(program: ConicProgram, x: Array, s: Array, z: Array, *, tol: float = 1e-6) -> Certificate:
    r"""Return the KKT residuals of a cone program at any candidate, and its duality gap.

    .. math:: Ax + s = b,\ s \in K;\qquad Px + q + A'z = 0,\ z \in K^*;\qquad x'Px + q'x + b'z = 0

    The last number is the primal less the dual objective. Residuals are relative to the largest of their terms.

    Parameters
    ----------
    program : ConicProgram
        The matrices and the cones.
    x : array of shape (n,)
        The candidate.
    s : array of shape (m,)
        Its slack, :math:`b - Ax` at a solution.
    z : array of shape (m,)
        Its multipliers, one for each row.
    tol : float, default=1e-6
        Bound of every residual, the gap among them.

    Examples
    --------
    >>> program = ConicProgram(np.zeros((1, 1)), np.ones(1), -np.eye(1), np.array([-2.0]), nonnegative=1)  # x >= 2
    >>> conic_certificate(program, x=np.array([2.0]), s=np.zeros(1), z=np.ones(1)).holds
    True
    """
    P, q, A, b = program.P, program.q, program.A, program.b
    Px, Ax, Az = P @ x, A @ x, A.T @ z
    quadratic, linear, offset = float(x @ Px), float(q @ x), float(b @ z)
    outside_primal, outside_dual = _outside(program, s, dual=False), _outside(program, z, dual=True)
    residuals = (
        ("primal residual", "size of Ax + s - b: 0 at a solution", _relative(Ax + s - b, Ax, s, b)),
        ("primal cone", "how far s is outside its cone", outside_primal / max(1.0, largest(s))),
        ("dual residual", "size of Px + q + A'z: 0 at a solution", _relative(Px + q + Az, Px, q, Az)),
        ("dual cone", "how far the multipliers are outside the dual cone", outside_dual / max(1.0, largest(z))),
        (
            "duality gap",
            "primal less dual objective, relative to them",
            abs(quadratic + linear + offset) / max(1.0, abs(quadratic / 2 + linear), abs(quadratic / 2 + offset)),
        ),
    )
    remedy = "Ask the solver for a smaller tolerance, or rescale the problem."
    return Certificate("optimal", tuple(Claim(name, says, value, tol, remedy) for name, says, value in residuals))


def _outside(program: ConicProgram, v: Array, *, dual: bool) -> float:
    """Return how far a vector is outside the cone, or outside its dual."""
    at, worst = program.zero, 0.0
    if not dual:
        worst = largest(v[:at])  # the dual of the zero cone is everything
    worst = max(worst, largest(np.minimum(v[at : at + program.nonnegative], 0.0)))
    at += program.nonnegative
    for size in program.second_order:
        worst = max(worst, float(np.linalg.norm(v[at + 1 : at + size])) - float(v[at]))
        at += size
    for order in program.semidefinite:
        count = order * (order + 1) // 2
        worst = max(worst, -float(np.linalg.eigvalsh(_matrix(v[at : at + count], order))[0]))
        at += count
    for _ in range(program.exponential):
        worst = max(worst, (_outside_dual_exponential if dual else _outside_exponential)(*v[at : at + 3]))
        at += 3
    return worst


def _matrix(triangle: Array, order: int) -> Array:
    """Return the symmetric matrix of an upper triangle that is listed by columns, with off-diagonal entries scaled."""
    M = np.zeros((order, order))
    columns, rows = np.tril_indices(order)
    M[rows, columns] = M[columns, rows] = np.where(rows == columns, triangle, triangle / math.sqrt(2))
    return M


def _outside_exponential(x: float, y: float, z: float) -> float:
    r"""Return how far :math:`y e^{x/y} \le z,\ y > 0` is violated; on the boundary, :math:`y = 0,\ x \le 0 \le z`."""
    if y <= 0:
        return float(max(-y, x, -z, 0.0))
    return float(max(y * math.exp(min(x / y, 700.0)) - z, 0.0))


def _outside_dual_exponential(u: float, v: float, w: float) -> float:
    r"""Return how far :math:`-u e^{v/u} \le e\,w,\ u < 0` is violated; on the boundary, :math:`u = 0,\ v, w \ge 0`."""
    if u >= 0:
        return float(max(u, -v, -w, 0.0))
    return float(max(-u * math.exp(min(v / u, 700.0)) / math.e - w, 0.0))


def _relative(residual: Array, *parts: Array) -> float:
    return largest(residual) / max(1.0, *(largest(part) for part in parts))
