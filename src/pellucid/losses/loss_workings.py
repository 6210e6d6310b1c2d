"""Losses by hand: values, slopes, kinks with their intervals of subgradients, and what they say about mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sympy import Expr, Integer, Matrix, Rational, exp, log

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.show.exact_data import exact_features, exact_number, read_labels, rounding_remark
from pellucid.show.notation import Cases, Math, Script, Words, cases, fenced, math, over, typed

MOST_NUMBERS = 20


def loss_workings(loss: Any, z: Data, y: Data = None) -> Document:
    """Show the loss at some margins or residuals, for ``show_work``; cross-entropy takes scores and class numbers."""
    if type(loss).__name__ == "CrossEntropyLoss":
        return _cross_entropy_workings(loss, z, y)
    pieces = pieces_of(loss)
    if y is not None:
        raise ValueError(
            "y must be None, got labels. Pass margins y f(x) or residuals f(x) − y as the second argument."
        )
    numbers, rounded = _read(z)
    values = [pieces.value(number) for number in numbers]
    slopes = [pieces.slopes(number) for number in numbers]
    z = np.array([float(number) for number in numbers])
    steps = [
        _table_step(pieces, numbers, values, slopes),
        _kink_step(pieces),
        _shape_step(pieces, numbers, values),
        _comparison_step([(loss.value(z), values), (loss.gradient(z), _least(slopes))]),
    ]
    of_margin = pieces.bounds is not None
    introduction: list[Block] = [
        sentence("The loss of a margin ", math("m"), ", the label −1 or 1 times the score:")
        if of_margin
        else sentence("The loss of a residual ", math("r"), ", the prediction less the truth:"),
        formula("ℓ", fenced("m" if of_margin else "r"), "=", pieces.definition),
        *([rounding_remark()] if rounded else []),
    ]
    return Document(pieces.title, tuple(introduction), tuple(steps), {"value": values, "gradient": _least(slopes)})


def _read(z: Data) -> tuple[list[Rational], bool]:
    numbers = np.atleast_1d(np.asarray(z, dtype=object))
    if numbers.ndim != 1 or not 1 <= len(numbers) <= MOST_NUMBERS:
        raise ValueError(
            f"margins or residuals must be a list of at most {MOST_NUMBERS} numbers, got shape {numbers.shape}."
        )
    read = [exact_number(number, "margins or residuals") for number in numbers]
    return [number for number, _ in read], any(rounded for _, rounded in read)


def _least(slopes: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return the subgradients of least size: 0 where the interval holds it, else the end nearer to 0."""
    return [0 if low <= 0 <= high else min(low, high, key=abs) for low, high in slopes]


def _table_step(pieces: Pieces, numbers: list[Rational], values: list[Any], slopes: list[tuple[Any, Any]]) -> Step:
    letter = "r" if pieces.bounds is None else "m"
    is_exact = all(value.is_Rational for value in values)
    head = [math(letter), math("ℓ", fenced(letter)), *([] if is_exact else ["about"]), "slope"]
    rows = []
    for number, value, ends in zip(numbers, values, slopes, strict=True):
        slope = Words("none") if number == pieces.jump else _interval(*ends)
        rows.append([typed(number), value, *([] if is_exact else [_brief(value)]), slope])
    blocks: list[Block] = [table(head, rows)]
    if any(low != high for low, high in slopes):
        blocks.append(sentence("Two numbers between brackets are the ends of the interval of all subgradients."))
    blocks.append(sentence("Together the loss is ", _brief(sum(values)), "."))
    return step("Values and slopes", *blocks)


def _brief(value: Any) -> str | Math:
    """Return a fraction as it is, and what has logarithms as a decimal."""
    return math(value) if value.is_Rational else f"{float(value):.4f}"


def _interval(low: Any, high: Any) -> Math:
    return math(low) if low == high else fenced(math(low, ",", high), "[]")


def _kink_step(pieces: Pieces) -> Step:
    if pieces.jump is not None:
        return step(
            "The jump",
            sentence(
                "At ", math(pieces.jump), " the loss jumps from 1 to 0: no line through that point stays below it."
            ),
        )
    if not pieces.kinks:
        return step("Kinks", sentence("There are none: the slopes from both sides agree everywhere."))
    rows = [[kink, *pieces.slopes(kink), _interval(*pieces.slopes(kink))] for kink in pieces.kinks]
    return step(
        "Kinks",
        sentence("Where the slopes from both sides differ, every number between them is a subgradient:"),
        table(["at", "slope from the left", "slope from the right", "subgradients"], rows),
        remark("The program takes the subgradient nearest to 0."),
    )


def _shape_step(pieces: Pieces, numbers: list[Rational], values: list[Any]) -> Step:
    blocks: list[Block] = [sentence(pieces.shape)]
    if pieces.bounds is None:
        return step("Convex, and what is best", *blocks, sentence(pieces.best))
    mistakes = [Rational(1 if number <= 0 else 0) for number in numbers]
    rows = [[typed(m), mistake, _brief(value)] for m, mistake, value in zip(numbers, mistakes, values, strict=True)]
    return step(
        "Convexity and mistakes",
        *blocks,
        sentence(pieces.bounds),
        table(["margin", "mistake", "loss"], rows, summary=[["sum", sum(mistakes), _brief(sum(values))]]),
    )


def _cross_entropy_workings(loss: Any, scores: Data, y: Data) -> Document:
    """Show probabilities, losses and gradients of a few rows of scores."""
    Z, _, rounded = exact_features(scores)
    given = read_labels(y, Z.rows)
    labels = [label for label in given if isinstance(label, int) and 0 <= label < Z.cols]
    if len(labels) < len(given):
        raise ValueError(f"y must hold class numbers from 0 to {Z.cols - 1}, got {given}.")
    parts = [[exp(z) for z in Z.row(i)] for i in range(Z.rows)]
    P = Matrix([[part / sum(row) for part in row] for row in parts])
    values = [log(sum(row)) - Z[i, label] for i, (row, label) in enumerate(zip(parts, labels, strict=True))]
    slopes = [[P[i, k] - Integer(k == labels[i]) for k in range(Z.cols)] for i in range(Z.rows)]
    power = Script(math("e"), above=math("z_k"))
    introduction: tuple[Block, ...] = (
        sentence("The loss of scores ", math("z"), " for the class ", math("y"), ", minus the log of its share:"),
        formula("ℓ = −", Words("log"), "p_y ,", "p_k =", over(power, math("∑", Script(math("e"), above=math("z_j"))))),
        *([rounding_remark()] if rounded else []),
    )
    program = np.array(Z.tolist(), dtype=float)
    steps = (
        _share_step(Z, P),
        _value_step(labels, P, values),
        _slope_step(slopes),
        _comparison_step([(loss.value(program, labels), values), (loss.gradient(program, labels), slopes)]),
    )
    return Document("Cross-entropy", introduction, steps, {"value": values, "gradient": slopes})


def _share_step(Z: Matrix, P: Matrix) -> Step:
    head = [math("i"), *(math(f"z_{k}") for k in range(Z.cols)), *(math(f"p_{k}") for k in range(Z.cols))]
    rows = [[math(i + 1), *map(typed, Z.row(i)), *map(_about, P.row(i))] for i in range(Z.rows)]
    return step(
        "Scores to probabilities",
        sentence("Raise e to each score and divide by the sum of the row. Adding a constant to a row changes nothing."),
        table(head, rows),
    )


def _value_step(labels: list[int], P: Matrix, values: list[Expr]) -> Step:
    rows = [[math(i + 1), math(y), _about(P[i, y]), values[i], _about(values[i])] for i, y in enumerate(labels)]
    return step(
        "The loss",
        table([math("i"), math("y"), math("p_y"), math("ℓ"), "about"], rows),
        sentence(f"Together the loss is about {_about(sum(values))}."),
        sentence("It is convex in the scores: a log of a sum of exponentials, less a straight line. It has no kinks."),
    )


def _slope_step(slopes: list[list[Expr]]) -> Step:
    head = [math("i"), *(math("p_k −", fenced("y = k", "[]")) if k == 0 else "" for k in range(len(slopes[0])))]
    rows = [[math(i + 1), *map(_about, row)] for i, row in enumerate(slopes)]
    return step(
        "The gradient",
        sentence("The derivative by each score is the probability, less 1 for the true class; each row adds up to 0:"),
        table(head, rows),
    )


def _about(value: Expr) -> str:
    return f"{float(value):.4f}".replace("-", "−")


def _comparison_step(pairs: Sequence[tuple[Any, Any]]) -> Step:
    """Return how far the program's values and gradients are from the exact ones."""
    distances = [float(np.max(np.abs(program - np.array(exact, dtype=float)))) for program, exact in pairs]
    return step(
        "Compare with the program",
        table(
            ["method", "largest distance from the exact value"],
            [[name, f"{distance:.1e}"] for name, distance in zip(("value", "gradient"), distances, strict=True)],
        ),
    )


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
