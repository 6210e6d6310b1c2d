"""Slater's condition: a point that satisfies all inequalities strictly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog, minimize

from pellucid.core.types import Array, Data
from pellucid.optimize.constrained.constrained_problem import ConstrainedProblem, check_candidate

STRICT = 1e-9
"""A margin must be above this, relative to the size of its constraint, to be strict."""
FEASIBLE = 1e-8
"""Largest violation of an equality, relative to the size of its constraint."""


@dataclass(frozen=True, eq=False, repr=False)
class SlaterPoint:
    """The best point found: all inequalities hold there by at least ``margin``."""

    x: Array
    """The point, of shape (n,)."""
    margin: float
    """By how much the least satisfied inequality holds, in units of the largest entry of its gradient."""
    found: bool
    """Whether the margin is strict, above rounding, and the equalities hold."""
    best_possible: float = np.inf
    """No point has a larger margin; infinite where that is not proved."""
    multipliers: tuple[Array, Array] | None = None
    r"""Of linear constraints, if no point was found, what proves ``best_possible``: :math:`y \ge 0` and :math:`z` with
    :math:`G'y + A'z = 0` and :math:`\sum_i y_i \|G_i\|_\infty = 1`, so that no margin is above :math:`h'y + b'z`."""
    reason: str = ""
    """Why no point was found; empty if one was."""

    def __repr__(self) -> str:
        point = np.array2string(self.x, precision=6, threshold=6)
        if self.found:
            return f"SlaterPoint({point} is strictly feasible, with a margin of {self.margin:.3g})"
        return f"SlaterPoint(none found: {self.reason}; the best margin is {self.margin:.3g} at {point})"


def slater_point(problem: ConstrainedProblem, x0: Data | None = None) -> SlaterPoint:
    r"""Look for a point with :math:`a(x) = 0` and :math:`c(x) < 0`: with it, a convex problem has no duality gap.

    The smallest margin is made as large as it can be, up to 1: by a linear program if all constraints are linear, which
    also proves that there is none; else by a local search from ``x0``. Linear inequalities alone need no such point:
    there, a feasible one is enough.

    Parameters
    ----------
    problem : ConstrainedProblem
        The objective and its constraints.
    x0 : array of shape (n,), default=None
        Start of the search if a constraint is not linear; 0 if the number of variables is known.

    Examples
    --------
    >>> from pellucid.optimize.constrained.quadratic_program import quadratic_program
    >>> slater_point(quadratic_program(q=[1.0], G=[[1.0], [-1.0]], h=[3.0, -1.0]))  # 1 <= x <= 3
    SlaterPoint([2.] is strictly feasible, with a margin of 1)
    >>> slater_point(quadratic_program(q=[1.0], G=[[1.0], [-1.0]], h=[1.0, -1.0])).found  # x = 1
    False
    """
    n = problem.n_variables if x0 is None else check_candidate(problem, x0).size
    if n is None:
        raise ValueError("x0 must be given for a problem without linear constraints, got None. Any start will do.")
    start = np.zeros(n) if x0 is None else check_candidate(problem, x0)
    return _by_linear_program(problem, start) if problem.is_linear else _by_search(problem, start)


def _by_linear_program(problem: ConstrainedProblem, start: Array) -> SlaterPoint:
    """Maximize s subject to G x + s |G| <= h, A x = b, s <= 1."""
    n = start.size
    A, G = problem.a_jacobian(start), problem.c_jacobian(start)
    b, h = A @ start - problem.a(start), G @ start - problem.c(start)
    sizes = _sizes(G)
    result = linprog(
        np.r_[np.zeros(n), -1.0],
        A_ub=np.column_stack([G, sizes]) if len(G) else None,
        b_ub=h if len(G) else None,
        A_eq=np.column_stack([A, np.zeros(len(A))]) if len(A) else None,
        b_eq=b if len(A) else None,
        bounds=[(None, None)] * n + [(None, 1.0)],
    )
    if result.x is None:  # s may be as low as it likes, so only the equalities can contradict each other
        x = np.linalg.lstsq(A, b, rcond=None)[0]
        return SlaterPoint(x, -np.inf, False, -np.inf, reason="the equalities contradict each other")
    x = result.x[:n]
    multipliers = (
        -result.ineqlin.marginals if len(G) else np.zeros(0),
        -result.eqlin.marginals if len(A) else np.zeros(0),
    )
    margin = float(((h - G @ x) / sizes).min(initial=np.inf))
    found = margin > STRICT
    best = _best_margin(A, b, G, h, sizes, multipliers) if len(G) and not found else np.inf
    return SlaterPoint(x, margin, found, best, None if found else multipliers, "" if found else _why_none(margin, best))


def _best_margin(A: Array, b: Array, G: Array, h: Array, sizes: Array, multipliers: tuple[Array, Array]) -> float:
    """Return the bound on every margin that the multipliers prove, or inf if they prove nothing."""
    y, z = multipliers
    balance = float(np.abs(G.T @ y + A.T @ z).max()) / max(1.0, float(np.abs(G).max()))
    proves = y.min() >= -STRICT and balance <= STRICT and abs(float(sizes @ y) - 1) <= STRICT
    return float(h @ y + b @ z) if proves else np.inf


def _why_none(margin: float, best: float) -> str:
    if best == np.inf:
        return "the search ended without one"
    return "the constraints contradict each other" if margin < -STRICT else "proved: no point has a margin"


def _by_search(problem: ConstrainedProblem, start: Array) -> SlaterPoint:
    """Minimize s subject to c(x) - s |J_c| <= 0, a(x) = 0, s >= -1, from the start."""
    sizes = _sizes(problem.c_jacobian(start))
    worst = float((problem.c(start) / sizes).max(initial=-1.0))
    constraints = [{"type": "ineq", "fun": lambda v: v[-1] * sizes - problem.c(v[:-1])}]
    if problem.equalities:
        constraints.append({"type": "eq", "fun": lambda v: problem.a(v[:-1])})
    with np.errstate(all="ignore"):
        result = minimize(
            lambda v: v[-1],
            np.r_[start, worst],
            jac=lambda v: np.eye(v.size)[-1],
            method="SLSQP",
            bounds=[(None, None)] * start.size + [(-1.0, None)],
            constraints=constraints,
            options={"maxiter": 500, "ftol": 1e-12},
        )
    x = result.x[:-1]
    margin = float((-problem.c(x) / sizes).min(initial=np.inf))
    balanced = bool((np.abs(problem.a(x)) <= FEASIBLE * np.maximum(_sizes(problem.a_jacobian(x)), 1.0)).all())
    found = bool(margin > STRICT and balanced)
    reason = "" if found else "the search ended without one" if balanced else "the search met no equality"
    return SlaterPoint(x, margin, found, reason=reason)


def _sizes(J: Array) -> Array:
    sizes = np.abs(J).max(axis=1) if J.size else np.ones(len(J))
    return np.where(sizes > 0, sizes, 1.0)
