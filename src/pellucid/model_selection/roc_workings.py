"""The ROC curve and its area by hand: thresholds from the highest score down, and all pairs counted."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Document, Figure, Series, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number, read_labels
from pellucid.show.notation import math, over, typed

MOST_ROWS = 20


def show_roc(scores: Data, y: Data) -> Document:
    """Return the ROC curve of scores step by step; the second of the two classes, in order, is the positive one.

    Examples
    --------
    >>> show_roc([0.9, 0.8, 0.3, 0.1], ["yes", "no", "yes", "no"]).answer["auc"]
    3/4
    """
    values = np.asarray(scores)
    if values.ndim != 1 or not 2 <= len(values) <= MOST_ROWS:
        raise ValueError(f"scores must be a list of 2 to {MOST_ROWS} numbers to be worked by hand, got {values.shape}.")
    exact = [exact_number(value, "scores")[0] for value in values]
    labels = read_labels(y, len(exact))
    classes = list(np.unique(labels).tolist())
    if len(classes) != 2:
        raise ValueError(f"y must have two classes for a ROC curve, got {len(classes)}.")
    is_positive = [label == classes[1] for label in labels]
    n_positive, n_negative = sum(is_positive), len(labels) - sum(is_positive)
    rows, points = _curve(exact, is_positive)
    pairs, halves = _pairs(exact, is_positive)
    area = (pairs + halves * Rational(1, 2)) / (n_positive * n_negative)
    parts = [(b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points)]
    order = sorted(range(len(exact)), key=lambda i: (-exact[i], i))
    listing = table(
        [math("i"), "score", "class"], [[math(i + 1), typed(exact[i]), str(labels[i])] for i in order],
        caption="The rows, the highest score first",
    )  # fmt: skip
    curve = Series(tuple(float(x) for x, _ in points), tuple(float(y) for _, y in points), joined=True, label="ROC")
    steps = (
        step(
            "Lower the threshold",
            sentence("Rows with a score of at least t are called positive. Of each class the share that is called so:"),
            formula("TPR =", over("TP", n_positive), ", FPR =", over("FP", n_negative)),
            table([math("t"), "TP", "FP", "TPR", "FPR"], rows),
        ),
        step(
            "Draw it",
            Figure((curve,), "false positives (share)", "true positives (share)", "The ROC curve"),
        ),
        step(
            "The area",
            sentence("Between two neighboring points the curve is straight, so the area is a sum of trapezoids:"),
            formula("A = ∑", over(math("TPR + TPR'"), 2), "· step of FPR =", sum(parts, Rational(0))),
            sentence(
                f"The same number counts pairs: of the {n_positive * n_negative} pairs of a positive and a negative "
                f"row the positive one has the higher score in {pairs}, and in {halves} both are equal and count half:"
            ),
            result("AUC =", over(pairs + halves * Rational(1, 2), n_positive * n_negative), "=", area),
            remark("A score that says nothing has 1/2, one that orders all pairs rightly 1."),
        ),
    )
    opening = (sentence(f"How well do scores tell {classes[1]} (positive) from {classes[0]}?"), listing)
    answer = {"auc": area, "fpr": [x for x, _ in points], "tpr": [y for _, y in points]}
    return Document("The ROC curve and the area under it", opening, steps, answer)


def _curve(scores: list[Rational], is_positive: list[bool]) -> tuple[list[list[Any]], list[tuple[Rational, Rational]]]:
    """Return a line for each threshold, and the points of the curve, both from 0 on."""
    n = sum(is_positive), len(scores) - sum(is_positive)
    rows: list[list[Any]] = [["above all", math(0), math(0), math(0), math(0)]]
    points = [(Rational(0), Rational(0))]
    for threshold in sorted(set(scores), reverse=True):
        called = [i for i, score in enumerate(scores) if score >= threshold]
        hits = sum(is_positive[i] for i in called)
        false = len(called) - hits
        points.append((Rational(false, n[1]), Rational(hits, n[0])))
        rows.append([typed(threshold), math(hits), math(false), math(points[-1][1]), math(points[-1][0])])
    return rows, points


def _pairs(scores: list[Rational], is_positive: list[bool]) -> tuple[int, int]:
    """Return in how many pairs of both classes the positive row has the higher score, and in how many the same."""
    ours = [s for s, hit in zip(scores, is_positive, strict=True) if hit]
    others = [s for s, hit in zip(scores, is_positive, strict=True) if not hit]
    return sum(bool(a > b) for a in ours for b in others), sum(a == b for a in ours for b in others)
