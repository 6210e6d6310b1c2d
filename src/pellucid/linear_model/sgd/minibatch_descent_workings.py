"""Stochastic gradient descent with batches by hand: the mean slope of a few rows, one step for each batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Matrix, Rational, zeros

from pellucid.core.checks import check_one_of
from pellucid.core.types import Data
from pellucid.linear_model.sgd.perceptron_workings import two_classes
from pellucid.linear_model.sgd.sgd_classifier_workings import LOSSES, WRITTEN
from pellucid.optimize.workings.pencil import Pencil
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import ExactData, class_column, exact_features, exact_number, read_labels
from pellucid.show.notation import column, fenced, math, over, typed

MOST_BATCHES = 8
MOST_FEATURES = 3


def show_minibatch_descent(
    X: Data,
    y: Data,
    batches: Sequence[Sequence[int]],
    *,
    loss: str = "hinge",
    step_size: Any = 1,
    alpha: Any = 0,
) -> Document:
    """Return one step of a linear classifier of two classes for each batch of rows, counted from 1, starting from 0.

    ``SGDClassifier`` takes one row at a time, as scikit-learn's does; a batch takes the mean of several slopes.

    Examples
    --------
    >>> work = show_minibatch_descent([[1], [3], [-1], [-2]], [1, 1, 0, 0], [[1, 3], [2, 4]])
    >>> work.answer["coef_"], work.answer["intercept_"]
    ([1], 0)
    """
    check_one_of(tuple(LOSSES), loss=loss)
    features, names, rounded = exact_features(X, max_features=MOST_FEATURES)
    labels = read_labels(y, features.rows)
    classes = two_classes(labels)
    signs = [1 if label == classes[1] else -1 for label in labels]
    data = ExactData(features, Matrix(signs), names, rounded)
    rows = _checked(batches, features.rows)
    eta, decay = (exact_number(value, name)[0] for value, name in ((step_size, "step_size"), (alpha, "alpha")))
    if eta <= 0 or decay < 0:
        raise ValueError(f"step_size must be above 0 and alpha at least 0, got {step_size!r} and {alpha!r}.")
    pencil = Pencil()
    w, b = zeros(features.cols, 1), Rational(0)
    steps = [_rule_step(loss, has_penalty=decay > 0)]
    objectives = [_objective(data, loss, decay, w, b, pencil)]
    for batch in rows:
        shown, w, b = _batch_step(len(steps), data, batch, loss, eta, decay, w, b, pencil)
        steps.append(shown)
        objectives.append(_objective(data, loss, decay, w, b, pencil))
    steps.append(_end_step(objectives))
    told: list[Any] = [", the penalty ", math("α =", typed(decay))] if decay else []
    answer = {"coef_": list(w), "intercept_": b, "objectives": objectives}
    opening: list[Block] = [
        sentence(
            f"Write +1 for {classes[1]} and −1 for {classes[0]}. The score of a row is ", math("f = w x + b"), "."
        ),
        *data.opening(class_column(labels), (math("y"), data.y)),
        sentence("The step size is ", math("η =", typed(eta)), *told, "."),
        *pencil.remark(),
    ]
    return Document("Gradient descent with batches", tuple(opening), tuple(steps), answer)


def _checked(batches: Sequence[Sequence[int]], n: int) -> list[list[int]]:
    """Return the batches counted from 0, or refuse them."""
    try:
        rows = [[int(i) - 1 for i in batch] for batch in batches]
    except (TypeError, ValueError):
        rows = []
    if not 1 <= len(rows) <= MOST_BATCHES or not all(rows) or any(not 0 <= i < n for batch in rows for i in batch):
        wanted = f"batches must be 1 to {MOST_BATCHES} lists of rows from 1 to {n}"
        raise ValueError(f"{wanted}, got {batches!r}. Write [[1, 2], [3, 4]].")
    return rows


def _objective(data: ExactData, loss: str, alpha: Rational, w: Matrix, b: Rational, pencil: Pencil) -> Rational:
    values = [LOSSES[loss](int(data.y[i]), (data.X.row(i) * w)[0] + b)[0] for i in range(data.n_samples)]
    return pencil.kept(sum(values, Rational(0)) / data.n_samples + alpha / 2 * (w.T * w)[0])


def _rule_step(loss: str, *, has_penalty: bool) -> Step:
    written, slope = WRITTEN[loss]
    mean_slope = (over(1, "|B|"), "∑ ℓ′_i x_i")
    kept = math(fenced("1 − η α"), "w") if has_penalty else math("w")
    return step(
        "One step",
        sentence("The loss of one row and its derivative in the score are"),
        formula("ℓ =", written),
        formula("ℓ′ =", slope),
        sentence("The rows of a batch B stand for all. Go down the mean of their slopes:"),
        formula("w ←", kept, "− η", *mean_slope),
        formula("b ← b − η", over(1, "|B|"), "∑ ℓ′_i"),
        remark("A batch of one row is stochastic gradient descent, one of all rows gradient descent."),
    )


def _batch_step(
    number: int,
    data: ExactData,
    batch: list[int],
    loss: str,
    eta: Rational,
    alpha: Rational,
    w: Matrix,
    b: Rational,
    pencil: Pencil,
) -> tuple[Step, Matrix, Rational]:
    """Return the step about a batch, and the weights after it."""
    scores = [pencil.kept((data.X.row(i) * w)[0] + b) for i in batch]
    slopes = [pencil.kept(LOSSES[loss](int(data.y[i]), score)[1]) for i, score in zip(batch, scores, strict=True)]
    rows = [
        [math(i + 1), math(data.y[i]), math(score), math(slope)]
        for i, score, slope in zip(batch, scores, slopes, strict=True)
    ]
    pull = sum((slope * data.X.row(i).T for i, slope in zip(batch, slopes, strict=True)), zeros(data.n_features, 1))
    pull, shift = pull / len(batch), sum(slopes, Rational(0)) / len(batch)
    new_w, new_b = pencil.kept((1 - eta * alpha) * w - eta * pull), pencil.kept(b - eta * shift)
    mean = over(1, len(batch))
    return (
        step(
            f"Batch {number}: {'row' if len(batch) == 1 else 'rows'} {', '.join(str(i + 1) for i in batch)}",
            table([math("i"), math("y"), math("f"), math("ℓ′")], rows),
            formula(mean, "∑ ℓ′_i x_i =", column(list(pull)), ",", mean, "∑ ℓ′_i =", shift),
            result("w =", column(list(new_w)), ", b =", new_b),
        ),
        new_w,
        new_b,
    )


def _end_step(objectives: list[Rational]) -> Step:
    rows = [[math(k), objective] for k, objective in enumerate(objectives)]
    return step(
        "What it was good for",
        sentence("The mean loss of all rows, with its penalty, after each batch:"),
        table(["batches", "objective"], rows),
        remark("It may rise: a batch knows its own rows only."),
    )
