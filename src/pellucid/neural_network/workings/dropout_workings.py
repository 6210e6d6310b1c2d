"""Dropout by hand: masks, the scale that keeps the mean, the spread that remains, and nothing at all at test time."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sympy import Matrix, Rational

from pellucid.core.checks import check_between, check_whole
from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Document, Step, formula, remark, sentence, step, table
from pellucid.show.notation import Words, column, fenced, math, over, typed

MOST_UNITS, MOST_MASKS = 4, 10


def show_dropout(h: Data, p: float = 0.5, *, n_masks: int = 4, random_state: int = 0) -> Document:
    """Return what dropout does to the values of a layer, in training and at test time.

    Parameters
    ----------
    h : array-like of shape (units,)
        Values of a layer, at most 4.
    p : float, default=0.5
        Probability that a unit is dropped, below 1.
    n_masks : int, default=4
        Random masks to show, at most 10.
    random_state : int, default=0
        Seed of the masks.

    Returns
    -------
    Document
        ``answer`` has ``masks`` and ``outputs``, and ``mean`` and ``variance`` over all masks.

    Examples
    --------
    >>> work = show_dropout([2, 4], p=0.5)
    >>> work.answer["mean"], work.answer["variance"]
    ([2, 4], [4, 16])
    """
    check_between(0, 1, p=p)
    check_whole(n_masks=n_masks)
    values, dropped = exact_matrix(h, "h"), exactly(p, "p")
    if values.cols != 1 or values.rows > MOST_UNITS or n_masks > MOST_MASKS:
        raise ValueError(
            f"h must be at most {MOST_UNITS} numbers and n_masks at most {MOST_MASKS} to show the work, got "
            f"{len(values)} "
            f"and {n_masks}."
        )
    if dropped == 1:
        raise ValueError("p must be below 1, got 1: no unit would be left.")
    scale = 1 / (1 - dropped)
    draws = np.random.default_rng(random_state).random((n_masks, values.rows)) >= float(p)
    masks = [[int(kept) for kept in row] for row in draws]
    outputs = [[scale * m * v for m, v in zip(mask, values, strict=True)] for mask in masks]
    mean, variance = _moments(values, dropped, scale)
    steps = (
        _masks_step(masks, outputs, random_state),
        _all_masks_step(values, dropped, scale, mean, variance),
        _test_step(values),
    )
    introduction = (
        sentence(
            "In training, dropout sets each value of a layer to 0 with probability ",
            math("p =", typed(dropped)),
            " and multiplies what is left by ",
            math(over(1, "1 − p"), "=", scale),
            ":",
        ),
        formula("h =", column(values), ", m_j = 0", Words("or"), 1, ",", "h̃_j =", over("m_j h_j", "1 − p")),
    )
    answer = {"masks": masks, "outputs": outputs, "mean": mean, "variance": variance}
    return Document("Dropout by hand", introduction, steps, answer)


def _moments(h: Matrix, p: Rational, scale: Rational) -> tuple[list[Rational], list[Rational]]:
    """Return mean and variance of each output over all masks, each with its probability."""
    n = h.rows
    first, second = [Rational(0)] * n, [Rational(0)] * n
    for mask in product((0, 1), repeat=n):
        chance = _chance(mask, p)
        for j, kept in enumerate(mask):
            first[j] += chance * kept * scale * h[j]
            second[j] += chance * (kept * scale * h[j]) ** 2
    return first, [s - m**2 for m, s in zip(first, second, strict=True)]


def _chance(mask: tuple[int, ...], p: Rational) -> Rational:
    kept = sum(mask)
    return (1 - p) ** kept * p ** (len(mask) - kept)


def _masks_step(masks: list[list[int]], outputs: list[list[Rational]], seed: int) -> Step:
    pairs = enumerate(zip(masks, outputs, strict=True), 1)
    rows = [[math(i), " ".join(map(str, mask)), *output] for i, (mask, output) in pairs]
    return step(
        "Some masks",
        sentence(f"The generator of seed {seed} draws a new mask for every row and every pass:"),
        table(["draw", "mask", *(math(f"h̃_{j + 1}") for j in range(len(masks[0])))], rows),
    )


def _all_masks_step(h: Matrix, p: Rational, scale: Rational, mean: list[Rational], variance: list[Rational]) -> Step:
    rows: list[list[Any]] = []
    for mask in product((1, 0), repeat=h.rows):
        outputs = [kept * scale * v for kept, v in zip(mask, h, strict=True)]
        rows.append([" ".join(map(str, mask)), _chance(mask, p), *outputs])
    names = [math(f"h̃_{j + 1}") for j in range(h.rows)]
    return step(
        "All masks, each with its probability",
        table(["mask", "probability", *names], rows, summary=[["mean", "", *mean], ["variance", "", *variance]]),
        sentence(
            "The scale keeps the mean where it was, ",
            math("E h̃_j = h_j"),
            ". What dropout adds is noise, the more the larger the value:",
        ),
        formula("Var", fenced("h̃_j"), "=", over("p", "1 − p"), "h_j^2"),
    )


def _test_step(h: Matrix) -> Step:
    return step(
        "At test time",
        sentence("Nothing is dropped and nothing is scaled, since the scale was paid in training:"),
        formula("h̃ = h =", column(h)),
        remark(
            "Here p is the probability to drop a unit. The 0.8 for inputs and 0.5 for hidden units that notes give are "
            "probabilities to keep one: p is 0.2 and 0.5."
        ),
        remark(
            "With masks also at test time the predictions of many passes spread: their standard deviation is a measure "
            "of how sure the network is."
        ),
    )
