"""Scores by hand: the confusion matrix with its shares, or the residuals with their sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sympy import Rational, sqrt

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import Label, exact_number, read_labels, sorted_classes
from pellucid.show.notation import Words, fenced, math, over, root, typed

MOST_ROWS = 20
NUMBERS = ("mse", "rmse", "rss", "mae", "r2")


def show_scores(_: Any, y_true: Data, y_pred: Data) -> Document:
    """Show the scores of numbers if the truth has fractions, else those of labels; for ``show_work``."""
    fractional = np.asarray(y_true).dtype.kind == "f"
    return score_workings("mse" if fractional else "accuracy", y_true, y_pred)


def score_workings(metric: str | Callable[..., float], y_true: Data, y_pred: Data) -> Document:
    """Show how scores follow from truth and predictions, in fractions.

    Parameters
    ----------
    metric : str
        ``"accuracy"`` and its kin count labels; ``"mse"`` and its kin add up residuals.
    y_true, y_pred : array-like of at most 20 entries
    """
    n = len(y_true)
    if not 1 <= n <= MOST_ROWS or len(y_pred) != n:
        raise ValueError(
            f"y_true and y_pred must have the same number of at most {MOST_ROWS} rows, got {n} and {len(y_pred)}."
        )
    return _of_numbers(y_true, y_pred) if metric in NUMBERS else _of_labels(y_true, y_pred, n)


def _of_labels(y_true: Data, y_pred: Data, n: int) -> Document:
    truth, given = read_labels(y_true, n), read_labels(y_pred, n)
    classes = sorted_classes([*truth, *given])
    pairs = list(zip(truth, given, strict=True))
    right = sum(a == b for a, b in pairs)
    steps = [_confusion_step(pairs, classes), _accuracy_step(right, n)]
    answer: dict[str, Any] = {"accuracy": Rational(right, n), "error rate": Rational(n - right, n)}
    if len(classes) == 2:
        more, shares = _positive_step(pairs, classes)
        steps.append(more)
        answer |= shares
    opening = (
        sentence("Compare what is true with what was predicted, row by row."),
        table(
            [math("i"), "true", "predicted", ""],
            [[math(i + 1), str(a), str(b), "" if a == b else "wrong"] for i, (a, b) in enumerate(pairs)],
        ),
    )
    return Document("Scores of a classifier", opening, tuple(steps), answer)


def _confusion_step(pairs: list[tuple[Any, Any]], classes: list[Label]) -> Step:
    rows = [[str(true), *(math(pairs.count((true, given))) for given in classes)] for true in classes]
    return step(
        "Count the confusions",
        sentence("A row per true class, a column per prediction. What is right stands on the diagonal."),
        table(["true class, predicted as:", *map(str, classes)], rows),
    )


def _accuracy_step(right: int, n: int) -> Step:
    return step(
        "Accuracy and error rate",
        result(Words("accuracy"), "=", over(right, n), "=", Rational(right, n)),
        formula(Words("error rate"), "=", over(n - right, n), "=", Rational(n - right, n)),
    )


def _positive_step(pairs: list[tuple[Any, Any]], classes: list[Label]) -> tuple[Step, dict[str, Rational]]:
    positive = classes[1]
    tp = sum(a == positive == b for a, b in pairs)
    fp = sum(b == positive != a for a, b in pairs)
    fn = sum(a == positive != b for a, b in pairs)
    precision = Rational(tp, tp + fp) if tp + fp else Rational(0)
    recall = Rational(tp, tp + fn) if tp + fn else Rational(0)
    f1 = Rational(2 * tp, 2 * tp + fp + fn) if tp + fp + fn else Rational(0)
    blocks: list[Block] = [
        sentence(f"Call {positive} positive. True positives: {tp}, false positives: {fp}, false negatives: {fn}."),
        formula(Words("precision"), "=", over("TP", "TP + FP"), "=", over(tp, tp + fp), "=", precision)
        if tp + fp
        else sentence("Nothing was called positive, so the precision is set to 0."),
        formula(Words("recall"), "=", over("TP", "TP + FN"), "=", over(tp, tp + fn), "=", recall)
        if tp + fn
        else sentence("Nothing is positive, so the recall is set to 0."),
        sentence("Their harmonic mean is"),
        result("F_1 =", over("2 TP", "2 TP + FP + FN"), "=", f1),
        remark(
            "Precision asks: of those called positive, how many are? Recall: of the positives, how many were called?"
        ),
    ]
    return step("Precision and recall", *blocks), {"precision": precision, "recall": recall, "f1": f1}


def _of_numbers(y_true: Data, y_pred: Data) -> Document:
    truth = [exact_number(value, "y_true")[0] for value in y_true]
    given = [exact_number(value, "y_pred")[0] for value in y_pred]
    n = len(truth)
    residuals = [b - a for a, b in zip(truth, given, strict=True)]
    rss = sum((r**2 for r in residuals), Rational(0))
    mae = sum(map(abs, residuals), Rational(0)) / n
    mean = sum(truth, Rational(0)) / n
    spread = sum(((a - mean) ** 2 for a in truth), Rational(0))
    rows = [
        [math(i + 1), typed(a), typed(b), r, abs(r), r**2]
        for i, (a, b, r) in enumerate(zip(truth, given, residuals, strict=True))
    ]
    steps = [
        step(
            "Residuals",
            table(
                [
                    math("i"),
                    math("y_i"),
                    math("ŷ_i"),
                    math("r_i = ŷ_i − y_i"),
                    math(fenced("r_i", "||")),
                    math("r_i^2"),
                ],
                rows,
                summary=[["sum", "", "", sum(residuals, Rational(0)), mae * n, rss]],
            ),
        ),
        step(
            "Average them",
            formula("RSS =", rss),
            result("MSE =", over("RSS", "n"), "=", rss / n),
            formula("RMSE =", root("MSE"), "=", sqrt(rss / n)),
            formula("MAE =", mae),
        ),
    ]
    answer: dict[str, Any] = {"rss": rss, "mse": rss / n, "rmse": sqrt(rss / n), "mae": mae}
    if spread:
        answer["r2"] = 1 - rss / spread
        steps.append(
            step(
                "Compare with the mean",
                sentence(
                    "Predicting the mean ", math("ȳ =", mean), " every time would leave ", math("TSS =", spread), "."
                ),
                result("R^2 = 1 −", over("RSS", "TSS"), "=", answer["r2"]),
            )
        )
    return Document(
        "Scores of a regression", (sentence("How far are the predictions from the truth?"),), tuple(steps), answer
    )
