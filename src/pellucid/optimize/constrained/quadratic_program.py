"""Quadratic and linear programs, from matrices to problems and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, Constraint, LinearConstraint, bounds
from pellucid.optimize.problem import quadratic


def quadratic_program(
    P: Data | None = None,
    q: Data | None = None,
    *,
    A: Data | None = None,
    b: Data | None = None,
    G: Data | None = None,
    h: Data | None = None,
    low: Data | None = None,
    high: Data | None = None,
) -> ConstrainedProblem:
    r"""Return :math:`\min \frac12 x'Px + q'x` subject to :math:`Ax = b,\ Gx \le h,\ l \le x \le u`.

    Parameters
    ----------
    P : array of shape (n, n), default=None
        Symmetric; None for a linear program.
    q : array of shape (n,), default=None
        None for 0.
    A, b, G, h, low, high : arrays, default=None
        The constraints; the multipliers of ``G`` come first, then those of the finite lower and upper bounds.

    Examples
    --------
    >>> program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
    >>> program.c(np.array([1.0, 1.0])), program.is_convex
    (array([-1.]), True)
    """
    if P is None and q is None:
        raise ValueError("P or q must be given, got neither. For a linear program pass q.")
    n = np.asarray(q if P is None else P).shape[0]
    objective = quadratic(
        np.zeros((n, n)) if P is None else np.array(P, dtype=np.float64),
        None if q is None else -np.array(q, dtype=np.float64),
    )
    equalities = () if A is None else (LinearConstraint(A, b),)  # type: ignore[arg-type]  # it refuses None
    inequalities: tuple[Constraint, ...] = () if G is None else (LinearConstraint(G, h),)  # type: ignore[arg-type]  # so too
    if low is not None or high is not None:
        box = [np.broadcast_to(side, n) for side in (-np.inf if low is None else low, np.inf if high is None else high)]
        inequalities += (bounds(*box),)
    return ConstrainedProblem(objective, equalities, inequalities)


@dataclass(frozen=True, eq=False)
class QuadraticData:
    """The matrices of a quadratic program."""

    P: Array
    q: Array
    constant: float
    A: Array
    b: Array
    G: Array
    h: Array


def quadratic_data(problem: ConstrainedProblem, n: int) -> QuadraticData | None:
    """Return the matrices of a problem of ``n`` variables, or None if it is no quadratic program."""
    objective = problem.objective
    if not (objective.is_quadratic and objective.hessian is not None and problem.is_linear):
        return None
    zero = np.zeros(n)
    return QuadraticData(
        P=np.asarray(objective.hessian(zero), dtype=np.float64),
        q=problem.gradient(zero),
        constant=problem.value(zero),
        A=problem.a_jacobian(zero),
        b=-problem.a(zero),
        G=problem.c_jacobian(zero),
        h=-problem.c(zero),
    )
