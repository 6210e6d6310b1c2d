"""Average precision by hand: a list of detections, some right, and the curve that they draw."""

from __future__ import annotations

from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix
from pellucid.show.document import Document, Figure, Series, formula, remark, result, sentence, step, table
from pellucid.show.notation import Words, math, over, total

MOST = 12


def show_average_precision(hits: Data, objects: Any = None, scores: Data | None = None) -> Document:
    """Return precision, recall and the average precision by three rules, of detections that are right (1) or wrong (0).

    Parameters
    ----------
    hits : list of 0 and 1
        For each detection whether it found an object that none before it found.
    objects : int
        How many objects there are.
    scores : list of numbers, default=None
        By which detections are sorted; by default they are given by falling score.

    Examples
    --------
    >>> show_average_precision([1, 0, 1], 2).answer["voc"]
    5/6
    """
    found, n = _checked(hits, objects)
    points = [Rational(-k) for k in range(len(found))] if scores is None else list(exact_matrix(scores, "scores"))
    if len(points) != len(found):
        raise ValueError(f"scores must be one for each of {len(found)} detections, got {len(points)}.")
    order = sorted(range(len(found)), key=lambda k: (-points[k], k))
    right, precision, recall = 0, [], []
    for seen, k in enumerate(order, start=1):
        right += found[k]
        precision.append(Rational(right, seen))
        recall.append(Rational(right, n))
    highest = [max(precision[k:]) for k in range(len(order))]
    rows = [
        [
            math(k + 1),
            "right" if found[k] else "wrong",
            math(over(sum(found[j] for j in order[: i + 1]), i + 1)),
            precision[i],
            recall[i],
            highest[i],
        ]
        for i, k in enumerate(order)
    ]
    gains = [(recall[i] - (recall[i - 1] if i else 0), highest[i]) for i, k in enumerate(order) if found[k]]
    area = sum((width * height for width, height in gains), Rational(0))
    eleven, hundred = _mean(recall, highest, 10), _mean(recall, highest, 100)
    steps = (
        step(
            "Go down the list",
            sentence("After each detection: how many of those so far are right, and how many objects are found?"),
            table(["detection", "", "right of seen", "precision", f"recall (of {n})", "highest from here on"], rows),
            sentence(
                "The last column fills the dents: a recall is worth the best precision at which it, or more, is had."
            ),
            _figure(recall, highest),
        ),
        step(
            "The area under the curve (VOC since 2010)",
            sentence("Each object found widens the curve by one of ", math(n), ", at its height there:"),
            formula(total([math(width, "·", height) for width, height in gains]) if gains else 0),
            result(Words("AP"), "=", area),
        ),
        step(
            "At eleven recalls (VOC 2007)",
            sentence("The mean of the heights at 0, 0.1, ... 1; a recall that is never reached counts 0:"),
            table(
                [math("r"), "height"], [[Rational(k, 10), _height(recall, highest, Rational(k, 10))] for k in range(11)]
            ),
            result(Words("AP"), "=", eleven),
        ),
        step(
            "At 101 recalls (COCO)",
            sentence("The same at 0, 0.01, ... 1:"),
            result(Words("AP"), "=", hundred),
            remark("COCO takes the mean of this over ten thresholds of overlap, 0.5 to 0.95, and over classes."),
        ),
    )
    opening = (
        sentence(f"A detector returned {len(found)} boxes of a class for {n} objects. How good is its list?"),
        sentence("A detection is right if it overlaps an object enough that no detection of a higher score has found."),
    )
    answer = {"precision": precision, "recall": recall, "voc": area, "voc07": eleven, "coco": hundred}
    return Document("Average precision", opening, steps, answer)


def _checked(hits: Data, objects: Any) -> tuple[list[int], int]:
    found = list(exact_matrix(hits, "hits"))
    if len(found) > MOST or any(hit not in (0, 1) for hit in found):
        raise ValueError(f"hits must be at most {MOST} numbers 0 or 1 to show the work, got {hits!r}.")
    if not isinstance(objects, int) or isinstance(objects, bool) or objects < max(1, int(sum(found))):
        raise ValueError(f"objects must be a whole number, at least 1 and as many as were found, got {objects!r}.")
    return [int(hit) for hit in found], objects


def _height(recall: list[Rational], highest: list[Rational], least: Rational) -> Rational:
    return next((height for reached, height in zip(recall, highest, strict=True) if reached >= least), Rational(0))


def _mean(recall: list[Rational], highest: list[Rational], parts: int) -> Rational:
    heights = (_height(recall, highest, Rational(k, parts)) for k in range(parts + 1))
    return sum(heights, Rational(0)) / (parts + 1)


def _figure(recall: list[Rational], highest: list[Rational]) -> Figure:
    x = (0.0, *(float(one) for one in recall))
    y = (float(highest[0]), *(float(one) for one in highest))
    return Figure((Series(x, y, joined=True),), "recall", "precision", "Highest precision from each recall on.")
