"""Losses by hand: values, slopes, kinks with their intervals of subgradients, and what they say about mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.optimize.workings.cross_entropy_workings import cross_entropy_workings
from pellucid.optimize.workings.loss_pieces import Pieces, pieces_of
from pellucid.workings.document import Block, Document, Step, formula, remark, sentence, step, table
from pellucid.workings.exact_data import exact_number, rounding_remark
from pellucid.workings.notation import Math, Words, fenced, math, typed

MOST_NUMBERS = 20


def loss_workings(loss: Any, z: Data, y: Data = None) -> Document:
    """Show the loss at some margins or residuals, for ``show_work``; cross-entropy takes scores and class numbers."""
    if type(loss).__name__ == "CrossEntropyLoss":
        return cross_entropy_workings(loss, z, y)
    pieces = pieces_of(loss)
    if y is not None:
        raise ValueError(
            "y must be None, got labels. Pass margins y f(x) or residuals f(x) − y as the second argument."
        )
    numbers, rounded = _read(z)
    values = [pieces.value(number) for number in numbers]
    slopes = [pieces.slopes(number) for number in numbers]
    steps = [
        _table_step(pieces, numbers, values, slopes),
        _kink_step(pieces),
        _shape_step(pieces, numbers, values),
        _comparison_step(loss, numbers, values, slopes),
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


def _comparison_step(loss: Any, numbers: list[Rational], values: list[Any], slopes: list[tuple[Any, Any]]) -> Step:
    z = np.array([float(number) for number in numbers])
    pairs = ((loss.value(z), values), (loss.gradient(z), _least(slopes)))
    distances = [float(np.max(np.abs(program - np.array(exact, dtype=float)))) for program, exact in pairs]
    return step(
        "Compare with the program",
        table(
            ["method", "largest distance from the exact value"],
            [[name, f"{distance:.1e}"] for name, distance in zip(("value", "gradient"), distances, strict=True)],
        ),
    )
