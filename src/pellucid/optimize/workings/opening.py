"""How all workings of methods open: the function, its gradient, the names, the start."""

from __future__ import annotations

from sympy import Matrix, Piecewise

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.step_notation import in_cases, sum_of_terms
from pellucid.workings.document import Block, formula, sentence
from pellucid.workings.line_breaking import fits
from pellucid.workings.notation import Mathlike, column, fenced, math, over, typed


def opening(f: ExactFunction, start: Matrix) -> list[Block]:
    """Return the blocks that name the function, its gradient and the start."""
    names: list[Mathlike] = []
    for variable in f.variables:
        names += [",", variable] if names else [variable]
    whole = math("f", fenced(math(*names)), "=", f.formula.expression)
    in_terms = math("f", fenced(math(*names)), "=", sum_of_terms(f.formula.expression))
    first, value = math(f.point(0), "=", column(typed(value) for value in start)), f.value(start)
    return [
        sentence("Minimize"),
        formula(whole if fits(whole) else in_terms),
        *_slopes(f),
        sentence(
            "We write ",
            math(f.letter),
            " for the column of the variables, ",
            f.point("k"),
            " for the point after k iterations and ",
            math("g_k = ∇ f", fenced(f.point("k"))),
            ". We start from",
        ),
        formula(first, ", f", fenced(f.point(0)), "=", value),
    ]


def _slopes(f: ExactFunction) -> list[Block]:
    """Return the partial derivatives: as a column, or one by one where they come in cases or are long."""
    gradient = f.formula.gradient
    whole = math("∇ f =", column(gradient))
    if not gradient.has(Piecewise) and fits(whole):
        return [sentence("The gradient collects the partial derivatives:"), formula(whole)]
    pairs = zip(f.variables, gradient, strict=True)
    written = in_cases if gradient.has(Piecewise) else sum_of_terms
    return [
        sentence("The gradient ", math("∇ f"), " collects the partial derivatives:"),
        *(formula(over("∂ f", math("∂", variable)), "=", written(slope)) for variable, slope in pairs),
    ]
