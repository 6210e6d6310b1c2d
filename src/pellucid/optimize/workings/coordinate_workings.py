"""Coordinate descent by hand: one variable at a time, each to its own minimum."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.step_notation import parabola
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.workings.document import Block, formula, sentence, step
from pellucid.workings.notation import column, fenced, math, over


def coordinate_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Minimize over one variable after the other; an iteration is a sweep over all of them."""
    if not f.is_quadratic:
        raise ValueError(
            "function must be quadratic to show CoordinateDescent, got one that is not. Show another method."
        )
    if method.order == "random":
        raise ValueError("order must be 'cyclic' or 'greedy' to be worked by hand, got 'random'.")
    points, visited, steps = [start], [start], []
    for k in range(count):
        if f.gradient(points[-1]).is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        blocks: list[Block] = []
        for i in range(len(start)):
            j = i if method.order == "cyclic" else _steepest(f.gradient(visited[-1]))
            if method.order == "greedy":
                blocks += _choice(f, visited[-1], j)
            new = _minimize(f, visited[-1], j)
            blocks += _visit(f, visited[-1], j, new)
            visited.append(new)
        points.append(visited[-1])
        blocks += [
            formula(f.point(k + 1), "=", column(points[-1])),
            value_sentence(f, k + 1, points[-1], f.value(points[-2])),
        ]
        steps.append(step(f"Sweep {k + 1}", *blocks))
    return Walk(
        "Coordinate descent", _rule(method.order), tuple(steps), tuple(points), {"visited": [list(x) for x in visited]}
    )


def _rule(order: str) -> tuple[Block, ...]:
    which = {
        "cyclic": "one variable after the other, in their order",
        "greedy": "the variable with the steepest slope each time",
    }[order]
    return (
        sentence(
            f"We change {which}, and hold the others fixed. In one variable the function is a parabola, so its minimum "
            "is where the derivative is 0. An iteration is a sweep: as many changes as there are variables."
        ),
    )


def _steepest(gradient: Matrix) -> int:
    sizes = [abs(entry) for entry in gradient]
    return sizes.index(max(sizes))


def _choice(f: ExactFunction, x: Matrix, j: int) -> list[Block]:
    return [
        formula("∇ f =", column(f.gradient(x))),
        sentence("The steepest slope is that of ", math(f.variables[j]), "."),
    ]


def _minimize(f: ExactFunction, x: Matrix, j: int) -> Matrix:
    curvature: Rational = f.hessian(x)[j, j]
    if curvature <= 0:
        raise ValueError(
            f"function must have a minimum along {f.variables[j]}, got curvature {curvature}. Show another function."
        )
    new = x.copy()
    new[j] = f.pencil.kept(x[j] - f.gradient(x)[j] / curvature)
    return new


def _visit(f: ExactFunction, x: Matrix, j: int, new: Matrix) -> list[Block]:
    """Return the parabola in one variable, its derivative, and where that is 0."""
    variable, value = f.variables[j], f.value(new)
    half = f.hessian(x)[j, j] / 2  # so the parabola is half (v - new)² + value
    slope = f.pencil.kept(-2 * half * new[j])
    level = f.pencil.kept(value + half * new[j] ** 2)
    rate = parabola(Rational(0), 2 * half, slope, variable)
    return [
        sentence("As a function of ", math(variable), " alone:"),
        formula("φ", fenced(variable), "=", parabola(half, slope, level, variable)),
        formula(over("d φ", math("d", variable)), "=", rate, "= 0 ⇒", variable, "=", new[j]),
    ]
