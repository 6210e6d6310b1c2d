"""Support vector machines in exact arithmetic: which points are on their margins is found by trying all choices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from sympy import Matrix, Rational, Symbol, linsolve

from pellucid.core.types import Data
from pellucid.workings.exact_data import ExactData, exact_data, exact_number

MOST_POINTS = 5
FREE, ZERO, FULL = "free", "zero", "full"
"""States of a multiplier: between its bounds, at 0, at C."""


@dataclass(frozen=True)
class Separation:
    """Points of two classes, and the price of slack between them; None for a hard margin."""

    data: ExactData
    C: Rational | None

    @property
    def X(self) -> Matrix:  # noqa: N802  (the lecture's letter)  (the lecture's letter)
        """The points, one per row."""
        return self.data.X

    @cached_property
    def y(self) -> list[Rational]:
        """The classes."""
        return list(self.data.y)

    @cached_property
    def Q(self) -> Matrix:  # noqa: N802  (the lecture's letter)
        """The inner products of the points, times the products of their classes."""
        rows = Matrix.diag(*self.y) * self.X
        return rows * rows.T


@dataclass(frozen=True)
class ExactSVM:
    """The solution: the state of each multiplier, the multipliers, and the bias."""

    task: Separation
    states: tuple[str, ...]
    alpha: list[Rational]
    b: Rational

    @cached_property
    def w(self) -> Matrix:
        """The normal of the plane."""
        return self.task.X.T * Matrix([a * s for a, s in zip(self.alpha, self.task.y, strict=True)])

    @property
    def square(self) -> Rational:
        """The squared length of the normal."""
        return (self.w.T * self.w)[0]

    @property
    def scores(self) -> list[Rational]:
        """The value of w'x + b at each point."""
        return [value + self.b for value in self.task.X * self.w]

    @property
    def slack(self) -> list[Rational]:
        """How much each point lacks to its margin."""
        return [max(Rational(0), 1 - s * score) for s, score in zip(self.task.y, self.scores, strict=True)]

    @property
    def primal_value(self) -> Rational:
        """The objective of the primal."""
        return self.square / 2 + (Rational(0) if self.task.C is None else self.task.C * sum(self.slack))

    @property
    def dual_value(self) -> Rational:
        """The objective of the dual."""
        return sum(self.alpha) - self.square / 2


def read_separation(X: Data, y: Data, C: float | None) -> Separation:
    """Return the data as rationals."""
    data = exact_data(X, y, max_rows=MOST_POINTS)
    if set(data.y) != {-1, 1}:
        raise ValueError(f"y must hold both classes -1 and 1, got {sorted(set(data.y))}. Recode it.")
    price = None if C is None else exact_number(C, "C")[0]
    if price is not None and price <= 0:
        raise ValueError(f"C must be above 0, got {C!r}. For a hard margin pass None.")
    return Separation(data, price)


def solve_exactly(task: Separation) -> ExactSVM:
    """Return the solution with the fewest multipliers between their bounds."""
    found = next(_solutions(task), None)
    if found is None:
        raise ValueError("X must be separable by a plane for a hard margin, got classes that overlap. Pass C.")
    return found


def _solutions(task: Separation) -> Iterator[ExactSVM]:
    """Yield all that satisfies the KKT conditions; the problem is convex, so that each is a solution."""
    options = (ZERO, FREE) if task.C is None else (ZERO, FREE, FULL)
    choices = sorted(product(options, repeat=len(task.y)), key=lambda states: states.count(FREE))
    for states in choices:
        solved = _on_margins(task, states) if FREE in states else _all_at_bounds(task, states)
        if solved is not None and _passes(task, states, *solved):
            yield ExactSVM(task, states, *solved)


def _on_margins(task: Separation, states: tuple[str, ...]) -> tuple[list[Rational], Rational] | None:
    """Solve: points with free multipliers lie on their margins, and the multipliers balance."""
    b = Symbol("b")
    alpha = [_start(task, i, state) for i, state in enumerate(states)]
    balance = sum(a * s for a, s in zip(alpha, task.y, strict=True))
    margins = [_row(task, i, alpha) + task.y[i] * b - 1 for i, state in enumerate(states) if state == FREE]
    unknowns = [a for a in alpha if isinstance(a, Symbol)] + [b]
    for values in linsolve([*margins, balance], unknowns):
        if any(value.free_symbols for value in values):
            return None
        known = dict(zip(unknowns, values, strict=True))
        return [known.get(a, a) for a in alpha], known[b]
    return None


def _all_at_bounds(task: Separation, states: tuple[str, ...]) -> tuple[list[Rational], Rational] | None:
    """Return the middle of the biases that fit if no point must lie on its margin."""
    alpha = [_start(task, i, state) for i, state in enumerate(states)]
    if sum(a * s for a, s in zip(alpha, task.y, strict=True)) != 0:
        return None
    bias = [s - s * _row(task, i, alpha) for i, s in enumerate(task.y)]  # of a point exactly on its margin
    highest = [bias[i] for i, state in enumerate(states) if (state == FULL) == (task.y[i] > 0)]
    lowest = [bias[i] for i, state in enumerate(states) if (state == FULL) != (task.y[i] > 0)]
    if not highest or not lowest or max(lowest) > min(highest):
        return None
    return alpha, (max(lowest) + min(highest)) / 2


def _start(task: Separation, i: int, state: str) -> Any:
    return {ZERO: Rational(0), FULL: task.C, FREE: Symbol(f"alpha_{i + 1}")}[state]


def _row(task: Separation, i: int, alpha: list[Any]) -> Any:
    """Return the class of a point times its inner product with w."""
    return sum(task.Q[i, j] * alpha[j] for j in range(len(alpha)))


def _passes(task: Separation, states: tuple[str, ...], alpha: list[Rational], bias: Rational) -> bool:
    if any(a < 0 or (task.C is not None and a > task.C) for a in alpha):
        return False
    margins = [_row(task, i, alpha) + s * bias for i, s in enumerate(task.y)]
    return all(
        margin >= 1 if state == ZERO else margin <= 1 if state == FULL else margin == 1
        for margin, state in zip(margins, states, strict=True)
    )
