"""Cross-entropy by hand: scores to probabilities, the loss, and its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
from sympy import Expr, Integer, Matrix, exp, log

from pellucid.core.types import Data
from pellucid.workings.document import Block, Document, Step, formula, sentence, step, table
from pellucid.workings.exact_data import exact_features, rounding_remark
from pellucid.workings.exact_labels import read_labels
from pellucid.workings.notation import Script, Words, fenced, math, over, typed


def cross_entropy_workings(loss: Any, scores: Data, y: Data) -> Document:
    """Show probabilities, losses and gradients of a few rows of scores."""
    Z, _, rounded = exact_features(scores)
    labels = read_labels(y, Z.rows)
    if not all(isinstance(label, int) and 0 <= label < Z.cols for label in labels):
        raise ValueError(f"y must hold class numbers from 0 to {Z.cols - 1}, got {labels}.")
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
    steps = (
        _share_step(Z, P),
        _value_step(labels, P, values),
        _slope_step(slopes),
        _comparison_step(loss, Z, labels, values, slopes),
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


def _comparison_step(loss: Any, Z: Matrix, labels: list[int], values: list[Expr], slopes: list[list[Expr]]) -> Step:
    scores = np.array(Z.tolist(), dtype=float)
    pairs = (("value", loss.value(scores, labels), values), ("gradient", loss.gradient(scores, labels), slopes))
    rows = [
        [name, f"{float(np.max(np.abs(program - np.array(exact, dtype=float)))):.1e}"] for name, program, exact in pairs
    ]
    return step("Compare with the program", table(["method", "largest distance from the exact value"], rows))


def _about(value: Expr) -> str:
    return f"{float(value):.4f}".replace("-", "−")
