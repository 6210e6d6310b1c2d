"""The line that a search looks along, and what a search finds."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sympy import Matrix, Rational

from pellucid.optimize.workings.exact_function import ExactFunction
from pellucid.workings.document import Block, formula, sentence
from pellucid.workings.notation import Mathlike, factor, math, total


class Line(NamedTuple):
    """The line to search: from point ``k`` along a direction, with the gradient there and a step to try first."""

    f: ExactFunction
    k: int
    x: Matrix
    direction: Matrix
    gradient: Matrix
    first: Rational

    @property
    def slope(self) -> Rational:
        """The derivative of the function along the line, where it starts."""
        return self.f.pencil.kept((self.gradient.T * self.direction)[0])

    @property
    def slope_symbol(self) -> Mathlike:
        """The notation for the slope."""
        return math(f"g_{self.k}^T d_{self.k}")

    @property
    def ahead(self) -> Mathlike:
        """The notation for the point a step further."""
        return math(self.f.point(self.k), f"+ t d_{self.k}")

    def at(self, step: Rational) -> Matrix:
        """Return the point a step further."""
        return self.f.pencil.kept(self.x + step * self.direction)


Found: TypeAlias = tuple[Rational, list[Block]]
"""A step, and the blocks that show how it was found."""


def dot(name: Mathlike, a: Matrix, b: Matrix, result: Rational) -> Block:
    """Return ``name = 1 · 2 + (−1) · 3 = −1``."""
    terms = [math(factor(u), "·", factor(v)) for u, v in zip(a, b, strict=True)]
    return formula(name, "=", total(terms), "=", result)


def fall_blocks(line: Line) -> list[Block]:
    """Return the slope at the start of the line, worked out."""
    return [
        sentence("Along the direction the function falls at the rate"),
        dot(line.slope_symbol, line.gradient, line.direction, line.slope),
    ]
