"""Pixel accuracy, mean accuracy and mean IoU of a label map by hand, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, formula, remark, result, sentence, step, table
from pellucid.show.notation import Words, fenced, math, over
from pellucid.vision.segmentation.label_maps import as_label_maps, check_pairs

MOST_PIXELS, MOST_CLASSES = 400, 8


def show_mean_iou(truth: Data, predicted: Data = None, *, ignore: Any = None) -> Document:
    """Return how a predicted label map is scored: counts, shares of each class, and their means.

    Parameters
    ----------
    truth, predicted : array-like of one shape (height, width)
        Labels of at most 400 pixels and at most eight classes.
    ignore : label or None, default=None
        Pixels whose truth is this label do not count.

    Examples
    --------
    >>> show_mean_iou([[1, 1, 2, 2]], [[1, 2, 2, 2]]).answer["mean_iou"]
    7/12
    """
    pairs = _counted_pairs(truth, predicted, ignore)
    classes = sorted({label for pair in pairs for label in pair}, key=lambda label: (str(type(label)), label))
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"label maps must hold at most {MOST_CLASSES} classes to be shown, got {len(classes)}.")
    counts = {(a, b): pairs.count((a, b)) for a in classes for b in classes}
    right = [counts[a, a] for a in classes]
    truths = [sum(counts[a, b] for b in classes) for a in classes]
    guesses = [sum(counts[a, b] for a in classes) for b in classes]
    either = [t + g - r for t, g, r in zip(truths, guesses, right, strict=True)]
    accuracy = [Rational(r, t) if t else None for r, t in zip(right, truths, strict=True)]
    iou = [Rational(r, e) for r, e in zip(right, either, strict=True)]
    there = [value for value in accuracy if value is not None]
    rows = [[str(a), *(counts[a, b] for b in classes), t] for a, t in zip(classes, truths, strict=True)]
    pixel = Rational(sum(right), len(pairs))
    steps = (
        step(
            "Count pairs",
            sentence("Each pixel that counts is one of a pair: the row is its truth, the column what was predicted."),
            table(["truth", *map(str, classes), "all"], rows, summary=[["predicted", *guesses, len(pairs)]]),
        ),
        step(
            "Pixels that are right",
            sentence("They stand on the diagonal."),
            result(Words("pixel accuracy"), "=", over(sum(right), len(pairs)), "=", pixel),
        ),
        step("Class by class", *_class_blocks(classes, right, truths, guesses, either)),
        step(
            "Means over the classes",
            formula(Words("mean accuracy"), "=", *_mean_of(there), "=", sum(there) / len(there)),
            result(Words("mean IoU"), "=", *_mean_of(iou), "=", sum(iou) / len(iou)),
            remark("A class of many pixels counts no more here than one of few: that is why both means are looked at."),
        ),
    )
    opening = (sentence("How well does a predicted label map agree with the true one?"),)
    answer = {
        "pixel_accuracy": pixel,
        "mean_accuracy": sum(there) / len(there),
        "mean_iou": sum(iou) / len(iou),
        "class_iou": iou,
    }
    return Document("Mean intersection over union", opening, steps, answer)


def _counted_pairs(truth: Data, predicted: Data, ignore: Any) -> list[tuple[Any, Any]]:
    """Return truth and prediction of each pixel that counts."""
    maps, guesses = as_label_maps([truth], "truth"), as_label_maps([predicted], "predicted")
    check_pairs(("truth", "predicted"), maps, guesses)
    if maps[0].size > MOST_PIXELS:
        raise ValueError(f"label maps must have at most {MOST_PIXELS} pixels to be shown, got {maps[0].size}.")
    both = zip(maps[0].ravel().tolist(), guesses[0].ravel().tolist(), strict=True)
    pairs = [pair for pair in both if ignore is None or pair[0] != ignore]
    if not pairs:
        raise ValueError("truth must hold a pixel that counts, got none. Check the label to ignore.")
    return pairs


def _class_blocks(
    classes: Sequence[Any], right: Sequence[int], truths: Sequence[int], guesses: Sequence[int], either: Sequence[int]
) -> list[Block]:
    rows = [
        [str(a), r, over(r, t) if t else "none", math(t, "+", g, "−", r, "=", e), math(over(r, e), "=", Rational(r, e))]
        for a, r, t, g, e in zip(classes, right, truths, guesses, either, strict=True)
    ]
    blocks: list[Block] = [
        sentence(
            "Accuracy is the share of a class's own pixels that are right. IoU asks for more: right pixels, over those "
            "that are of the class or were said to be. The right ones are in both, and must be counted once."
        ),
        table(["class", "right", "accuracy", "either", "IoU"], rows),
    ]
    if not all(truths):
        blocks.append(remark("A class that is only predicted has no accuracy, and the IoU 0."))
    return blocks


def _mean_of(values: Sequence[Rational]) -> list[Any]:
    parts: list[Any] = []
    for value in values:
        parts += [*(["+"] if parts else []), value]
    return [over(1, len(values)), "·", fenced(math(*parts))]
