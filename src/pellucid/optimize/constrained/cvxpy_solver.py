"""Convex problems solved by CVXPY (extra ``convex``), and certified by us."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.core.checks import check_positive
from pellucid.core.fit import Solution
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, ConstrainedSolution
from pellucid.optimize.constrained.kkt_certificate import kkt_certificate
from pellucid.optimize.constrained.quadratic_program import QuadraticData, quadratic_data
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.optimize.conic import ConicProgram, conic_certificate

SOLVER = "CLARABEL"
"""The solver of CVXPY that takes every kind of cone, and gives its multipliers back."""


def solve_cvxpy(problem: Any, *, tol: float = 1e-6) -> Solution[Any]:
    """Solve a convex problem with CVXPY; the certificate is ours.

    Parameters
    ----------
    problem : ConstrainedProblem or cvxpy.Problem
        A convex quadratic program of ours, or any problem that CVXPY accepts as convex (no integers).
    tol : float, default=1e-6
        Bound on the residuals that the certificate claims.

    Returns
    -------
    ConstrainedSolution or Solution
        For a problem of ours, with ``x``, ``lam`` and ``nu``. For one of CVXPY, ``x`` maps the names of its variables
        to their values, and its own objects are filled in as by ``problem.solve()``.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> solution = solve_cvxpy(quadratic_program(2 * np.eye(2), G=[[-1, -1]], h=[-1]))
    >>> solution.x.round(6), solution.lam.round(6), solution.certificate.holds
    (array([0.5, 0.5]), array([1.]), True)
    """
    check_positive(tol=tol)
    cp = _cvxpy()
    if isinstance(problem, ConstrainedProblem):
        solution: Solution[Any] = _solve_ours(cp, problem, tol)
    elif isinstance(problem, cp.Problem):
        solution = _solve_theirs(problem, tol)
    else:
        raise TypeError(
            f"problem must be a ConstrainedProblem or a cvxpy.Problem, got {type(problem).__name__}. "
            "For matrices use quadratic_program."
        )
    warn_unless_holds(solution.certificate, "solve_cvxpy")
    return solution


def _cvxpy() -> Any:
    try:
        import cvxpy
    except ImportError:
        raise ImportError(
            "solve_cvxpy needs cvxpy, which is not installed. Install it: pip install 'pellucid[convex]'."
        ) from None
    return cvxpy


def _solve_ours(cp: Any, problem: ConstrainedProblem, tol: float) -> ConstrainedSolution:
    data = _require_convex_program(problem)
    x = cp.Variable(len(data.q), name="x")
    objective = data.q @ x + data.constant
    if data.P.any():
        objective = objective + 0.5 * cp.quad_form(x, cp.psd_wrap(data.P))
    equality = [data.A @ x == data.b] if len(data.b) else []
    inequality = [data.G @ x <= data.h] if len(data.h) else []
    program = cp.Problem(cp.Minimize(objective), equality + inequality)
    raw = _run(program)
    if program.status not in ("optimal", "optimal_inaccurate"):
        missing = [np.full(count, np.nan) for count in (len(data.q), len(data.h), len(data.b))]
        certificate = _nothing(program.status, tol)
        return ConstrainedSolution(
            missing[0], raw.iterations, certificate, lam=missing[1], nu=missing[2], status=program.status
        )
    lam, nu = (_dual(constraints) for constraints in (inequality, equality))
    certificate = kkt_certificate(problem, x.value, lam, nu, tol=tol)
    certificate = replace(certificate, reason=_stopped(raw.iterations, program.status))
    trace = Trace()
    trace.add(iteration=raw.iterations, objective=float(program.value))
    return ConstrainedSolution(x.value, raw.iterations, certificate, trace, lam=lam, nu=nu, status=program.status)


def _solve_theirs(program: Any, tol: float) -> Solution[dict[str, Array]]:
    if program.is_mixed_integer() or not program.is_dcp():
        raise ValueError("problem must be convex by CVXPY's rules and without integers, got one that is not.")
    raw, data = _run(program), program.get_problem_data(SOLVER, solver_opts={})[0]
    trace = Trace()
    if program.status in ("optimal", "optimal_inaccurate"):
        x, s, z = (np.asarray(part, dtype=np.float64) for part in (raw.x, raw.s, raw.z))
        certificate = conic_certificate(_conic_program(data), x, s, z, tol=tol)
        certificate = replace(certificate, reason=_stopped(raw.iterations, program.status))
        trace.add(iteration=raw.iterations, objective=float(program.value))
    else:
        certificate = _nothing(program.status, tol)
    answer = {variable.name(): variable.value for variable in program.variables()}
    return Solution(answer, raw.iterations, certificate, trace)


def _run(program: Any) -> Any:
    """Solve, fill in the variables and multipliers of the program, and return what the solver itself said."""
    data, chain, inverse = program.get_problem_data(SOLVER, solver_opts={})
    raw = chain.solve_via_data(program, data)
    program.unpack_results(raw, chain, inverse)
    return raw


def _conic_program(data: dict[str, Any]) -> ConicProgram:
    dims, n = data["dims"], len(data["c"])
    if dims.p3d or getattr(dims, "pnd", None):
        raise ValueError("problem must not need power cones, got one that does. Use exponentials and logarithms.")
    return ConicProgram(
        P=data.get("P", np.zeros((n, n))),
        q=data["c"],
        A=data["A"],
        b=data["b"],
        zero=dims.zero,
        nonnegative=dims.nonneg,
        second_order=tuple(dims.soc),
        semidefinite=tuple(dims.psd),
        exponential=dims.exp,
    )


def _require_convex_program(problem: ConstrainedProblem) -> QuadraticData:
    n = problem.n_variables
    data = None if n is None else quadratic_data(problem, n)
    if data is None:
        raise ValueError(
            "problem must be a quadratic program with a linear constraint, got another. Use solve_scipy, or write it "
            "with cvxpy and pass the cvxpy.Problem."
        )
    if not problem.is_convex:
        raise ValueError("problem must be convex, got a P that is not positive semidefinite. Use solve_scipy.")
    return data


def _dual(constraints: list[Any]) -> Array:
    return np.atleast_1d(np.asarray(constraints[0].dual_value, dtype=np.float64)) if constraints else np.zeros(0)


def _nothing(status: str, tol: float) -> Certificate:
    """Return the certificate of a problem without an answer."""
    meaning = {
        "infeasible": "no point satisfies all constraints; slater_point proves it if they are linear",
        "unbounded": "the objective falls without end on the feasible points",
    }.get(status.removesuffix("_inaccurate"), "the solver gave up")
    claim = Claim("primal feasibility", "there is no answer", float("nan"), tol, f"The problem is {status}: {meaning}.")
    return Certificate("none", (claim,), reason=f"{SOLVER} says {status}: {meaning}.")


def _stopped(n_iter: int, status: str) -> str:
    return f"{SOLVER} stopped after {n_iter} iterations: {status}."
