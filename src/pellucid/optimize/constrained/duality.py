"""The dual function, and the gap between a primal and a dual point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lstsq

from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, check_candidate, check_multipliers
from pellucid.optimize.constrained.quadratic_program import QuadraticData, quadratic_data
from pellucid.optimize.minimize import descend
from pellucid.optimize.problem import Problem
from pellucid.optimize.stopping import Stopping

NEGLIGIBLE = 1e-9
"""Slopes along flat directions, and curvatures, below this part of the largest count as 0."""
BOTTOMLESS = -1e30
"""A Lagrangian that falls below this is taken to have no minimum."""


@dataclass(frozen=True, eq=False)
class DualValue:
    r"""The dual function :math:`d(\lambda, \nu) = \min_x L(x, \lambda, \nu)` at one point."""

    value: float
    """A numerical minimum, or a number below that is proved not to be above :math:`d`; -inf if there is no minimum."""
    is_lower_bound: bool
    """Whether the value is certainly no larger than the objective at any feasible point."""
    x: Array | None
    """Where the minimum is, of shape (n,); None if there is none."""
    how: str
    """How the value was found, in words."""


def dual_function(problem: ConstrainedProblem, lam: Data = (), nu: Data = (), *, x0: Data | None = None) -> DualValue:
    r"""Return the minimum of the Lagrangian over :math:`x`: a lower bound on the objective at all feasible points.

    For quadratic programs in closed form. Otherwise the Lagrangian is minimized from ``x0``; the number is a proved
    bound if :math:`f` is :math:`\mu`-strongly convex and the problem convex, because then
    :math:`L(\hat x) - \|\nabla L(\hat x)\|^2/2\mu` is below every value of :math:`L`.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    lam : array of shape (m,), default=()
        Multipliers of the inequalities, at least 0.
    nu : array of shape (p,), default=()
        Multipliers of the equalities.
    x0 : array of shape (n,), default=None
        Start, for problems that are no quadratic program.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])  # x^2 + y^2 with x + y >= 1
    >>> [dual_function(program, lam=[v]).value for v in (0.0, 1.0, 2.0)]  # lam - lam^2 / 2
    [0.0, 0.5, 0.0]
    """
    n = problem.n_variables if x0 is None else check_candidate(problem, x0).size
    if n is None:
        raise ValueError("x0 must be given for a problem without linear constraints, got None. Any start will do.")
    start = np.zeros(n) if x0 is None else check_candidate(problem, x0)
    lam = check_multipliers("lam", lam, problem.c(start).size)
    nu = check_multipliers("nu", nu, problem.a(start).size)
    if not (np.isfinite(lam).all() and np.isfinite(nu).all()):
        raise ValueError("lam and nu must be finite, got nan or inf in them.")
    if (lam < 0).any():
        raise ValueError(f"lam must be at least 0, got {lam.min()}. Only then is the dual function a lower bound.")
    data = quadratic_data(problem, n)
    return _minimized(problem, lam, nu, start) if data is None else _closed_form(data, lam, nu)


def duality_gap(problem: ConstrainedProblem, x: Data, lam: Data = (), nu: Data = ()) -> float:
    r"""Return :math:`f(x) - d(\lambda, \nu)`: for a feasible ``x`` at least 0, and a bound on its distance to optimal.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    x : array of shape (n,)
        The candidate; only for a feasible one the gap bounds anything.
    lam : array of shape (m,), default=()
        Multipliers :math:`\lambda` of the inequalities, at least 0.
    nu : array of shape (p,), default=()
        Multipliers :math:`\nu` of the equalities.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> program = quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1])
    >>> duality_gap(program, [0.5, 0.5], lam=[1.0]), duality_gap(program, [1.0, 0.0], lam=[0.0])
    (0.0, 1.0)
    """
    x = check_candidate(problem, x)
    return problem.value(x) - dual_function(problem, lam, nu, x0=x).value


def _closed_form(data: QuadraticData, lam: Array, nu: Array) -> DualValue:
    """Minimize the quadratic Lagrangian: -inf if it bends down, or slopes where it does not bend."""
    parts = (data.q, data.G.T @ lam, data.A.T @ nu)
    slope = sum(parts)
    eigenvalues, vectors = np.linalg.eigh(data.P)
    largest = float(np.abs(eigenvalues).max())
    if eigenvalues[0] < -NEGLIGIBLE * largest:
        return DualValue(-math.inf, True, None, "the Lagrangian has a direction of negative curvature")
    flat = vectors[:, eigenvalues <= NEGLIGIBLE * largest]
    size = max(float(np.abs(part).max(initial=0.0)) for part in parts)
    if flat.size and float(np.abs(flat.T @ slope).max()) > NEGLIGIBLE * size:
        return DualValue(-math.inf, True, None, "the Lagrangian slopes in a direction without curvature")
    x = -lstsq(data.P, slope)[0] if largest else np.zeros(len(data.q))
    value = 0.5 * float(slope @ x) + data.constant - float(lam @ data.h) - float(nu @ data.b)
    return DualValue(value, True, x, "closed form of a quadratic program, up to rounding")


def _minimized(problem: ConstrainedProblem, lam: Array, nu: Array, start: Array) -> DualValue:
    inner = Lagrangian(problem).in_x(lam, nu)
    solution = descend(inner, start, stopping=Stopping(gradient=1e-9))
    value, x = float(inner.value(solution.x)), solution.x
    if value < BOTTOMLESS:
        return DualValue(-math.inf, True, None, "the Lagrangian falls without end")
    slope = float(np.linalg.norm(Lagrangian(problem).gradient(x, lam, nu)))
    if inner.strong_convexity:
        below = value - slope**2 / (2 * inner.strong_convexity)
        return DualValue(below, True, x, "minimized, less what strong convexity allows below")
    reason = (
        "of a convex Lagrangian" if inner.strong_convexity is not None else "of a Lagrangian not known to be convex"
    )
    return DualValue(value, False, x, f"a numerical minimum {reason}, with a gradient of {slope:.2g}: no proof")


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""The function :math:`L(x, \lambda, \nu) = f(x) + \lambda'c(x) + \nu'a(x)`.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> L = Lagrangian(quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1]))  # x^2 + y^2 with x + y >= 1
    >>> x, lam, nu = np.array([1.0, 1.0]), np.array([1.0]), np.zeros(0)
    >>> L.value(x, lam, nu), L.gradient(x, lam, nu)
    (1.0, array([1., 1.]))
    """

    problem: ConstrainedProblem
    """The objective :math:`f` and its constraints :math:`c` and :math:`a`."""

    def value(self, x: Array, lam: Array, nu: Array) -> float:
        """Return the value."""
        return self.problem.value(x) + float(lam @ self.problem.c(x)) + float(nu @ self.problem.a(x))

    def gradient(self, x: Array, lam: Array, nu: Array) -> Array:
        """Return the gradient with respect to ``x``."""
        return self.problem.gradient(x) + self.problem.c_jacobian(x).T @ lam + self.problem.a_jacobian(x).T @ nu

    def in_x(self, lam: Array, nu: Array) -> Problem:
        """Return the problem of minimizing over ``x`` alone; it is convex if the constrained problem is."""
        convex = self.problem.is_convex and bool(np.all(lam >= 0))
        return Problem(
            lambda x: self.value(x, lam, nu),
            lambda x: self.gradient(x, lam, nu),
            strong_convexity=self.problem.strong_convexity if convex else None,
        )
