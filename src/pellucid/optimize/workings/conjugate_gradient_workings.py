"""Conjugate gradients by hand: each direction is the gradient, bent by the last direction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.line_search_workings import Line, search_line
from pellucid.optimize.workings.quasi_newton_workings import first_trial, moved
from pellucid.optimize.workings.step_notation import indexed, scaled
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.show.document import Block, Step, formula, remark, sentence, step
from pellucid.show.notation import Mathlike, column, fenced, math, over


class BetaRule(NamedTuple):
    """A rule for the share of the last direction: its fraction, in numbers and symbols, and whether it is cut at 0."""

    name: str
    fraction: Callable[[Matrix, Matrix, Matrix], tuple[Rational, Rational]]
    written: tuple[Mathlike, Mathlike]
    is_cut: bool


def _dot(a: Matrix, b: Matrix) -> Rational:
    return (a.T * b)[0]


def _fletcher_reeves(new: Matrix, old: Matrix, _last: Matrix) -> tuple[Rational, Rational]:
    return _dot(new, new), _dot(old, old)


def _polak_ribiere(new: Matrix, old: Matrix, _last: Matrix) -> tuple[Rational, Rational]:
    return _dot(new, new - old), _dot(old, old)


def _hestenes_stiefel(new: Matrix, old: Matrix, last: Matrix) -> tuple[Rational, Rational]:
    return _dot(new, new - old), _dot(last, new - old)


_CHANGE = fenced(math(indexed("g", "k+1"), "− g_k"))
_TURNED = math(indexed("g", "k+1", "T"), _CHANGE)
_SQUARE = math(indexed("g", "k+1", "T"), indexed("g", "k+1"))
RULES = {
    "fletcher-reeves": BetaRule("Fletcher and Reeves", _fletcher_reeves, (_SQUARE, "g_k^T g_k"), is_cut=False),
    "polak-ribiere": BetaRule("Polak and Ribière", _polak_ribiere, (_TURNED, "g_k^T g_k"), is_cut=True),
    "hestenes-stiefel": BetaRule(
        "Hestenes and Stiefel", _hestenes_stiefel, (_TURNED, math("d_k^T", _CHANGE)), is_cut=True
    ),
}


def conjugate_gradient_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Walk along conjugate directions: what one step has gained, the next does not lose."""
    rule, points, steps, betas = RULES[method.formula], [start], [], []
    gradient = f.gradient(start)
    direction, first = -gradient, Rational(1)
    bending: list[Block] = [
        sentence("The first direction is that of gradient descent:"),
        formula("d_0 = − g_0 =", column(-gradient)),
    ]
    for k in range(count):
        if gradient.is_zero_matrix:
            steps.append(_ending(f, k))
            break
        first = first if k else first_trial(f, gradient)
        line = Line(f, k, points[-1], direction, gradient, first)
        t, searching = search_line(method.line_search, line)
        points.append(line.at(t))
        steps.append(
            step(
                f"Iteration {k + 1}",
                f.gradient_formula(k, gradient),
                *bending,
                *searching,
                moved(line, t, points[-1]),
                value_sentence(f, k + 1, points[-1], f.value(line.x)),
            )
        )
        old, last = gradient, direction
        gradient = f.gradient(points[-1])
        if not gradient.is_zero_matrix:
            beta, direction, bending = _bend(f, k, rule, gradient, old, last)
            betas.append(beta)
            first = f.pencil.kept(t * _dot(old, last) / _dot(gradient, direction))
    return Walk("Conjugate gradients", _rule(f, rule), tuple(steps), tuple(points), {"beta": betas})


def _rule(f: ExactFunction, rule: BetaRule) -> tuple[Block, ...]:
    quotient = over(*rule.written)
    return (
        sentence("Each direction is the negative gradient, bent by the last direction so that no progress is undone:"),
        formula(
            f.point("k+1"), "=", f.point("k"), "+ t d_k ,", indexed("d", "k+1"), "= −", indexed("g", "k+1"), "+ β_k d_k"
        ),
        sentence(f"How much of the last direction to keep is the rule of {rule.name}:"),
        formula("β_k =", *(["max", fenced(math("0 ,", quotient))] if rule.is_cut else [quotient])),
    )


def _bend(
    f: ExactFunction, k: int, rule: BetaRule, new: Matrix, old: Matrix, last: Matrix
) -> tuple[Rational, Matrix, list[Block]]:
    """Return the share of the last direction that is kept, the new direction, and the blocks that show it."""
    kept = f.pencil.kept
    above, below = map(kept, rule.fraction(new, old, last))
    raw = kept(above / below)
    beta = max(raw, Rational(0)) if rule.is_cut else raw
    blocks: list[Block] = []
    if _dot(new, -new + beta * last) >= 0:
        blocks.append(
            remark("The bent direction would not lead downhill, so we start over with ", math(f"β_{k} = 0"), ".")
        )
        beta = Rational(0)
    else:
        cut = ["max", fenced(math("0 ,", over(above, below)))] if rule.is_cut else [over(above, below)]
        blocks.append(formula(f"β_{k} =", *cut, "=", beta))
    direction = kept(-new + beta * last)
    blocks.append(
        formula(
            f"d_{k + 1} = − g_{k + 1} + β_{k} d_{k} =", column(-new), "+", scaled(beta, column(last)), "=",
            column(direction),
        )
    )  # fmt: skip
    if f.is_quadratic:
        hessian = f.formula.hessian
        conjugate = kept((direction.T * hessian * last)[0])
        blocks.append(formula(f"d_{k + 1}^T A d_{k} =", conjugate))
        if conjugate == 0:
            blocks.append(
                sentence("The two directions are conjugate: along the new one nothing of the old gain is lost.")
            )
    return beta, direction, blocks


def _ending(f: ExactFunction, k: int) -> Step:
    stop = minimum_step(f, k)
    n = len(f.variables)
    if not f.is_quadratic or k > n:
        return stop
    lesson = sentence(f"A quadratic in {n} variables with exact line searches takes at most {n} iterations: here {k}.")
    return step(stop.heading, *stop.blocks, lesson)
