"""Gradient descent by hand: fixed step, exact line search, backtracking."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.line import Line
from pellucid.optimize.workings.line_search_workings import search_line
from pellucid.optimize.workings.step_notation import scaled
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.workings.document import Block, Step, formula, sentence, step
from pellucid.workings.notation import column, math, over

GROWTH = 2
"""A line search tries twice the last step first, so that steps can grow again."""


def gradient_descent_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Walk downhill along the negative gradient."""
    points, steps = [start], []
    first: Rational | None = None
    for k in range(count):
        x, gradient = points[-1], f.gradient(points[-1])
        if gradient.is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        first = 1 / max(map(abs, gradient)) if first is None else GROWTH * first
        line = Line(f, k, x, -gradient, gradient, first)
        first, searching = search_line(method.step_size, line)
        points.append(line.at(first))
        steps.append(_iteration(line, first, searching, points[-1]))
    return Walk("Gradient descent", _rule(f, method.step_size), tuple(steps), tuple(points))


def _rule(f: ExactFunction, step_size: Any) -> tuple[Block, ...]:
    return (
        sentence("The gradient points uphill, so each step goes the other way, along ", math("d_k = − g_k"), ":"),
        formula(f.point("k+1"), "=", f.point("k"), "− t_k g_k"),
        *([] if hasattr(step_size, "search") else _largest_fixed_step(f)),
    )


def _largest_fixed_step(f: ExactFunction) -> list[Block]:
    """Return the bound on a fixed step, where the curvature is known: on a quadratic."""
    if not f.is_quadratic:
        return []
    eigenvalues = f.afresh().pencil.eigenvalues(f.formula.hessian)
    largest = eigenvalues[-1]
    if eigenvalues[0] < 0 or largest == 0:
        return []
    return [
        sentence(
            "The function is quadratic and its largest curvature, the largest eigenvalue of the Hessian, is ",
            math("L =", largest),
            ". A fixed step converges to the minimum if it is below ",
            math(over("2", "L"), "=", 2 / largest),
            ".",
        )
    ]


def _iteration(line: Line, t: Rational, searching: list[Block], new: Matrix) -> Step:
    f, k = line.f, line.k
    return step(
        f"Iteration {k + 1}",
        sentence("The gradient here is"),
        f.gradient_formula(k, line.gradient),
        *searching,
        formula(
            f.point(k + 1), "=", f.point(k), f"− t g_{k} =", column(line.x), "−", scaled(t, column(line.gradient)),
            "=", column(new),
        ),
        value_sentence(f, k + 1, new, f.value(line.x)),
    )  # fmt: skip
