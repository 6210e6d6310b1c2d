"""The KKT conditions by hand: every choice of active constraints, solved exactly, checked, and the best one kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, diff, expand

from pellucid.optimize.checks.real_algebra import digits_of, shown, shown_point
from pellucid.optimize.constrained.kkt_exact_workings import (
    KKT_POINT,
    Candidate,
    KKTProblem,
    choices,
    is_convex_problem,
    read_problem,
    solve_case,
)
from pellucid.optimize.constrained.quadratic_dual_workings import dual_step
from pellucid.workings.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.workings.notation import Math, math


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
