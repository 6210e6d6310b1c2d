"""A function with its derivatives at exact points."""

from __future__ import annotations

import math as floats
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from sympy import Matrix, Piecewise, Rational, Symbol, sign

from pellucid.core.checks import is_number
from pellucid.optimize.formula import Formula
from pellucid.optimize.workings.pencil import Pencil
from pellucid.optimize.workings.step_notation import indexed
from pellucid.show.document import Block, formula, sentence
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Math, Mathlike, Script, column, fenced, math, typed

LETTERS = ("z", "p", "u", "q", "point")
"""Names for the column of all variables: the first that is not the name of one of them."""


class ExactFunction:
    """A formula whose values, gradients and Hessians are rationals.

    Examples
    --------
    >>> f = ExactFunction(Formula("x**2 + y**2/3"))
    >>> f.value(Matrix([1, 2])), list(f.gradient(Matrix([1, 2])))
    (7/3, [2, 4/3])
    """

    def __init__(self, function: Formula, pencil: Pencil | None = None) -> None:
        self.formula = function
        self.pencil = pencil or Pencil()
        self._gradient, self._hessian = function.gradient, function.hessian
        names = {symbol.name for symbol in function.variables}
        self.letter = next(letter for letter in LETTERS if letter not in names)

    def afresh(self) -> ExactFunction:
        """Return the same function with a pencil of its own, for numbers that are not shown."""
        return ExactFunction(self.formula)

    @property
    def variables(self) -> tuple[Symbol, ...]:
        """The variables, in order."""
        return self.formula.variables

    @property
    def is_quadratic(self) -> bool:
        """Whether the Hessian is the same everywhere."""
        return self.formula.is_quadratic

    @property
    def has_kinks(self) -> bool:
        """Whether the gradient jumps somewhere."""
        return bool(self._gradient.has(Piecewise, sign))

    def value(self, x: Matrix) -> Rational:
        """Return the value at a point."""
        return self.pencil.kept(self.formula.at(self.formula.expression, list(x)))

    def gradient(self, x: Matrix) -> Matrix:
        """Return the column of partial derivatives at a point."""
        return self.pencil.kept(Matrix(self.formula.at(self._gradient, list(x))))

    def hessian(self, x: Matrix) -> Matrix:
        """Return the matrix of second derivatives at a point."""
        return self.pencil.kept(Matrix(self.formula.at(self._hessian, list(x))))

    def point(self, k: int | str) -> Math:
        """Return the symbol of the point after ``k`` steps."""
        return indexed(self.letter, k)

    def gradient_formula(self, k: int, gradient: Matrix, at: Math | None = None) -> Block:
        """Return ``g_k = gradient at the point = column``."""
        return formula(f"g_{k} = ∇ f", fenced(at if at is not None else self.point(k)), "=", column(gradient))


@dataclass(frozen=True)
class ExactPenalty:
    """A convex part beside the function: how it is written, its value, its proximal step, and words for that step."""

    written: Math
    value: Callable[[Matrix], Rational]
    prox: Callable[[Matrix, Rational], Matrix]
    told: Callable[[Rational], Block]


def exact_penalty(penalty: Any) -> ExactPenalty:
    """Return the penalty in fractions, or refuse one whose steps are not written down."""
    makers = {"L1": _absolute, "SquaredL2": _squared, "Box": _box}
    name = type(penalty).__name__
    if name not in makers:
        raise TypeError(f"penalty must be an L1, SquaredL2 or Box to be worked by hand, got {name}.")
    return makers[name](penalty)


def _absolute(penalty: Any) -> ExactPenalty:
    alpha = exact_setting(penalty.alpha, "alpha")
    return ExactPenalty(
        math(*([] if alpha == 1 else [typed(alpha)]), "∑", fenced("z_j", "||")),
        lambda x: alpha * sum((abs(value) for value in x), Rational(0)),
        lambda x, step: x.applyfunc(lambda value: sign(value) * max(abs(value) - step * alpha, Rational(0))),
        lambda step: sentence("Every entry goes towards 0 by ", math("η α =", step * alpha), ", and stops there:"),
    )


def _squared(penalty: Any) -> ExactPenalty:
    alpha = exact_setting(penalty.alpha, "alpha")
    return ExactPenalty(
        math(typed(alpha / 2), Script(fenced("z", "‖‖"), above=math(2))),
        lambda x: alpha / 2 * (x.T * x)[0],
        lambda x, step: x / (1 + step * alpha),
        lambda step: sentence("Every entry is divided by ", math("1 + η α =", 1 + step * alpha), ":"),
    )


def _box(penalty: Any) -> ExactPenalty:
    low, high = (
        None if floats.isinf(edge) else exact_setting(edge, name)
        for edge, name in ((penalty.low, "low"), (penalty.high, "high"))
    )

    def clipped(value: Rational) -> Rational:
        value = value if low is None else max(value, low)
        return value if high is None else min(value, high)

    below, above = (["−", math("∞")] if low is None else [low]), (["∞"] if high is None else [high])
    return ExactPenalty(
        math("0 ,", *below, "≤ z_j ≤", *above),
        lambda _x: Rational(0),
        lambda x, _step: x.applyfunc(clipped),
        lambda _step: sentence("Entries outside of the box are moved to its edge:"),
    )


def exact_setting(value: Any, name: str) -> Rational:
    """Return a number of the settings as a rational, to its last digit."""
    simple, rounded = exact_number(value, name)
    return Rational(repr(float(value))) if rounded else simple


def small(value: Rational) -> Mathlike:
    """Return a tiny number as a power of ten, if it is one."""
    places = len(str(value.q)) - 1
    is_power = value.p == 1 and value.q == 10**places
    return Script(math("10"), above=math(Rational(-places))) if is_power and places > 3 else typed(value)


def exact_step_size(step_size: Any, t: int) -> Rational:
    """Return the step size of iteration ``t``: a number, or what a schedule says.

    Examples
    --------
    >>> from pellucid.optimize.schedules import InverseTime
    >>> exact_step_size(0.1, 5), exact_step_size(InverseTime(0.1, decay=0.5), 1)
    (1/10, 1/15)
    """
    if not callable(step_size):
        return exact_setting(step_size, "step_size")
    value = _in_fractions(step_size)(t)
    return value if isinstance(value, Rational) else exact_setting(float(value), "step_size")


def _in_fractions(schedule: Any) -> Any:
    """Return the schedule with its numbers as fractions, so that its own formula is worked out exactly."""
    if not is_dataclass(schedule):
        return schedule
    numbers = {item.name: getattr(schedule, item.name) for item in fields(schedule)}
    exact = {name: exact_setting(value, name) for name, value in numbers.items() if is_number(value)}
    whole = {name: int(value) if isinstance(numbers[name], int) else value for name, value in exact.items()}
    return replace(schedule, **whole)  # type: ignore[type-var]  # a dataclass instance, as asked above
