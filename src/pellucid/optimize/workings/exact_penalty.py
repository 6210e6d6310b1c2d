"""Penalties in fractions: their values, and their proximal steps as a person would take them."""

from __future__ import annotations

import math as floats
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Matrix, Rational, sign

from pellucid.optimize.workings.settings import exact_setting
from pellucid.workings.document import Block, sentence
from pellucid.workings.notation import Math, Script, fenced, math, typed


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
