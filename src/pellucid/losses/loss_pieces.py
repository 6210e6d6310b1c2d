"""Each loss as the pieces that a lecture writes down: value, slope on both sides, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sympy import Integer, Rational, exp, log

from pellucid.workings.exact_data import exact_number
from pellucid.workings.notation import Cases, Math, Script, Words, cases, fenced, math

Slopes = tuple[Any, Any]
"""The slopes just below and just above a point."""


@dataclass(frozen=True)
class Pieces:
    """A loss of one number: its definition, value and one-sided slopes, its kinks, and sentences about it.

    ``bounds`` says whether a loss of the margin lies above the zero-one loss; None for losses of a residual.
    """

    title: str
    definition: Math
    value: Callable[[Rational], Any]
    slopes: Callable[[Rational], Slopes]
    kinks: tuple[Rational, ...] = ()
    jump: Rational | None = None
    shape: str = ""
    bounds: str | None = None
    best: str = ""


def pieces_of(loss: Any) -> Pieces:
    """Return the pieces of a loss object of ``pellucid.losses``."""
    name = type(loss).__name__
    if isinstance(loss, type) or name not in PIECES:
        got = f"the class {loss.__name__}" if isinstance(loss, type) else name
        raise TypeError(f"loss must be an instance of one of {', '.join(PIECES)}, CrossEntropyLoss, got {got}.")
    return PIECES[name](loss)


def _flat_then_steep(z: Rational, corner: Rational) -> Slopes:
    """Return the slopes of ``max(0, corner - z)``."""
    return (Integer(-1) if z <= corner else Integer(0), Integer(-1) if z < corner else Integer(0))


def _choice(*branches: tuple[Any, str]) -> Cases:
    return cases(*((value, Words(words)) for value, words in branches))


def _zero_one(_: Any) -> Pieces:
    return Pieces(
        "The zero-one loss",
        _choice((1, "if m ≤ 0"), (0, "if m > 0")),
        value=lambda m: Integer(1 if m <= 0 else 0),
        slopes=lambda _: (Integer(0), Integer(0)),
        jump=Integer(0),
        shape=(
            "It is not convex: halfway between the margins −1 and 1 the loss is 1, more than the mean 1/2 of the "
            "losses 1 and 0 there. Its slope is 0 wherever there is one, so no descent can follow it."
        ),
        bounds="It is the number of mistakes itself.",
    )


def _perceptron(_: Any) -> Pieces:
    return Pieces(
        "The perceptron loss",
        math("max", fenced("0 , − m")),
        value=lambda m: max(Integer(0), -m),
        slopes=lambda m: _flat_then_steep(m, Integer(0)),
        kinks=(Integer(0),),
        shape="It is convex: the larger of two straight lines.",
        bounds=(
            "It does not bound the mistakes: a margin of −1/2 is a mistake that costs 1/2 only, and a margin of 0 is "
            "free."
        ),
    )


def _hinge(_: Any) -> Pieces:
    return Pieces(
        "The hinge loss",
        math("max", fenced("0 , 1 − m")),
        value=lambda m: max(Integer(0), 1 - m),
        slopes=lambda m: _flat_then_steep(m, Integer(1)),
        kinks=(Integer(1),),
        shape="It is convex: the larger of two straight lines.",
        bounds="It bounds the mistakes: where m ≤ 0 the loss is 1 − m ≥ 1, and elsewhere it is at least 0.",
    )


def _squared_hinge(_: Any) -> Pieces:
    return Pieces(
        "The squared hinge loss",
        Script(math("max", fenced("0 , 1 − m")), above=math(2)),
        value=lambda m: max(Integer(0), 1 - m) ** 2,
        slopes=lambda m: (-2 * max(Integer(0), 1 - m),) * 2,
        shape="It is convex: the slope −2 max(0, 1 − m) never falls. At m = 1 both sides have the slope 0: no kink.",
        bounds="It bounds the mistakes: where m ≤ 0 the loss is (1 − m)² ≥ 1, and elsewhere it is at least 0.",
    )


def _logistic(_: Any) -> Pieces:
    return Pieces(
        "The logistic loss",
        math(Words("log"), fenced(math("1 +", Script(math("e"), above=math("− m"))))),
        value=lambda m: log(1 + exp(-m)),
        slopes=lambda m: (-1 / (1 + exp(m)),) * 2,
        shape="It is convex: the slope −1 / (1 + exp(m)), minus the probability of the wrong class, rises with m.",
        bounds=(
            "Divided by log 2 it bounds the mistakes: where m ≤ 0 it is at least log 2, and elsewhere it is above 0. "
            "Undivided it does not: at m = 0 it is log 2, about 0.693."
        ),
    )


def _squared(_: Any) -> Pieces:
    return Pieces(
        "The squared loss",
        math("r^2"),
        value=lambda r: r**2,
        slopes=lambda r: (2 * r, 2 * r),
        shape="It is convex: the slope 2 r rises.",
        best="The constant of least squared loss is the mean: there the slopes 2 r add up to 0.",
    )


def _absolute(_: Any) -> Pieces:
    return Pieces(
        "The absolute loss",
        fenced("r", "||"),
        value=abs,
        slopes=lambda r: (Integer(1 if r > 0 else -1), Integer(-1 if r < 0 else 1)),
        kinks=(Integer(0),),
        shape="It is convex: the larger of the lines r and −r.",
        best="The constant of least absolute loss is a median: there as many slopes are 1 as are −1.",
    )


def _epsilon_insensitive(loss: Any) -> Pieces:
    epsilon = exact_number(loss.epsilon, "epsilon")[0]

    def slopes(r: Rational) -> Slopes:
        return (
            Integer(1 if r > epsilon else -1 if r <= -epsilon else 0),
            Integer(1 if r >= epsilon else -1 if r < -epsilon else 0),
        )

    return Pieces(
        f"The epsilon-insensitive loss for epsilon = {epsilon}",
        math("max", fenced(math("0 ,", fenced("r", "||"), "−", epsilon))),
        value=lambda r: max(Integer(0), abs(r) - epsilon),
        slopes=slopes,
        kinks=tuple(sorted({-epsilon, epsilon})),
        shape="It is convex: the largest of three straight lines.",
        best="Residuals within the tube cost nothing: any constant that keeps all within it is best.",
    )


PIECES: dict[str, Callable[[Any], Pieces]] = {
    "AbsoluteLoss": _absolute,
    "EpsilonInsensitiveLoss": _epsilon_insensitive,
    "HingeLoss": _hinge,
    "LogisticLoss": _logistic,
    "PerceptronLoss": _perceptron,
    "SquaredHingeLoss": _squared_hinge,
    "SquaredLoss": _squared,
    "ZeroOneLoss": _zero_one,
}
"""Class name of a loss -> the function that writes its pieces down."""
