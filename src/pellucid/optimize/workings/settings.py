"""Settings of a method as exact numbers: what was typed as 0.1 is 1/10."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from sympy import Rational

from pellucid.core.checks import is_number
from pellucid.workings.exact_data import exact_number
from pellucid.workings.notation import Mathlike, Script, math, typed


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
