"""Names, values and gates of a graph in mathematical notation."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from pellucid.neural_network.graph.values import Value
from pellucid.workings.notation import (
    Fence,
    Math,
    Number,
    Script,
    Symbol,
    factor,
    fenced,
    math,
    matrix,
    over,
)


def named(name: str) -> Math:
    """Return a name as a symbol, digits at its end as an index: q1 is ``q_1``."""
    found = re.fullmatch(r"([^\W\d_]+)(\d+)", name)
    return math(f"{found[1]}_{found[2]}") if found else math(name)


def notated(value: Value) -> Math:
    """Return a value; of a float the first digits are written, an array is a matrix."""
    if isinstance(value, np.ndarray):
        return matrix([[Fraction(cell) for cell in row] for row in np.atleast_2d(value)])
    return math(Fraction(value))


def called(name: str) -> Callable[..., Math]:
    """Return what writes a function with its arguments in parentheses."""

    def write(first: Math, *others: Math) -> Math:
        inside: list[Math | str] = [first]
        for other in others:
            inside += [",", other]
        return math(Symbol(name), fenced(math(*inside)))

    return write


def _base(node: Math) -> Math:
    """Return what is raised to a power; a fraction or a number below 0 stands in parentheses."""
    if not isinstance(node, Number):
        return node
    value = Fraction(int(node.value.numerator), int(node.value.denominator))
    return node if value >= 0 and value.denominator == 1 else Fence(node)


GATE_NOTATION: dict[str, Callable[..., Math]] = {
    "add": lambda u, v: math(u, "+", factor(v)),
    "subtract": lambda u, v: math(u, "−", factor(v)),
    "negate": lambda u: math("−", factor(u)),
    "multiply": lambda u, v: math(factor(u), "·", factor(v)),
    "divide": over,
    "matmul": lambda u, v: math(u, v),
    "power": lambda u, v: Script(_base(u), above=v),
    "transpose": lambda u: Script(u, above=math("T")),
    **{name: called(name) for name in ("max", "relu", "exp", "log", "tanh", "sigmoid", "sum")},
}
"""Name of a gate -> the notation of what it does to its inputs."""
