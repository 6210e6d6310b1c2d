"""Constrained problems solved by SciPy, and certified by us."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import BFGS, NonlinearConstraint, OptimizeResult, minimize

from pellucid.core.checks import check_one_of, check_positive, check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.optimize.constrained.constrained_problem import (
    ConstrainedProblem,
    ConstrainedSolution,
    Constraint,
    LinearConstraint,
    check_candidate,
)
from pellucid.optimize.constrained.kkt_certificate import ESTIMATED, estimate_multipliers, kkt_certificate

SLSQP_TIGHT = 1e-7
"""SLSQP stops at a small decrease of the objective, long before the residuals of its point are as small."""
STOPPED_BY_CALLBACK = 3
"""SciPy's status of trust-constr when the callback ends it."""


def solve_scipy(
    problem: ConstrainedProblem,
    x0: Data,
    method: str = "SLSQP",
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> ConstrainedSolution:
    """Solve a constrained problem with ``scipy.optimize.minimize``; the certificate is ours.

    The multipliers are estimated from ``x``, whatever the method, so that they owe nothing to it.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    x0 : array of shape (n,)
        The start; it need not be feasible.
    method : {"SLSQP", "trust-constr"}, default="SLSQP"
        The second one is slower and takes larger problems.
    tol : float, default=1e-6
        Bound on the residuals that the certificate claims; SciPy is asked for a hundredth of it.
    max_iter : int, default=1000
        Most iterations.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> solution = solve_scipy(quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1]), [3.0, 0.0])
    >>> solution.x.round(8), solution.lam.round(8), solution.certificate.holds
    (array([0.5, 0.5]), array([1.]), True)
    """
    check_one_of(tuple(_SOLVERS), method=method)
    check_positive(tol=tol)
    check_whole(max_iter=max_iter)
    x = check_candidate(problem, x0)
    if not np.isfinite(x).all():
        raise ValueError("x0 must be finite, got nan or inf in it. Start somewhere else.")
    trace = Trace()
    _record(trace, problem, x)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # SciPy's remarks on its own way; the certificate judges where it led
        result = _SOLVERS[method](problem, x, tol / 100, max_iter, trace)
    x, status = np.asarray(result.x, dtype=np.float64), str(result.message).rstrip(".")
    certificate = kkt_certificate(problem, x, tol=tol)
    lam, nu = _multipliers(problem, x, known=certificate.grade != "none")
    reason = f"{method} stopped after {int(result.nit)} iterations: {status}. {ESTIMATED}"
    certificate = replace(
        certificate, reason=f"{certificate.reason} {reason}" if certificate.grade == "none" else reason
    )
    warn_unless_holds(certificate, "solve_scipy")
    return ConstrainedSolution(x, int(result.nit), certificate, trace, lam=lam, nu=nu, status=status)


def _multipliers(problem: ConstrainedProblem, x: Array, *, known: bool) -> tuple[Array, Array]:
    """Return the multipliers that the certificate is about, or nan where it could say nothing."""
    with np.errstate(all="ignore"):
        if known:
            return estimate_multipliers(problem, x)
        return np.full(problem.c(x).size, np.nan), np.full(problem.a(x).size, np.nan)


def _slsqp(problem: ConstrainedProblem, x: Array, tol: float, max_iter: int, trace: Trace) -> OptimizeResult:
    constraints: list[dict[str, Any]] = []
    if problem.equalities:
        constraints.append({"type": "eq", "fun": problem.a, "jac": problem.a_jacobian})
    if problem.inequalities:  # SciPy wants functions that are at least 0
        inequality = {"fun": lambda z: -problem.c(z), "jac": lambda z: -problem.c_jacobian(z)}
        constraints.append({"type": "ineq", **inequality})
    return minimize(
        problem.value,
        x,
        jac=problem.gradient,
        method="SLSQP",
        constraints=constraints,
        callback=lambda z: _record(trace, problem, z),
        options={"ftol": SLSQP_TIGHT * tol, "maxiter": max_iter},
    )


def _trust_constr(problem: ConstrainedProblem, x: Array, tol: float, max_iter: int, trace: Trace) -> OptimizeResult:
    constraints = [
        NonlinearConstraint(part.value, low, 0.0, jac=part.jacobian, hess=_constraint_hessian(part))
        for parts, low in ((problem.equalities, 0.0), (problem.inequalities, -np.inf))
        for part in parts
    ]
    hessian = problem.objective.hessian

    def is_done(z: Array, state: OptimizeResult) -> bool:
        """Stop where SciPy's own residuals are small; its rule would forget the barrier that keeps z inside."""
        _record(trace, problem, z)
        return max(state.optimality, state.constr_violation, state.get("barrier_parameter", 0.0)) <= tol

    result = minimize(
        problem.value,
        x,
        jac=problem.gradient,
        hess=BFGS() if hessian is None else hessian,
        method="trust-constr",
        constraints=constraints,
        callback=is_done,
        options={"gtol": 0.0, "xtol": 1e-14, "barrier_tol": tol, "maxiter": max_iter},
    )
    if result.status == STOPPED_BY_CALLBACK:
        result.message = "its residuals are small"
    return result


def _constraint_hessian(part: Constraint) -> Any:
    return (lambda z, _: np.zeros((z.size, z.size))) if isinstance(part, LinearConstraint) else BFGS()


def _record(trace: Trace, problem: ConstrainedProblem, x: Array) -> None:
    violation = max(np.abs(problem.a(x)).max(initial=0.0), problem.c(x).max(initial=0.0))
    trace.add(iteration=len(trace), objective=problem.value(x), violation=float(violation))
    trace.keep(x=x)


_SOLVERS = {"SLSQP": _slsqp, "trust-constr": _trust_constr}
