"""Certificates for candidates of constrained problems, whoever found them: the KKT conditions and the duality gap."""

# ruff: noqa: D102  (what a problem has is described by its class)

from __future__ import annotations

import math
from dataclasses import dataclass
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
        here = _residuals(problem, x, lam, nu)
    claims = _claims(here, tol)
    if problem.is_convex:
        claims = (*claims, _gap_claim(here, tol, problem.strong_convexity))
    return Certificate("optimal" if problem.is_convex else "stationary", claims)


@dataclass(frozen=True)
class _Residuals:
    """The KKT residuals of a candidate; ``slope`` and ``slack`` are those of the multipliers without negative ones."""

    stationarity: float
    primal: float
    dual: float
    complementarity: float
    slope: float
    reach: float
    variation: float
    slack: float

    def below(self, mu: float) -> tuple[float, float]:
        """Return how far below its value at x a convex Lagrangian can fall: within the reach, and anywhere."""
        return self.reach * self.slope, self.slope**2 / (2 * mu) if mu else math.inf


def _residuals(problem: GivenConstraints, x: Array, lam: Array, nu: Array) -> _Residuals:
    gradient, a, c = problem.gradient(x), problem.a(x), problem.c(x)
    J_a, J_c = problem.a_jacobian(x), problem.c_jacobian(x)
    slope = gradient + J_c.T @ lam + J_a.T @ nu
    forces = (np.abs(gradient), np.abs(J_c.T) @ np.abs(lam), np.abs(J_a.T) @ np.abs(nu))
    force = max(1.0, *(largest(part) for part in forces))
    reach = max(1.0, float(np.linalg.norm(x)))
    violations = np.concatenate([np.abs(a) / _pull(J_a), np.maximum(c, 0.0) / _pull(J_c)])
    pushed = np.maximum(-lam, 0.0) * _pull(J_c)
    return _Residuals(
        stationarity=largest(slope) / force,
        primal=largest(violations),
        dual=largest(pushed) / force,
        complementarity=largest(lam * c),
        slope=float(np.linalg.norm(slope + J_c.T @ np.maximum(-lam, 0.0))),
        reach=reach,
        variation=max(1.0, abs(problem.value(x)), force * reach),
        slack=-float(np.maximum(lam, 0.0) @ c + nu @ a),
    )


def _claims(here: _Residuals, tol: float) -> tuple[Claim, ...]:
    return (
        Claim(
            "stationarity",
            "size of the gradient of the Lagrangian, relative to its parts: 0 at a solution",
            here.stationarity,
            tol,
            "Continue from x with a smaller tolerance; if no multipliers fit, a constraint qualification may fail: "
            "see slater_point.",
        ),
        Claim("primal feasibility", "largest violation of a constraint, as a move of x: 0 at a solution", here.primal,
              tol + ROUNDING * here.reach,
              "Continue from x with a smaller tolerance, or look for a feasible point with slater_point."),
        Claim("dual feasibility", "size of negative multipliers of inequalities: 0 at a solution", here.dual, tol,
              "A negative multiplier says that leaving its constraint lowers the objective."),
        Claim("complementarity", "largest product of a multiplier and the slack of its constraint: 0 at a solution",
              here.complementarity, tol * here.variation,
              "A multiplier must be 0 where its inequality is not active."),
    )  # fmt: skip


def _gap_claim(here: _Residuals, tol: float, mu: float) -> Claim:
    """Claim a gap to all feasible points, unless only that to the near ones can be claimed."""
    near, everywhere = (abs(here.slack + below) for below in here.below(mu))
    bound = tol * here.variation
    only_near = near <= bound < everywhere or everywhere == math.inf
    scope = f"any feasible point within {here.reach:.3g} of x" if only_near else "the feasible minimum"
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
