"""What workings of a method consist of: its rule, the points it visits and the steps that lead there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.workings.document import Block, Figure, Series, Step, remark, sentence, step, table
from pellucid.workings.notation import fenced, math


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
