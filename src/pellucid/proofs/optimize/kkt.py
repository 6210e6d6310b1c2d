r"""Certificates for candidates of constrained problems, whoever found them: the KKT conditions and the duality gap.

Of :math:`\min f(x)` subject to :math:`a(x) = 0,\ c(x) \le 0`, with the Lagrangian
:math:`L = f + \lambda'c + \nu'a`: its gradient is 0, constraints hold, :math:`\lambda \ge 0`, and
:math:`\lambda_ic_i = 0`. If the problem is convex, :math:`L(\cdot, \lambda, \nu)` lies below :math:`f` at every
feasible point and above :math:`L(x) - r\|\nabla L(x)\|` within the distance r of x; if it is strongly convex with
:math:`\mu`, above :math:`L(x) - \|\nabla L(x)\|^2 / (2\mu)` everywhere. So :math:`f(x)` is at most
:math:`-\lambda'c - \nu'a` plus that much above the minimum.
"""

# ruff: noqa: D102  (what a problem has is described by its class)

from __future__ import annotations

import math
from typing import Protocol

import numpy as np

from pellucid.proofs.arrays import Array, largest
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error

ROUNDING = sum_error(0)
"""Part of x below which no move of it can be known."""


class GivenConstraints(Protocol):
    """An objective with its gradient, equalities a and inequalities c with their Jacobians, of NumPy vectors."""

    def value(self, x: Array, /) -> float: ...
    def gradient(self, x: Array, /) -> Array: ...
    def a(self, x: Array, /) -> Array: ...
    def c(self, x: Array, /) -> Array: ...
    def a_jacobian(self, x: Array, /) -> Array: ...
    def c_jacobian(self, x: Array, /) -> Array: ...
    @property
    def is_convex(self) -> bool | None: ...
    @property
    def strong_convexity(self) -> float: ...


def prove_kkt(problem: GivenConstraints, x: Array, lam: Array, nu: Array, *, tol: float) -> Certificate:
    """Return the KKT residuals at a candidate; see :func:`pellucid.optimize.kkt_certificate`.

    The multipliers are a witness: whichever they are, residuals that are small with them prove the candidate.
    """
    with np.errstate(all="ignore"):  # a wild candidate may overflow; its claims then read inf or nan and fail
        if not _is_finite(problem, x):
            claim = Claim("stationarity", "size of the gradient of the Lagrangian: 0 at a solution", math.nan, tol)
            return Certificate("none", (claim,), reason="The candidate, or a function at it, is not finite.")
        claims = _claims(problem, x, lam, nu, tol)
    return Certificate("optimal" if problem.is_convex else "stationary", tuple(claims))


def _claims(problem: GivenConstraints, x: Array, lam: Array, nu: Array, tol: float) -> list[Claim]:
    gradient, a, c = problem.gradient(x), problem.a(x), problem.c(x)
    J_a, J_c = problem.a_jacobian(x), problem.c_jacobian(x)
    slope, pushed = gradient + J_c.T @ lam + J_a.T @ nu, np.maximum(-lam, 0.0)
    forces = (np.abs(gradient), np.abs(J_c.T) @ np.abs(lam), np.abs(J_a.T) @ np.abs(nu))
    force, reach = max(1.0, *map(largest, forces)), max(1.0, float(np.linalg.norm(x)))
    bound = tol * max(1.0, abs(problem.value(x)), force * reach)
    violations = np.concatenate([np.abs(a) / _pull(J_a), np.maximum(c, 0.0) / _pull(J_c)])
    claims = [
        Claim("stationarity", "size of the gradient of the Lagrangian, relative to its parts: 0 at a solution",
              largest(slope) / force, tol, "Continue from x with a smaller tolerance; if no multipliers fit, a "
              "constraint qualification may fail: see slater_point."),
        Claim("primal feasibility", "largest violation of a constraint, as a move of x: 0 at a solution",
              largest(violations), tol + ROUNDING * reach,
              "Continue from x with a smaller tolerance, or look for a feasible point with slater_point."),
        Claim("dual feasibility", "size of negative multipliers of inequalities: 0 at a solution",
              largest(pushed * _pull(J_c)) / force, tol,
              "A negative multiplier says that leaving its constraint lowers the objective."),
        Claim("complementarity", "largest product of a multiplier and the slack of its constraint: 0 at a solution",
              largest(lam * c), bound, "A multiplier must be 0 where its inequality is not active."),
    ]  # fmt: skip
    if problem.is_convex:
        steepness = float(np.linalg.norm(slope + J_c.T @ pushed))  # of the multipliers without negative ones
        slack = -float(np.maximum(lam, 0.0) @ c + nu @ a)
        claims.append(_gap_claim(slack, steepness, reach, bound, problem.strong_convexity))
    return claims


def _gap_claim(slack: float, steepness: float, reach: float, bound: float, mu: float) -> Claim:
    """Claim a gap to all feasible points, unless only that to the near ones can be claimed.

    A convex Lagrangian falls below its value at x by at most reach times its slope within the reach; anywhere only if
    it is strongly convex.
    """
    near = abs(slack + reach * steepness)
    everywhere = abs(slack + steepness**2 / (2 * mu)) if mu else math.inf
    only_near = near <= bound < everywhere or everywhere == math.inf
    scope = f"any feasible point within {reach:.3g} of x" if only_near else "the feasible minimum"
    return Claim("duality gap", f"the objective is at most this far above {scope}", near if only_near else everywhere,
                 bound, "Continue from x with a smaller tolerance.")  # fmt: skip


def _pull(J: Array) -> Array:
    """Return how much each constraint changes over the distance 1; 1 for one that does not change."""
    sizes = np.abs(J).max(axis=1) if J.size else np.ones(len(J))
    return np.where(sizes > 0, sizes, 1.0)


def _is_finite(problem: GivenConstraints, x: Array) -> bool:
    if not np.isfinite(x).all():
        return False
    functions = (problem.gradient, problem.a, problem.c, problem.a_jacobian, problem.c_jacobian)
    return math.isfinite(problem.value(x)) and all(bool(np.isfinite(function(x)).all()) for function in functions)
