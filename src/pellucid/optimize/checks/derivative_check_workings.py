"""Checks of a gradient and of a Hessian by hand: differences of function values next to derivatives, step by step."""

from __future__ import annotations

from typing import Any

from sympy import Expr, Matrix, Rational, diff, sympify

from pellucid.optimize.formula import Formula
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Words, fenced, math, matrix, minus, over

MOST_VARIABLES = 3
STEPS = (Rational(1, 10), Rational(1, 100), Rational(1, 1000))
AGREE, DIFFER = "They agree.", "They differ: it is wrong."
ALIKE = 1e-3
"""A share of the size of a derivative within which the differences at the smallest step must be."""


def show_gradient_check(function: Any, at: Any, given: Any = None) -> Document:
    """Return how a gradient is checked at a point, by differences of both sides with smaller and smaller steps.

    ``given`` is the gradient to check, one number or expression for each variable; without it the right one is.

    Examples
    --------
    >>> show_gradient_check("x**2*y", [2, 1], given=["2*x*y", "x"]).answer["right"]
    [True, False]
    """
    f, x = _read(function, at)
    right = [diff(f.expression, v) for v in f.variables]
    claimed = right if given is None else _claimed(given, f)
    steps, verdicts = [], []
    for j, v in enumerate(f.variables):
        value = _value(claimed[j], f, x)
        rows, last = [], Rational(0)
        for h in STEPS:
            up, down = (_value(f.expression, f, [*x[:j], x[j] + sign * h, *x[j + 1 :]]) for sign in (1, -1))
            last = (up - down) / (2 * h)
            rows.append([math(h), math(up), math(down), math(last), _told(abs(last - value))])
        verdicts.append(bool(abs(float(last - value)) <= ALIKE * max(1.0, abs(float(value)))))
        steps.append(_variable_step(str(v), claimed[j], value, rows, verdicts[-1]))
    answer = {"right": verdicts, "gradient": [_value(c, f, x) for c in claimed]}
    return Document("A gradient check", _opening(f, x, "gradient"), (*steps, _end_step(verdicts)), answer)


def show_hessian_check(function: Any, at: Any, given: Any = None) -> Document:
    """Return how a Hessian is checked at a point: it is symmetric, and its columns are differences of gradients.

    Examples
    --------
    >>> show_hessian_check("x**2*y", [1, 2], given=[[4, 2], [2, 0]]).answer["right"]
    True
    """
    f, x = _read(function, at)
    gradient = [diff(f.expression, v) for v in f.variables]
    exact = Matrix([[diff(g, v) for v in f.variables] for g in gradient]).applyfunc(lambda e: _value(e, f, x))
    H = exact if given is None else Matrix([[exact_number(value, "given")[0] for value in row] for row in given])
    if H.shape != exact.shape:
        raise ValueError(f"given must have {exact.rows} rows and as many columns, got shape {H.shape}.")
    steps = [
        step(
            "Is it symmetric?",
            formula("H =", matrix(H)),
            sentence("It is." if H == H.T else "It is not, and the Hessian of a smooth function is: it is wrong."),
        )
    ]
    is_right = H == H.T
    h = STEPS[-1]
    for j, v in enumerate(f.variables):
        up, down = (
            Matrix([_value(g, f, [*x[:j], x[j] + sign * h, *x[j + 1 :]]) for g in gradient]) for sign in (1, -1)
        )
        column = (up - down) / (2 * h)
        away = max(abs(float(a - b)) for a, b in zip(column, H.col(j), strict=True))
        fits = away <= ALIKE * max(1.0, max(abs(float(value)) for value in H.col(j)))
        is_right = is_right and fits
        slope = over(math("g", fenced("x + h"), "− g", fenced("x − h")), "2 h")
        steps.append(
            step(
                f"Column {j + 1}: the derivative by {v}",
                sentence("The gradient a little above and a little below, their difference over ", math("2 h"), ":"),
                formula(slope, "=", matrix(column), ", h =", h),
                sentence("The column that was given: ", matrix(H.col(j)), f". {AGREE if fits else DIFFER}"),
            )
        )
    word = "right" if is_right else "wrong"
    steps.append(step("The verdict", result(Words(f"the Hessian is {word}"))))
    answer = {"right": is_right, "hessian": exact.tolist()}
    return Document("A Hessian check", _opening(f, x, "Hessian"), tuple(steps), answer)


def _read(function: Any, at: Any) -> tuple[Formula, list[Rational]]:
    f = function if isinstance(function, Formula) else Formula(function)
    if len(f.variables) > MOST_VARIABLES:
        raise ValueError(f"function must have at most {MOST_VARIABLES} variables, got {len(f.variables)}.")
    x = [exact_number(value, "at")[0] for value in at]
    if len(x) != len(f.variables):
        names = ", ".join(map(str, f.variables))
        raise ValueError(f"at must have one number for each of {names}, got {len(x)}.")
    return f, x


def _claimed(given: Any, f: Formula) -> list[Expr]:
    if len(given) != len(f.variables):
        raise ValueError(f"given must have one entry for each of the {len(f.variables)} variables, got {len(given)}.")
    return [sympify(one, rational=True) for one in given]


def _value(expression: Any, f: Formula, x: list[Rational]) -> Any:
    return expression.subs(dict(zip(f.variables, x, strict=True)))


def _told(value: Any) -> Words:
    return Words(minus(f"{float(value):.2g}"))


def _opening(f: Formula, x: list[Rational], what: str) -> tuple[Block, ...]:
    values = [math(str(v), "=", value) for v, value in zip(f.variables, x, strict=True)]
    parts: list[Any] = []
    for value in values:
        parts += [", ", value] if parts else [value]
    return (
        sentence(f"Is the {what} of this function right?"),
        formula("f =", f.expression),
        sentence("It is checked at ", *parts, "."),
    )


def _variable_step(name: str, claimed: Any, value: Any, rows: list[list[Any]], fits: bool) -> Step:
    verdict = "The differences come as near as h lets them: the derivative is right."
    blocks: list[Block] = [
        sentence("The derivative that was given, and its value there: ", math(claimed), " is ", math(value), "."),
        formula(over(math("f", fenced("x + h"), "− f", fenced("x − h")), "2 h")),
        table([math("h"), math("f", fenced("x + h")), math("f", fenced("x − h")), "difference", "away"], rows),
        sentence(verdict if fits else "The error stays, however small h is: the derivative is wrong."),
    ]
    return step(f"The derivative by {name}", *blocks)


def _end_step(verdicts: list[bool]) -> Step:
    wrong = [j + 1 for j, fits in enumerate(verdicts) if not fits]
    word = "the gradient is right" if not wrong else f"wrong in entry {', '.join(map(str, wrong))}"
    return step(
        "The verdict",
        result(Words(word)),
        remark(
            "Differences of both sides err by a multiple of the square of h, those of one side by one of h. In "
            "floating point h must not be too small either: below about 1e-5 rounding takes over."
        ),
    )
