"""Small constrained problems in exact arithmetic: the equations of every choice of active constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sympy import Expr, Matrix, S, Symbol, diff, hessian

from pellucid.optimize.checks.convexity_workings import find_counterexample
from pellucid.optimize.checks.real_algebra import principal_minors, read_real, real_solutions, sign_of, tidied

MOST_VARIABLES = 3
MOST_INEQUALITIES = 4
KKT_POINT = "KKT point"
"""The verdict on a candidate that satisfies all conditions."""


@dataclass(frozen=True)
class KKTProblem:
    """A small constrained problem in exact arithmetic."""

    f: Expr
    c: list[Expr]
    a: list[Expr]
    x: list[Symbol]

    @property
    def lam(self) -> list[Symbol]:
        """The multipliers of the inequalities."""
        return numbered("lambda", len(self.c))

    @property
    def nu(self) -> list[Symbol]:
        """The multipliers of the equalities."""
        return numbered("nu", len(self.a))

    @property
    def lagrangian(self) -> Expr:
        """The objective plus multipliers times constraints."""
        pairs = [*zip(self.lam, self.c, strict=True), *zip(self.nu, self.a, strict=True)]
        return self.f + sum(multiplier * part for multiplier, part in pairs)


@dataclass(frozen=True)
class Candidate:
    """A solution of the equations of one case, and what its signs say."""

    active: tuple[int, ...]
    x: tuple[Expr, ...]
    lam: tuple[Expr, ...]
    nu: tuple[Expr, ...]
    value: Expr
    verdict: str


def read_problem(
    objective: Any, inequalities: Sequence[Any], equalities: Sequence[Any], names: Sequence[str] | None
) -> KKTProblem:
    """Return the problem, or refuse it if it is too large to be worked by hand."""
    for name, given in (("inequalities", inequalities), ("equalities", equalities)):
        if isinstance(given, str):
            raise TypeError(f"{name} must be a sequence of formulas, got the text {given!r}. Put it in a list.")
    read, variables = read_real([objective, *inequalities, *equalities], names)
    if len(variables) > MOST_VARIABLES or len(inequalities) > MOST_INEQUALITIES:
        raise ValueError(
            f"problem must have at most {MOST_VARIABLES} variables and {MOST_INEQUALITIES} inequalities to be worked "
            f"by hand, got {len(variables)} and {len(inequalities)}. Use solve_scipy."
        )
    split = 1 + len(inequalities)
    return KKTProblem(read[0], read[1:split], read[split:], variables)


def choices(problem: KKTProblem) -> list[tuple[int, ...]]:
    """Return all sets of active inequalities."""
    count = len(problem.c)
    return [active for size in range(count + 1) for active in combinations(range(count), size)]


def solve_case(problem: KKTProblem, active: tuple[int, ...]) -> list[Candidate]:
    """Return the solutions if these inequalities hold with equality and all other multipliers are 0."""
    idle = {lam: S.Zero for i, lam in enumerate(problem.lam) if i not in active}
    stationarity = [diff(problem.lagrangian, x).subs(idle) for x in problem.x]
    equations = [*stationarity, *(problem.c[i] for i in active), *problem.a]
    unknowns = [*problem.x, *(problem.lam[i] for i in active), *problem.nu]
    found = []
    for solution in real_solutions(equations, unknowns):
        full = {**idle, **solution}
        x = tuple(solution[v] for v in problem.x)
        lam, nu = tuple(full[v] for v in problem.lam), tuple(full[v] for v in problem.nu)
        value = tidied(problem.f.subs(dict(zip(problem.x, x, strict=True))))
        found.append(Candidate(active, x, lam, nu, value, _verdict(problem, x, lam)))
    return found


def _verdict(problem: KKTProblem, x: tuple[Expr, ...], lam: tuple[Expr, ...]) -> str:
    if any(value.free_symbols for value in (*x, *lam)):
        return "not a single point"
    at = dict(zip(problem.x, x, strict=True))
    for i, part in enumerate(problem.c):
        if sign_of(tidied(part.subs(at))) > 0:
            return f"violates {i + 1}"
    for i, multiplier in enumerate(lam):
        if sign_of(multiplier) < 0:
            return f"multiplier {i + 1} negative"
    return KKT_POINT


def is_convex_problem(problem: KKTProblem) -> bool:
    """Return whether objective and inequalities are certainly convex and the equalities linear."""
    linear = all(hessian(part, problem.x).is_zero_matrix for part in problem.a)
    return linear and all(_is_convex_function(part, problem.x) for part in (problem.f, *problem.c))


def _is_convex_function(part: Expr, x: list[Symbol]) -> bool:
    H: Matrix = hessian(part, x)
    known = all(
        sign_of(minor) >= 0 if minor.is_number else minor.is_nonnegative is True for minor in principal_minors(H)
    )
    return known and find_counterexample(part, x, H) is None


def numbered(letter: str, count: int) -> list[Symbol]:
    """Return so many symbols with indices from 1, or the plain letter if there is one."""
    return [Symbol(letter if count == 1 else f"{letter}_{i + 1}", real=True) for i in range(count)]
