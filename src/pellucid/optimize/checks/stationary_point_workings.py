"""Stationary points by hand: gradient, its zeros, Hessian, minors, and whether the function is convex."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Expr, Matrix, Symbol, diff, expand, hessian

from pellucid.optimize.checks.convexity_workings import convexity_step, hessian_formula
from pellucid.optimize.checks.real_algebra import read_real, real_solutions, shown, shown_point, sign_of, tidied
from pellucid.show.document import Block, Document, Step, formula, sentence, step, table
from pellucid.show.notation import Math, fenced, math, over

MOST_VARIABLES = 3
HIGHEST_ORDER = 8
"""Derivatives up to here are looked at along a direction without curvature."""
VERDICTS = {
    "minimum": "minimum",
    "maximum": "maximum",
    "saddle": "saddle",
    "degenerate": "second order says nothing",
}


def stationary_point_workings(expression: Any, variables: Sequence[str] | None = None) -> Document:
    """Show where the gradient of a formula vanishes, what is there, and whether the function is convex.

    Parameters
    ----------
    expression : str or sympy expression
        A function of at most three variables.
    variables : sequence of str, default=None
        Their order.

    Returns
    -------
    Document
        ``answer`` has ``points``, ``kinds``, ``values``, ``is_convex`` (None if undecided) and ``counterexample``.

    Examples
    --------
    >>> work = stationary_point_workings("x**2 - y**2")
    >>> work.answer["points"], work.answer["kinds"], work.answer["is_convex"]
    ([(0, 0)], ['saddle'], False)
    """
    (f,), real = read_real([expression], variables)
    if len(real) > MOST_VARIABLES:
        raise ValueError(
            f"expression must have at most {MOST_VARIABLES} variables to be worked by hand, got {len(real)}. "
            "Use classify at a point."
        )
    gradient, H = [diff(f, v) for v in real], hessian(f, real)
    solutions = real_solutions(gradient, real)
    points = [tuple(solution[v] for v in real) for solution in solutions]
    kinds = [classify_exactly(_at(H, real, point)) for point in points]
    deciding, is_convex, counterexample = convexity_step(f, real)
    steps = [
        _gradient_step(real, gradient),
        _solving_step(real, points),
        _hessian_step(f, H, real, points, kinds),
        *_degenerate_steps(f, H, real, points, kinds),
        deciding,
    ]
    answer = {
        "points": points,
        "kinds": kinds,
        "values": [tidied(f.subs(dict(zip(real, point, strict=True)))) for point in points],
        "is_convex": is_convex,
        "counterexample": counterexample,
    }
    opening = (sentence("We look for the minima, maxima and saddles of"), formula(_of("f", real), "=", f))
    return Document("Stationary points", opening, tuple(steps), answer)


def classify_exactly(H: Matrix) -> str:
    """Return what a Hessian says about a stationary point, by its leading minors, or its eigenvalues if it is singular.

    Examples
    --------
    >>> classify_exactly(Matrix([[2, 0], [0, -2]])), classify_exactly(Matrix([[2, 0], [0, 0]]))
    ('saddle', 'degenerate')
    """
    if H.free_symbols:
        return "degenerate"  # a whole curve of stationary points
    signs = [sign_of(minor) for minor in leading_minors(H)]
    if all(sign > 0 for sign in signs):
        return "minimum"
    if all(sign == (-1) ** (k + 1) for k, sign in enumerate(signs)):
        return "maximum"
    if signs[-1] != 0:
        return "saddle"
    curvatures = {sign_of(tidied(value)) for value in H.eigenvals(multiple=True)}
    return "saddle" if {-1, 1} <= curvatures else "degenerate"


def leading_minors(H: Matrix) -> list[Expr]:
    """Return the determinants of the upper left blocks."""
    return [tidied(H[:k, :k].det()) for k in range(1, H.rows + 1)]


def _gradient_step(variables: list[Symbol], gradient: list[Expr]) -> Step:
    return step(
        "The gradient",
        sentence("At a smooth minimum every partial derivative is 0. They are"),
        *(formula(over("∂ f", math("∂", v)), "=", expand(g)) for v, g in zip(variables, gradient, strict=True)),
    )


def _solving_step(variables: list[Symbol], points: list[tuple[Expr, ...]]) -> Step:
    if not points:
        return step("Where it vanishes", sentence("Nowhere: there is neither a minimum nor a maximum."))
    names = shown_point(variables)
    count = "one real solution" if len(points) == 1 else f"{len(points)} real solutions"
    isolated = all(not value.free_symbols for point in points for value in point)
    curve = [] if isolated else [sentence("A variable that stands for itself is free: a whole curve is stationary.")]
    return step(
        "Where it vanishes",
        sentence(f"Setting {'it' if len(variables) == 1 else 'all'} to 0 gives {count}:"),
        *(formula(names, "=", shown_point(point)) for point in points),
        *curve,
    )


def _hessian_step(
    f: Expr, H: Matrix, variables: list[Symbol], points: list[tuple[Expr, ...]], kinds: list[str]
) -> Step:
    blocks: list[Block] = [sentence("The second derivatives are"), hessian_formula(H)]
    if points:
        blocks += [
            sentence(
                "All leading minors positive means a minimum; signs − + − …, a maximum; any other signs, if "
                "the last minor is not 0, a saddle."
            ),
            table(
                ["point", math("f"), *(math(f"D_{k + 1}") for k in range(H.rows)), "verdict"],
                [_row(f, H, variables, point, kind) for point, kind in zip(points, kinds, strict=True)],
            ),
        ]
    return step("The Hessian decides", *blocks)


def _row(f: Expr, H: Matrix, variables: list[Symbol], point: tuple[Expr, ...], kind: str) -> list[Any]:
    value = tidied(f.subs(dict(zip(variables, point, strict=True))))
    minors = leading_minors(_at(H, variables, point))
    return [shown_point(point), shown(value), *map(shown, minors), VERDICTS[kind]]


def _degenerate_steps(
    f: Expr, H: Matrix, variables: list[Symbol], points: list[tuple[Expr, ...]], kinds: list[str]
) -> list[Step]:
    """Return a closer look at isolated points where the second order says nothing."""
    looks = [
        _look(f, variables, point, v)
        for point, kind in zip(points, kinds, strict=True)
        if kind == "degenerate" and not any(value.free_symbols for value in point)
        for v in _at(H, variables, point).nullspace()
    ]
    blocks = [block for look in looks for block in look]
    return [step("Where the second order says nothing", *blocks)] if blocks else []


def _look(f: Expr, variables: list[Symbol], point: tuple[Expr, ...], v: Matrix) -> list[Block]:
    """Return what the first derivative along a direction without curvature that does not vanish says."""
    t = Symbol("t", real=True)
    moved = [p + t * direction for p, direction in zip(point, v, strict=True)]
    along = f.subs(dict(zip(variables, moved, strict=True)), simultaneous=True)
    for order in range(3, HIGHEST_ORDER + 1):
        coefficient = tidied(diff(along, t, order).subs(t, 0))
        sign = sign_of(coefficient)
        if sign == 0:
            continue
        if order % 2:
            says = "odd, so that the function falls on one side: no minimum and no maximum."
        elif sign < 0:
            says = "even and negative: no minimum."
        else:
            says = "even and positive: no descent in this direction."
        return [
            sentence(
                "At ", shown_point(point), " along ", shown_point(v), " the first derivative that is not 0 has the ",
                "order ", math(order), " and the value ", shown(coefficient), f". The order is {says}",
            )
        ]  # fmt: skip
    return [sentence("At ", shown_point(point), " the function does not change along ", shown_point(v), ".")]


def _at(H: Matrix, variables: list[Symbol], point: tuple[Expr, ...]) -> Matrix:
    return H.subs(dict(zip(variables, point, strict=True))).applyfunc(tidied)


def _of(name: str, variables: list[Symbol]) -> Math:
    parts: list[Any] = []
    for v in variables:
        parts += [",", v] if parts else [v]
    return math(name, fenced(math(*parts)))
