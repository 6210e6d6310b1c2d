"""Overlap of boxes by hand: intersection over union, anchors matched, boxes suppressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Math, Words, fenced, math, over

MOST_BOXES = 8

Box = Sequence[Rational]


def show_iou(box: Data, other: Data = None) -> Document:
    """Return the intersection over union of two boxes, and the generalized one.

    Parameters
    ----------
    box, other : array-like of four numbers
        x1, y1, x2, y2, with x1 <= x2 and y1 <= y2.

    Examples
    --------
    >>> show_iou([0, 0, 2, 2], [1, 1, 3, 3]).answer["iou"]
    1/7
    """
    a, b = exact_boxes([box], "box")[0], exact_boxes([other], "other")[0]
    inner = (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
    hull = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
    width, height = inner[2] - inner[0], inner[3] - inner[1]
    shared = shared_area(a, b)
    union, around = area(a) + area(b) - shared, area(hull)
    iou, giou = overlap(a, b), overlap(a, b) - ((around - union) / around if around else 0)
    steps = [
        step(
            "What both cover",
            sentence("From the larger of the left and upper edges to the smaller of the right and lower ones:"),
            formula(
                "x :",
                Words("max"),
                fenced(_list(a[0], b[0])),
                "=",
                inner[0],
                Words(" to min"),
                fenced(_list(a[2], b[2])),
                "=",
                inner[2],
                ", w =",
                width,
            ),
            formula(
                "y :",
                Words("max"),
                fenced(_list(a[1], b[1])),
                "=",
                inner[1],
                Words(" to min"),
                fenced(_list(a[3], b[3])),
                "=",
                inner[3],
                ", h =",
                height,
            ),
            *(
                [result("I =", width, "·", height, "=", shared)]
                if min(width, height) > 0
                else [sentence("One of them is not above 0: the boxes do not meet."), result("I = 0")]
            ),
        ),
        step(
            "What they cover together",
            sentence("Both areas, less what was counted twice:"),
            formula(Words("A ="), _size(a), "=", area(a), ", B =", _size(b), "=", area(b)),
            result("U = A + B − I =", area(a), "+", area(b), "−", shared, "=", union),
        ),
        step("Their quotient", result(Words("IoU"), "=", over("I", "U"), "=", iou)),
        step(
            "If they do not meet",
            sentence("The IoU is 0, however far apart. The smallest box around both tells more:"),
            formula("C =", _size(hull), "=", around),
            result(
                Words("GIoU"),
                "=",
                Words("IoU"),
                "−",
                over("C − U", "C"),
                "=",
                iou,
                "−",
                over(around - union, around) if around else math(0),
                "=",
                giou,
            ),
        ),
    ]
    opening = (
        sentence("How much do two boxes overlap? Each is given by its left, upper, right and lower edge:"),
        formula(Words("a ="), fenced(_list(*a)), Words(", b ="), fenced(_list(*b))),
    )
    answer = {"intersection": shared, "union": union, "iou": iou, "giou": giou}
    return Document("Intersection over union", opening, tuple(steps), answer)


def show_suppression(boxes: Data, scores: Data = None, threshold: Any = 0.5) -> Document:
    """Return the rounds of non-maximum suppression: the best box left is kept, and removes those like it.

    Parameters
    ----------
    boxes : array-like of shape (n, 4)
        (x1, y1, x2, y2) of at most eight boxes.
    scores : array-like of shape (n,)
        How sure each box is; of equal scores the lower number comes first.
    threshold : number, default=0.5
        Largest IoU of two boxes that are both kept.

    Examples
    --------
    >>> show_suppression([[0, 0, 4, 4], [0, 0, 4, 5], [9, 9, 12, 12]], [0.8, 0.9, 0.7]).answer["kept"]
    [1, 2]
    """
    each, limit = exact_boxes(boxes, "boxes"), exactly(threshold, "threshold")
    points = list(exact_matrix(scores, "scores"))
    if len(points) != len(each):
        raise ValueError(f"scores must be one for each of {len(each)} boxes, got {len(points)}.")
    left = sorted(range(len(each)), key=lambda i: (-points[i], i))
    order = [[math(i + 1), points[i], _list(*each[i])] for i in left]
    steps = [
        step(
            "Sort",
            sentence("By falling score; of equal scores the lower number comes first:"),
            table(["box", "score", "edges"], order),
        )
    ]
    kept, by = [], [-1] * len(each)
    while left:
        best, left = left[0], left[1:]
        kept.append(best)
        rows, going = [], []
        for i in left:
            value = overlap(each[best], each[i])
            is_over = value > limit
            rows.append([math(i + 1), shared_area(each[best], each[i]), value, "suppressed" if is_over else "stays"])
            if is_over:
                by[i] = best
                going.append(i)
        left = [i for i in left if i not in going]
        blocks: list[Block] = [sentence(f"Of the boxes left, {best + 1} has the highest score: it is kept.")]
        if rows:
            blocks.append(table(["box", "shared with it", "IoU", ""], rows))
        steps.append(step(f"Keep box {best + 1}", *blocks))
    steps.append(_witness_step(kept, by))
    opening = (
        sentence(
            "Many boxes stand for one object. Of those that overlap by more than ", math(limit), " keep the best:"
        ),
    )
    return Document("Non-maximum suppression", opening, tuple(steps), {"kept": kept, "suppressed_by": by})


def _witness_step(kept: list[int], by: list[int]) -> Step:
    names = ", ".join(str(i + 1) for i in kept)
    rows = [[math(i + 1), math(j + 1)] for i, j in enumerate(by) if j >= 0]
    blocks: list[Block] = [sentence(f"Kept, by falling score: {names}.")]
    if rows:
        blocks += [sentence("Each other box names the kept one in its way:"), table(["box", "suppressed by"], rows)]
    blocks.append(
        remark(
            "No two kept boxes overlap by more, and each other one does so with a better kept one: no other set does."
        )
    )
    return step("Check the answer", *blocks)


def show_anchor_match(anchors: Data, boxes: Data = None, high: Any = 0.7, low: Any = 0.3) -> Document:
    """Return which object each anchor is to find, and how much they overlap.

    Parameters
    ----------
    anchors, boxes : array-like of shapes (n, 4) and (m, 4)
        (x1, y1, x2, y2) of at most eight places where an object may be, and of at most eight objects.
    high, low : number, default=0.7, 0.3
        IoU from which on an anchor is matched, and below which it is background; between them it is ignored.

    Examples
    --------
    >>> show_anchor_match([[0, 0, 4, 4], [2, 0, 6, 4]], [[0, 0, 4, 5]]).answer["box"]
    [0, -1]
    """
    places, objects = exact_boxes(anchors, "anchors"), exact_boxes(boxes, "boxes")
    upper, lower = exactly(high, "high"), exactly(low, "low")
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"low and high must be 0 <= low <= high <= 1, got {low!r} and {high!r}.")
    iou = [[overlap(a, b) for b in objects] for a in places]
    head = ["anchor", *(f"object {j + 1}" for j in range(len(objects))), "best", ""]
    box, rows = [], []
    for i, values in enumerate(iou):
        best = max(values)
        first = values.index(best)
        box.append(first if best >= upper else -2 if best >= lower else -1)
        said = f"object {first + 1}" if box[-1] >= 0 else "ignored" if box[-1] == -2 else "background"
        rows.append([math(i + 1), *values, best, said])
    tops = [max(column) for column in zip(*iou, strict=True)]
    rescued = [i for i, values in enumerate(iou) if any(v == t > 0 for v, t in zip(values, tops, strict=True))]
    with_best = [
        max(range(len(objects)), key=lambda j: (iou[i][j], -j)) if i in rescued else k for i, k in enumerate(box)
    ]
    steps = (
        step(
            "Overlaps",
            sentence("The intersection over union of every anchor with every object:"),
            table(head, rows),
            sentence(
                "An anchor is to find the object it overlaps most, the first of equal ones: from ",
                math(upper),
                " on it is matched, below ",
                math(lower),
                " it is background, between them it is not asked.",
            ),
        ),
        step(
            "No object goes without",
            sentence("The best that each object gets may be below ", math(upper), ":"),
            table(
                ["object", "best overlap", "of anchors"],
                [
                    [math(j + 1), t, ", ".join(str(i + 1) for i in rescued if iou[i][j] == t) or "none"]
                    for j, t in enumerate(tops)
                ],
            ),
            sentence("So the anchors that overlap some object most are matched, too, to the object they overlap most."),
            result(
                *_joined(
                    [
                        Words("background") if k == -1 else Words("ignored") if k == -2 else Words(f"object {k + 1}")
                        for k in with_best
                    ]
                )
            ),
        ),
    )
    opening = (sentence(f"Which of {len(objects)} objects is each of {len(places)} anchors to find?"),)
    return Document("Anchors matched to objects", opening, steps, {"box": box, "with_best": with_best, "overlaps": iou})


def exact_boxes(values: Data, name: str) -> list[Box]:
    """Return boxes as rational numbers, or refuse what are none."""
    rows = exact_matrix(values, name).tolist()
    if len(rows) > MOST_BOXES or any(len(row) != 4 for row in rows):
        raise ValueError(
            f"{name} must be at most {MOST_BOXES} boxes x1, y1, x2, y2 to show the work, got {len(rows)} of "
            f"{len(rows[0])} numbers."
        )
    for row in rows:
        if row[2] < row[0] or row[3] < row[1]:
            raise ValueError(f"{name} must have x1 <= x2 and y1 <= y2, got {row}. Give edges, not corner and size.")
    return rows


def area(box: Box) -> Rational:
    """Return width times height."""
    return (box[2] - box[0]) * (box[3] - box[1])


def shared_area(a: Box, b: Box) -> Rational:
    """Return the area of what two boxes share."""
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    return width * height if min(width, height) > 0 else Rational(0)


def overlap(a: Box, b: Box) -> Rational:
    """Return the intersection over union; 0 for empty boxes."""
    union = area(a) + area(b) - shared_area(a, b)
    return shared_area(a, b) / union if union else Rational(0)


def _size(box: Box) -> Math:
    return math(box[2] - box[0], "·", box[3] - box[1])


def _list(*values: Any) -> Math:
    return math(*_joined(values))


def _joined(values: Sequence[Any]) -> list[Any]:
    """Return values with commas between them."""
    return [part for value in values for part in (",", value)][1:]
