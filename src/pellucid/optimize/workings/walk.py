"""What workings of a method consist of: its rule, the points it visits and the steps that lead there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sympy import Matrix, Piecewise, Rational

from pellucid.core.fit import Solution
from pellucid.core.trace import record
from pellucid.core.types import Array
from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.optimize.workings.step_notation import in_cases, sum_of_terms
from pellucid.show.document import Block, Figure, Series, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Mathlike, column, fenced, math, over, typed
from pellucid.show.text_layout import fits


@dataclass(frozen=True)
class Walk:
    """The points a method visits, start included; ``answer`` holds more numbers worth keeping.

    ``points`` are those that the program reports, iteration by iteration. ``visited`` are those worked by hand, where
    they differ: the updates within an epoch, or points that are not the best so far; ``reported`` says how.
    """

    title: str
    rule: tuple[Block, ...]
    steps: tuple[Step, ...]
    points: tuple[Matrix, ...]
    answer: Mapping[str, Any] = field(default_factory=dict)
    visited: tuple[Matrix, ...] = ()
    reported: str = ""

    @property
    def path(self) -> tuple[Matrix, ...]:
        """The points worked by hand."""
        return self.visited or self.points


def value_sentence(f: ExactFunction, k: int, x: Matrix, before: Rational) -> Block:
    """Return the sentence that says whether the function fell, and by how much."""
    value = f.value(x)
    named = math("f", fenced(f.point(k)), "=", value)
    if value < before:
        return sentence("There ", named, ", lower than before by ", math(before - value), ".")
    if value > before:
        return remark("There ", named, ": the function rose by ", math(value - before), ".")
    return sentence("There ", named, ", as before.")


def minimum_step(f: ExactFunction, k: int) -> Step:
    """Return the step that ends a walk where the gradient vanishes."""
    return step("Stop", sentence("The gradient at ", f.point(k), " is 0: there is nowhere to go from here."))


def path_step(f: ExactFunction, points: tuple[Matrix, ...], penalty: Any = None) -> Step:
    """Return the table of all points with their values, and their picture if they lie in a plane."""
    if penalty is None:
        end = ": it is 0 at a minimum." if not f.has_kinks else ": at a kink it need not be small."
    else:
        end = ". It is that of f alone, so that it need not be 0 at a minimum of F."
    blocks: list[Block] = [
        *_tables(f, points, penalty),
        sentence(f"The last column is the largest entry of the gradient, without its sign{end}"),
    ]
    if len(f.variables) == 2 and len(set(map(tuple, points))) > 1:
        across, up = (tuple(float(x[j]) for x in points) for j in range(2))
        path = (Series(across, up, joined=True), Series(across, up))
        names = [variable.name for variable in f.variables]
        blocks.append(Figure(path, names[0], names[1], "The path, from the start to the last point."))
    return step("Look at the whole path", *blocks)


def _tables(f: ExactFunction, points: tuple[Matrix, ...], penalty: Any) -> list[Block]:
    """Return points and values, with the penalty if there is one, in one table, or in two for many variables."""
    added = [Rational(0) if penalty is None else penalty.value(x) for x in points]
    values = [[f.value(x) + h, max(map(abs, f.gradient(x)))] for x, h in zip(points, added, strict=True)]
    name = "f" if penalty is None else "F"
    head, more = [math("k"), *f.variables], [math(name, fenced(f.point("k"))), math("max", fenced("g_k", "||"))]
    if len(f.variables) <= 2:
        return [table([*head, *more], [[math(k), *x, *values[k]] for k, x in enumerate(points)])]
    return [
        table(head, [[math(k), *x] for k, x in enumerate(points)]),
        table([math("k"), *more], [[math(k), *row] for k, row in enumerate(values)]),
    ]


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


CLOSE = 1e-9
"""A point of the program further than this from the exact one, relative to its size, is pointed out."""


def comparison_step(method: Any, problem: Any, walk: Walk, variables: Sequence[Any], **options: Any) -> Step:
    """Return the step that compares the exact points with those of the float program."""
    points, solution = walk.points, _solution(method, problem, walk, **options)
    found = [state["x"] for state in solution.trace.states]
    names = [variable.name for variable in variables]
    digits = 12 if len(names) <= 2 else 7
    rows, farthest = [], 0.0
    for k, (exact, program) in enumerate(zip(points, found, strict=False)):
        right = np.array(exact, dtype=float).ravel()
        distance = float(np.abs(right - program).max())
        farthest = max(farthest, distance / max(1.0, float(np.abs(right).max())))
        rows.append([math(k), *(f"{value:.{digits}g}" for value in program), f"{distance:.1e}" if distance else "0"])
    blocks: list[Block] = [
        sentence(
            f"{type(method).__name__} of the program, in floating point, from the same start, and how far its points "
            f"are from ours. {walk.reported}".rstrip()
        ),
        table([math("k"), *names, "distance"], rows),
    ]
    if len(found) < len(points):
        blocks.append(sentence(f"In floating point it could not go on. {solution.certificate.reason}"))
    if farthest > CLOSE:
        blocks.append(
            remark(
                "That is more than rounding: the program took another turn, because a comparison was a tie, or "
                "rounding grew from step to step."
            )
        )
    return step("Compare with the program", *blocks)


def _solution(method: Any, problem: Any, walk: Walk, **options: Any) -> Solution[Array]:
    """Run the real method; it is imported here, so that the workings themselves know no solver."""
    from pellucid.optimize.minimize import descend
    from pellucid.optimize.stopping import Stopping

    with record():
        return descend(
            problem,
            np.array(walk.points[0], dtype=float).ravel(),
            method,
            stopping=Stopping(gradient=0.0, max_iter=len(walk.points) - 1),
            **options,
        )
