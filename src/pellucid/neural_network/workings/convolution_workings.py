"""Convolution of two short signals by hand: a table of scaled and shifted copies, and its columns added."""

from __future__ import annotations

from typing import Any

from sympy import Matrix, Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix
from pellucid.show.document import Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.notation import Math, Words, factor, fenced, math, matrix, total

MOST_ENTRIES = 10
"""Of the result: what fits a page."""


def show_convolution(x: Data, h: Data) -> Document:
    """Return the discrete convolution of two signals as a table of shifted copies.

    Parameters
    ----------
    x, h : array-like of one axis
        The signal, and what the system answers to the unit sample; the result has at most 10 entries.

    Returns
    -------
    Document
        ``answer["y"]`` is the convolution.

    Examples
    --------
    >>> show_convolution([3, 1, 2], [3, 2, 1]).answer["y"]
    [9, 9, 11, 5, 2]
    """
    signal, response = exact_matrix(x, "x"), exact_matrix(h, "h")
    length = signal.rows + response.rows - 1
    if signal.cols != 1 or response.cols != 1 or length > MOST_ENTRIES:
        raise ValueError(
            f"x and h must be signals whose convolution has at most {MOST_ENTRIES} entries to show the "
            f"work, got shapes "
            f"{signal.shape} and {response.shape}."
        )
    copies = [
        [value * response[n - k] if 0 <= n - k < response.rows else None for n in range(length)]
        for k, value in enumerate(signal)
    ]
    y = [sum((row[n] or Rational(0) for row in copies), Rational(0)) for n in range(length)]
    introduction = (
        formula("x =", matrix(signal.T), ", h =", matrix(response.T)),
        sentence(
            "The convolution adds, for every place ",
            math("n"),
            ", the products whose places add up to ",
            math("n"),
            ":",
        ),
        formula("y", fenced("n", "[]"), "= ∑", _at("x", "k"), _at("h", "n − k")),
    )
    steps = (_copies_step(signal, copies, y), _entries_step(signal, response, y), _system_step(signal, response))
    return Document("Convolution as a table", introduction, steps, {"y": y})


def _at(letter: str, place: str) -> Math:
    return math(letter, fenced(place, "[]"))


def _copies_step(x: Matrix, copies: list[list[Any]], y: list[Rational]) -> Step:
    rows = [
        [math(k), value, *("" if entry is None else math(entry) for entry in row)]
        for k, (value, row) in enumerate(zip(x, copies, strict=True))
    ]
    head = [math("k"), _at("x", "k"), *(math(n) for n in range(len(y)))]
    return step(
        "One copy of h for every entry of x",
        sentence("Row ", math("k"), " is h, times ", _at("x", "k"), ", moved by k places. The columns are added:"),
        table(head, rows, summary=[["sum", "", *y]]),
        result("y =", matrix([y])),
    )


def _entries_step(x: Matrix, h: Matrix, y: list[Rational]) -> Step:
    lines = []
    for n, value in enumerate(y):
        pairs = [(x[k], h[n - k]) for k in range(x.rows) if 0 <= n - k < h.rows]
        products = total([math(factor(u), "·", factor(v)) for u, v in pairs])
        lines.append(formula("y", fenced(n, "[]"), "=", products, "=", value))
    return step(
        "The same, entry by entry",
        sentence("Turn h around, slide it along x, and add the products where the two overlap:"),
        *lines,
        remark("Deep learning slides the kernel without turning it around, and still says convolution."),
    )


def _system_step(x: Matrix, h: Matrix) -> Step:
    moved = ", ".join(f"{value} at place {k}" for k, value in enumerate(x) if value)
    return step(
        "What it means for a system",
        sentence(
            "A linear, time-invariant system that answers the unit sample (1, 0, 0, ...) with h answers a "
            "moved one with "
            f"h moved, and a scaled one with h scaled. The signal x is a sum of such samples: {moved}. So "
            f"the answer is the "
            "sum of the rows above: the unit-sample response is all there is to know of the system."
        ),
        formula(Words("length of y"), "=", x.rows, "+", h.rows, "− 1 =", x.rows + h.rows - 1),
    )
