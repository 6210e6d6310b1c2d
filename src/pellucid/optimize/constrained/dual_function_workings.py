"""The dual function by hand: the Lagrangian, its minimum over x for every multiplier, and the best of these bounds."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Rational, Symbol, diff, hessian, simplify, solve

from pellucid.optimize.checks.real_algebra import shown
from pellucid.optimize.formula import Formula
from pellucid.show.document import Block, Document, formula, remark, result, sentence, step, table
from pellucid.show.notation import math

MOST_VARIABLES = 3


def show_dual_function(objective: Any, constraints: Any) -> Document:
    """Return the dual of ``min f`` under one constraint ``c(x) <= 0``, for a convex quadratic f and a linear c.

    Examples
    --------
    >>> work = show_dual_function("x**2", ["1 - x"])
    >>> work.answer["dual"], work.answer["multiplier"], work.answer["value"]
    (-nu**2/4 + nu, 2, 1)
    """
    f, c = _checked(objective, constraints)
    nu = Symbol("nu", nonnegative=True)
    lagrangian = f.expression + nu * c
    point = solve([diff(lagrangian, v) for v in f.variables], f.variables, dict=True)[0]
    dual = simplify(lagrangian.subs(point)).expand()
    slope = diff(dual, nu)
    free = solve(slope, nu) if dual.has(nu) else []
    best = next((value for value in free if value.is_number and value >= 0), Rational(0))
    value = dual.subs(nu, best)
    x = [point[v].subs(nu, best) for v in f.variables]
    primal = f.expression.subs(dict(zip(f.variables, x, strict=True)))
    names = [str(v) for v in f.variables]
    written = {nu: Symbol("ν")}
    rows = [[math(n), shown(dual.subs(nu, n)), "a lower bound"] for n in (0, 1, 2, 4)]
    steps = (
        step(
            "The Lagrangian",
            sentence("Breaking the constraint is priced with a multiplier of at least 0:"),
            formula("L = f + ν c =", lagrangian.subs(written)),
        ),
        step(
            "Minimize over x",
            sentence("The dual function is a minimum over x, for every ν. Where the derivatives vanish:"),
            *(formula(f"{name} =", point[v].subs(written)) for name, v in zip(names, f.variables, strict=True)),
            sentence("Put back:"),
            result("q = min_x L =", dual.subs(written)),
        ),
        step(
            "Every value is a lower bound",
            sentence("Where the constraint holds, ν c is at most 0, so L is at most f: weak duality."),
            table([math("ν"), math("q"), ""], rows),
        ),
        step(
            "The best bound",
            sentence("q is concave. Its slope is the value of the constraint at the minimum over x:"),
            formula("q' =", slope.subs(written)),
            result("ν =", shown(best), ", q =", shown(value)),
        ),
        step(
            "Strong duality",
            formula(
                *(part for name, v in zip(names, x, strict=True) for part in (f"{name} =", shown(v), ",")),
                "f =",
                shown(primal),
            ),
            sentence("The gap between f and q is ", shown(simplify(primal - value)), "."),
            remark("The Lagrangian is minimized over x, not maximized: a maximum would have no end."),
        ),
    )
    opening: tuple[Block, ...] = (
        sentence("Minimize f where c is at most 0:"),
        formula("f =", f.expression, ", c =", c, "≤ 0"),
    )
    answer: dict[str, Expr | Any] = {"dual": dual, "multiplier": best, "value": value, "x": x, "primal": primal}
    return Document("The dual function", opening, steps, answer)


def _checked(objective: Any, constraints: Any) -> tuple[Formula, Expr]:
    """Return the objective and the constraint, or refuse those whose dual is not written down."""
    f = objective if isinstance(objective, Formula) else Formula(objective)
    given = list(constraints) if isinstance(constraints, (list, tuple)) else [constraints]
    if len(given) != 1 or len(f.variables) > MOST_VARIABLES:
        raise ValueError(
            f"constraints must hold one c(x) <= 0 and the objective at most {MOST_VARIABLES} variables to show the "
            f"dual function, got {len(given)} and {len(f.variables)}."
        )
    c = Formula(given[0]).expression
    H = hessian(f.expression, f.variables)
    if (
        H.free_symbols
        or not H.is_positive_definite
        or any(diff(c, a, b) != 0 for a in f.variables for b in f.variables)
    ):
        raise ValueError("the objective must be strictly convex and quadratic, the constraint linear, got others.")
    return f, c
