"""The KKT conditions by hand: every choice of active constraints, solved exactly, checked, and the best one kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from sympy import Expr, Matrix, S, Symbol, diff, expand, hessian

from pellucid.optimize.checks.convexity_workings import find_counterexample
from pellucid.optimize.checks.real_algebra import (
    digits_of,
    principal_minors,
    read_real,
    real_solutions,
    shown,
    shown_point,
    sign_of,
    tidied,
)
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Math, math


def kkt_workings(
    objective: Any,
    inequalities: Sequence[Any] = (),
    equalities: Sequence[Any] = (),
    variables: Sequence[str] | None = None,
) -> Document:
    """Show how a small constrained problem is solved by the KKT conditions.

    Parameters
    ----------
    objective : str or sympy expression
        The function to minimize, of at most three variables.
    inequalities, equalities : sequences of str or sympy expressions, default=()
        What must be at most 0 (at most four of them), and what must be 0.
    variables : sequence of str, default=None
        Their order.

    Returns
    -------
    Document
        ``answer`` has ``x``, ``lam``, ``nu``, ``objective``, ``points`` (all KKT points), ``is_convex`` and
        ``dual_value`` (None unless the problem is a strictly convex quadratic program).

    Examples
    --------
    >>> work = kkt_workings("x**2 + y**2", inequalities=["1 - x - y"])
    >>> work.answer["x"], work.answer["lam"], work.answer["dual_value"]
    ((1/2, 1/2), (1,), 1/2)
    """
    problem = read_problem(objective, inequalities, equalities, variables)
    candidates = [candidate for active in choices(problem) for candidate in solve_case(problem, active)]
    kkt_points = [candidate for candidate in candidates if candidate.verdict == KKT_POINT]
    is_convex = is_convex_problem(problem)
    best = min(kkt_points, key=lambda candidate: digits_of(candidate.value), default=None)
    steps = [
        _conditions_step(problem),
        _cases_step(problem, candidates),
        _choice_step(problem, kkt_points, best, is_convex),
    ]
    dual_value = None
    if best is not None and is_convex:
        found = dual_step(problem, best)
        if found is not None:
            dual_value, showing = found
            steps.append(showing)
    answer = {
        "x": best and best.x,
        "lam": best and best.lam,
        "nu": best and best.nu,
        "objective": best and best.value,
        "points": [candidate.x for candidate in kkt_points],
        "is_convex": is_convex,
        "dual_value": dual_value,
    }
    return Document("KKT conditions", _opening(problem), tuple(steps), answer)


def _opening(problem: KKTProblem) -> tuple[Block, ...]:
    blocks: list[Block] = [sentence("Minimize"), formula("f", shown_point(problem.x), "=", problem.f)]
    if problem.c or problem.a:
        blocks.append(sentence("subject to"))
    blocks += [formula(_name("c", i, problem.c), "=", part, "≤ 0") for i, part in enumerate(problem.c)]
    blocks += [formula(_name("a", i, problem.a), "=", part, "= 0") for i, part in enumerate(problem.a)]
    return tuple(blocks)


def _conditions_step(problem: KKTProblem) -> Step:
    blocks: list[Block] = [
        sentence("Each constraint gets a multiplier, and the Lagrangian is"),
        formula("L = f", *(math("+", m, part) for m, part in _pairs(problem))),
        sentence("At a solution its derivatives vanish (stationarity):"),
        *(formula(expand(diff(problem.lagrangian, x)), "= 0") for x in problem.x),
        sentence("and the constraints hold (primal feasibility)."),
    ]
    if problem.c:
        blocks.append(
            sentence(
                "The multipliers ",
                math("λ"),
                " of inequalities are not negative (dual feasibility), and each is 0 unless its constraint is active, "
                "that is, holds with equality (complementarity).",
            )
        )
    return step("The conditions", *blocks)


def _cases_step(problem: KKTProblem, candidates: list[Candidate]) -> Step:
    cases = 2 ** len(problem.c)
    head = ["active", "point", *(multiplier for multiplier, _ in _pairs(problem)), math("f"), "verdict"]
    rows = [
        [
            ", ".join(str(i + 1) for i in candidate.active) or "none",
            shown_point(candidate.x),
            *map(shown, (*candidate.lam, *candidate.nu)),
            shown(candidate.value),
            candidate.verdict,
        ]
        for candidate in candidates
    ]
    solved = {candidate.active for candidate in candidates}
    empty = [active for active in choices(problem) if active not in solved]
    opening = (
        f"Which inequalities are active is not known, so we try all {cases} cases: in each, the equations can be "
        "solved, and then the signs decide."
        if problem.c
        else "There are no inequalities, so these equations are all there is to solve."
    )
    blocks: list[Block] = [sentence(opening)]
    if rows:
        blocks.append(table(head, rows))
    if empty:
        names = "; ".join(", ".join(str(i + 1) for i in active) or "none" for active in empty)
        blocks.append(sentence(f"The equations contradict each other with these active: {names}."))
    return step("Case by case", *blocks)


def _choice_step(problem: KKTProblem, points: list[Candidate], best: Candidate | None, is_convex: bool) -> Step:
    if best is None:
        return step(
            "The best point",
            sentence("No case satisfies all conditions: there is no minimum, or no multipliers fit it."),
        )
    found: Math = math(shown_point(problem.x), "=", shown_point(best.x), ", f =", shown(best.value))
    if is_convex:
        why = sentence("Objective and inequalities are convex and equalities linear: a KKT point is a global minimum.")
    else:
        several = "" if len(points) == 1 else f"Of the {len(points)} KKT points this is the lowest. "
        why = remark(
            f"{several}The problem is not known to be convex, so the conditions are necessary only: if "
            "there is a minimum, and the gradients of the active constraints are independent there, this is it."
        )
    return step("The best point", result(found), why)


def _pairs(problem: KKTProblem) -> list[tuple[Math, Math]]:
    """Return each multiplier with its constraint, as symbols."""
    inequalities = [(_name("λ", i, problem.c), _name("c", i, problem.c)) for i in range(len(problem.c))]
    return inequalities + [(_name("ν", i, problem.a), _name("a", i, problem.a)) for i in range(len(problem.a))]


def _name(letter: str, i: int, parts: Sequence[Expr]) -> Math:
    return math(letter if len(parts) == 1 else f"{letter}_{i + 1}")


def dual_step(problem: KKTProblem, best: Candidate) -> tuple[Expr, Step] | None:
    """Return the dual value at the best multipliers and the step that shows it, or None without a closed form."""
    x, H = problem.x, hessian(problem.f, problem.x)
    constraints = (*problem.c, *problem.a)
    linear = all(hessian(part, x).is_zero_matrix for part in constraints)
    if H.free_symbols or not linear or H.det() == 0 or not constraints:
        return None
    multipliers = [*problem.lam, *problem.nu]
    slope = Matrix([diff(problem.lagrangian, v) for v in x]).subs(dict.fromkeys(x, 0))
    minimizer = [expand(entry) for entry in -(H.inv() * slope)]
    d = expand(problem.lagrangian.subs(dict(zip(x, minimizer, strict=True)), simultaneous=True))
    value = d.subs(dict(zip(multipliers, (*best.lam, *best.nu), strict=True)))
    gap = best.value - value
    return value, step(
        "The dual agrees",
        sentence("For fixed multipliers the Lagrangian is a quadratic bowl, which is lowest at"),
        *(formula(v, "=", entry) for v, entry in zip(x, minimizer, strict=True)),
        sentence("There it has the value of the dual function, a lower bound on f at every feasible point:"),
        formula("d", shown_point(multipliers), "=", d),
        sentence("At the multipliers found it is"),
        result("d =", shown(value), ", f − d =", shown(gap)),
        sentence("No gap is left, so no feasible point can be lower." if gap == 0 else "A gap is left."),
    )


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
