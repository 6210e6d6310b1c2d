"""Coordinate descent by hand: one variable at a time, each to its own minimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sympy import Expr, Matrix, Rational, simplify, sympify

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.step_notation import parabola
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.show.document import Block, formula, sentence, step
from pellucid.show.notation import column, fenced, math, over


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


class BlockRule(NamedTuple):
    """The variables of a block, by number, and the formula of each at the minimum."""

    members: dict[int, Expr]


def alternating_workings(method: Any, f: ExactFunction, start: Matrix, count: int) -> Walk:
    """Go round the blocks; an iteration visits each once."""
    rules = [_read(f, minimizer, i) for i, minimizer in enumerate(method.minimizers)]
    points, visited, steps = [start], [start], []
    for k in range(count):
        if f.gradient(points[-1]).is_zero_matrix:
            steps.append(minimum_step(f, k))
            break
        blocks: list[Block] = []
        for rule in rules:
            new, shown = _block_visit(f, rule, visited[-1])
            visited.append(new)
            blocks += shown
        points.append(visited[-1])
        blocks += [
            formula(f.point(k + 1), "=", column(points[-1])),
            value_sentence(f, k + 1, points[-1], f.value(points[-2])),
        ]
        steps.append(step(f"Round {k + 1}", *blocks))
    return Walk(
        "Alternating minimization",
        _alternating_rule(f, rules),
        tuple(steps),
        tuple(points),
        {"visited": [list(x) for x in visited]},
    )


def _read(f: ExactFunction, minimizer: Callable[[Any], Any], number: int) -> BlockRule:
    """Find the formula of a minimizer by handing it symbols instead of numbers, and check it."""
    symbols = np.array(f.variables, dtype=object)
    try:
        answer = [sympify(entry) for entry in minimizer(symbols)]
    except Exception as error:  # whatever the user's function raises on symbols
        raise ValueError(
            f"minimizers must be plain arithmetic to be worked by hand, got {error!r} from number {number} when it was "
            "given symbols."
        ) from error
    members = {
        j: entry for j, (entry, variable) in enumerate(zip(answer, f.variables, strict=True)) if entry != variable
    }
    at_minimum = {f.variables[j]: entry for j, entry in members.items()}
    for j in members:
        slope = simplify(f.formula.gradient[j].subs(at_minimum, simultaneous=True))
        if slope != 0:
            raise ValueError(
                f"minimizers must return the minimum over their block, got the slope {slope} in {f.variables[j]} from "
                f"number {number}."
            )
    return BlockRule(members)


def _alternating_rule(f: ExactFunction, rules: list[BlockRule]) -> tuple[Block, ...]:
    blocks: list[Block] = [
        sentence(
            f"The variables are split into {len(rules)} blocks. With the others fixed, each block has a minimum that "
            "can be written down: there the partial derivatives of the block are 0."
        )
    ]
    for number, rule in enumerate(rules, 1):
        blocks.append(sentence(f"Block {number}:"))
        blocks += [formula(f.variables[j], "←", entry) for j, entry in rule.members.items()]
    return tuple(blocks)


def _block_visit(f: ExactFunction, rule: BlockRule, x: Matrix) -> tuple[Matrix, list[Block]]:
    values = dict(zip(f.variables, x, strict=True))
    new = x.copy()
    blocks: list[Block] = []
    for j, entry in rule.members.items():
        new[j] = f.pencil.kept(entry.subs(values))
        blocks.append(formula(f.variables[j], "=", entry, "=", new[j]))
    return new, blocks
