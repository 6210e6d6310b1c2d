"""Alternating minimization by hand: each block of variables to its minimum, the others fixed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sympy import Expr, Matrix, simplify, sympify

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.walk import Walk, minimum_step, value_sentence
from pellucid.workings.document import Block, formula, sentence, step
from pellucid.workings.notation import column


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
            new, shown = _visit(f, rule, visited[-1])
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
        _rule(f, rules),
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


def _rule(f: ExactFunction, rules: list[BlockRule]) -> tuple[Block, ...]:
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


def _visit(f: ExactFunction, rule: BlockRule, x: Matrix) -> tuple[Matrix, list[Block]]:
    values = dict(zip(f.variables, x, strict=True))
    new = x.copy()
    blocks: list[Block] = []
    for j, entry in rule.members.items():
        new[j] = f.pencil.kept(entry.subs(values))
        blocks.append(formula(f.variables[j], "=", entry, "=", new[j]))
    return new, blocks
