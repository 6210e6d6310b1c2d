"""What the heads of a detector compute, by hand: offsets of a box, the focal loss, one cell of RoI align."""

from __future__ import annotations

from math import floor
from typing import Any

from sympy import Matrix, Rational, log

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Script, Words, cases, fenced, math, matrix, over
from pellucid.vision.detection.workings.overlap_workings import exact_boxes

DIGITS = 4
MOST_SIDE = 8


def show_box_regression(box: Data, anchor: Data = None) -> Document:
    """Return the four offsets that turn an anchor into a box, and the way back.

    Parameters
    ----------
    box, anchor : array-like of four numbers
        x1, y1, x2, y2 of the box to be written, and of the anchor; sides above 0.

    Examples
    --------
    >>> show_box_regression([3, 0, 5, 4], [0, 0, 4, 2]).answer["offsets"]
    [1/2, 1/2, -log(2), log(2)]
    """
    b, a = exact_boxes([box], "box")[0], exact_boxes([anchor], "anchor")[0]
    if min(b[2] - b[0], b[3] - b[1], a[2] - a[0], a[3] - a[1]) <= 0:
        raise ValueError("box and anchor must have sides above 0: what is empty has no logarithm.")
    (x, y, w, h), (xa, ya, wa, ha) = (_centered(one) for one in (b, a))
    offsets = [(x - xa) / wa, (y - ya) / ha, log(w / wa), log(h / ha)]
    steps = (
        step(
            "Centers and sizes",
            table(
                ["", math("x"), math("y"), math("w"), math("h")],
                [["box", x, y, w, h], ["anchor", xa, ya, wa, ha]],
            ),
        ),
        step(
            "Offsets",
            sentence("The center moves by shares of the anchor's size; the size grows by a factor, as its logarithm:"),
            formula("t_x =", over("x − x_a", "w_a"), "=", over(x - xa, wa), "=", offsets[0]),
            formula("t_y =", over("y − y_a", "h_a"), "=", over(y - ya, ha), "=", offsets[1]),
            formula("t_w =", Words("log"), over("w", "w_a"), "=", Words("log"), w / wa, *_about(offsets[2])),
            formula("t_h =", Words("log"), over("h", "h_a"), "=", Words("log"), h / ha, *_about(offsets[3])),
            remark("Enlarge the image: box and anchor grow alike, and all four stay the same."),
        ),
        step(
            "And back",
            sentence("A network says the offsets; the box is then:"),
            formula("x = x_a + w_a t_x =", xa, "+", wa, "·", offsets[0], "=", x),
            formula("y = y_a + h_a t_y =", ya, "+", ha, "·", offsets[1], "=", y),
            formula("w = w_a", Script(math("e"), above=math("t_w")), "=", wa, "·", w / wa, "=", w),
            formula("h = h_a", Script(math("e"), above=math("t_h")), "=", ha, "·", h / ha, "=", h),
            result(Words("box ="), fenced(math(x - w / 2, ",", y - h / 2, ",", x + w / 2, ",", y + h / 2))),
        ),
    )
    opening = (sentence("Write a box as what has to be done to an anchor:"),)
    return Document("Parameterized box regression", opening, steps, {"offsets": offsets})


def show_focal_loss(probability: Any, target: Any = 1, gamma: Any = 2, alpha: Any = 0.25) -> Document:
    """Return the focal loss of one answer: the cross-entropy, less of it the surer a right answer is.

    Parameters
    ----------
    probability : number strictly between 0 and 1
        Of there being an object, as the network says.
    target : {0, 1}, default=1
        Whether there is one.
    gamma : whole number, default=2
        How fast the loss of sure answers fades; 0 leaves the cross-entropy.
    alpha : number between 0 and 1, default=0.25
        Weight of objects; background weighs 1 - alpha.

    Examples
    --------
    >>> show_focal_loss(0.9).answer["factor"]
    1/400
    """
    p, share = exactly(probability, "probability"), exactly(alpha, "alpha")
    if not 0 < p < 1 or not 0 <= share <= 1:
        raise ValueError(f"probability must be above 0 and below 1, alpha 0 to 1, got {probability!r} and {alpha!r}.")
    if target not in (0, 1) or not isinstance(gamma, int) or gamma < 0:
        raise ValueError(f"target must be 0 or 1 and gamma a whole number from 0 on, got {target!r} and {gamma!r}.")
    right, weight = (p, share) if target else (1 - p, 1 - share)
    fading = (1 - right) ** gamma
    entropy = -float(log(right))
    loss = float(weight * fading) * entropy
    steps = (
        step(
            "How sure of what is right",
            formula("p_t =", cases(("p", Words("object")), ("1 − p", Words("background"))), "=", right),
            formula("α_t =", cases(("α", Words("object")), ("1 − α", Words("background"))), "=", weight),
        ),
        step(
            "Cross-entropy",
            result(Words("CE"), "= −", Words("log"), "p_t = −", Words("log"), right, "≈", _rounded(entropy)),
        ),
        step(
            "What is left of it",
            sentence("An answer that is right already says little, and there are thousands of those in an image:"),
            formula(
                Script(fenced("1 − p_t"), above=math("γ")),
                "=",
                Script(fenced(1 - right), above=math(gamma)),
                "=",
                fading,
            ),
            result(
                Words("FL"),
                "= − α_t",
                Script(fenced("1 − p_t"), above=math("γ")),
                Words("log"),
                "p_t =",
                weight,
                "·",
                fading,
                "·",
                _rounded(entropy),
                "≈",
                _rounded(loss),
            ),
        ),
        _fading_step(gamma),
    )
    opening = (
        sentence(
            "A detector says that a place holds an object with probability ",
            math("p =", p),
            "; ",
            "there is one." if target else "there is none.",
        ),
        formula("γ =", gamma, ", α =", share),
    )
    answer = {"p_t": right, "factor": weight * fading, "cross_entropy": entropy, "loss": loss}
    return Document("Focal loss", opening, steps, answer)


def _fading_step(gamma: int) -> Step:
    rows = [[p, (1 - p) ** gamma] for p in (Rational(k, 100) for k in (10, 50, 90, 99))]
    return step(
        "What the power does",
        sentence("The share of the cross-entropy that stays, for answers that are wrong, unsure and right:"),
        table([math("p_t"), "share"], rows),
    )


def show_roi_align(
    features: Data,
    box: Data = None,
    *,
    cell: tuple[int, int] = (0, 0),
    size: int = 2,
    samples: int = 2,
    aligned: bool = False,
) -> Document:
    """Return one cell of RoI align: the mean of a few samples of a feature map, each between four of its pixels.

    Parameters
    ----------
    features : table of numbers
        One channel of a feature map.
    box : x1, y1, x2, y2 in pixels of the feature map
        The region that is read.
    cell : (row, column), default=(0, 0)
        Which of the cells.
    size, samples : int, default=2
        Cells along each side of the box, and samples along each side of a cell.
    aligned : bool, default=False
        Whether pixels have their centers at halves, and so everything moves by half a pixel.

    Examples
    --------
    >>> show_roi_align([[0, 1, 2], [3, 4, 5], [6, 7, 8]], [0, 0, 2, 2]).answer["value"]
    2
    """
    pixels, b = exact_matrix(features, "features"), exact_boxes([box], "box")[0]
    row, column = cell
    if max(pixels.shape) > MOST_SIDE or not (0 <= row < size and 0 <= column < size and 1 <= samples <= 4):
        raise ValueError(
            f"features must be at most {MOST_SIDE} x {MOST_SIDE}, cell inside of {size} x {size}, samples 1 to 4, to "
            f"show the work, got {pixels.shape}, {cell!r} and {samples!r}."
        )
    shift = Rational(1, 2) if aligned else Rational(0)
    left, top = b[0] - shift, b[1] - shift
    sides = [b[2] - b[0], b[3] - b[1]]
    wide, high = (side / size if aligned else max(side, Rational(1)) / size for side in sides)
    ys = [top + high * (row + (k + Rational(1, 2)) / samples) for k in range(samples)]
    xs = [left + wide * (column + (k + Rational(1, 2)) / samples) for k in range(samples)]
    places = [(y, x) for y in ys for x in xs]
    terms = [_between(pixels, y, x) for y, x in places]
    values = [sum((weight * pixels[i, j] for i, j, weight in parts), Rational(0)) for parts in terms]
    value = sum(values, Rational(0)) / len(values)
    steps = (
        step(
            "The cell",
            sentence(f"The box is cut into {size} x {size} cells, at fractions of pixels, none of them rounded:"),
            formula("w =", wide, ", h =", high),
            sentence(
                f"Cell ({row + 1}, {column + 1}) begins at ",
                math("x =", left + wide * column),
                ", ",
                math("y =", top + high * row),
                ", and is looked at in ",
                math(samples**2),
                " places:",
            ),
            table([math("y"), math("x")], [list(place) for place in places]),
        ),
        *(
            _sample_step(k, place, parts, pixels, one)
            for k, (place, parts, one) in enumerate(zip(places, terms, values, strict=True))
        ),
        step("The mean", result("v =", over(math(*_sum(values)), len(values)), "=", value)),
    )
    opening = (
        sentence("What does a feature map say about a box whose edges are not at its pixels?"),
        formula("F =", matrix(pixels), Words(", box"), fenced(math(b[0], ",", b[1], ",", b[2], ",", b[3]))),
    )
    return Document("RoI align of one cell", opening, steps, {"value": value, "samples": values})


def _between(pixels: Matrix, y: Rational, x: Rational) -> list[tuple[int, int, Rational]]:
    """Return the pixels around a place, each with its share; a place far outside has none."""
    sides = []
    for place, n in ((y, pixels.rows), (x, pixels.cols)):
        if place < -1 or place > n:
            return []
        inside = min(max(place, Rational(0)), Rational(n - 1))
        first = min(floor(inside), max(n - 2, 0))
        part = inside - first
        sides.append([(first, 1 - part), (min(first + 1, n - 1), part)])
    return [(i, j, a * b) for i, a in sides[0] for j, b in sides[1] if a * b]


def _sample_step(
    k: int, place: tuple[Rational, Rational], parts: list[tuple[int, int, Rational]], pixels: Matrix, value: Rational
) -> Step:
    rows = [[math(i), math(j), pixels[i, j], weight, weight * pixels[i, j]] for i, j, weight in parts]
    return step(
        f"Sample {k + 1}",
        sentence(
            "At ", math("y =", place[0]), ", ", math("x =", place[1]), ": the nearer a pixel, the more it counts."
        ),
        table(["row", "column", "pixel", "share", "product"], rows, summary=[["sum", "", "", "", value]]),
    )


def _sum(values: list[Rational]) -> list[Any]:
    return [part for value in values for part in ("+", value)][1:]


def _centered(box: Any) -> tuple[Rational, Rational, Rational, Rational]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1]


def _about(value: Any) -> tuple[Any, ...]:
    """Return a logarithm in decimals, if it is not a whole number itself."""
    return ("=", value) if value.is_Rational else ("≈", _rounded(float(value)))


def _rounded(value: float) -> Rational:
    return Rational(f"{value:.{DIGITS}g}")
