"""The dual of a strictly convex quadratic program by hand."""

from __future__ import annotations

from sympy import Expr, Matrix, diff, expand, hessian

from pellucid.optimize.checks.real_algebra import shown, shown_point
from pellucid.optimize.constrained.kkt_exact_workings import Candidate, KKTProblem
from pellucid.workings.document import Step, formula, result, sentence, step


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
