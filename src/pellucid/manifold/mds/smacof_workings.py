"""Metric scaling by hand: Guttman's step of SMACOF, which never raises the stress."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Rational

from pellucid.core.types import Data
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_features
from pellucid.show.notation import Script, Words, cases, fenced, math, matrix, minus, over

DIGITS = 30
MOST_ROWS = 5
MOST_STEPS = 20
IN_FULL = 2


def show_smacof(distances: Data, start: Data, steps: int = 5) -> Document:
    """Return steps of SMACOF for given distances, from given places in one or two dimensions.

    Examples
    --------
    >>> work = show_smacof([[0, 2], [2, 0]], [[0], [1]], steps=1)
    >>> [round(float(value), 12) for value in work.answer["stress"]]  # (1 - 2)², and one step mends it
    [1.0, 0.0]
    """
    D, _, _ = exact_features(distances, max_rows=MOST_ROWS, max_features=MOST_ROWS)
    Z, _, _ = exact_features(start, max_rows=MOST_ROWS, max_features=2)
    if D.rows != D.cols or D != D.T or any(D[i, i] for i in range(D.rows)) or min(D) < 0 or Z.rows != D.rows:
        raise ValueError(
            "distances must be a symmetric table with zeros on the diagonal, and start must have a place for each row, "
            f"got shapes {np.shape(distances)} and {np.shape(start)}."
        )
    if not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise ValueError(f"steps must be a whole number from 1 to {MOST_STEPS}, got {steps!r}.")
    with mp.workdps(DIGITS):
        delta = [[_number(v) for v in D.row(i)] for i in range(D.rows)]
        places = [[_number(v) for v in Z.row(i)] for i in range(Z.rows)]
        stresses, made = [_stress(delta, places)], list[Step]()
        for k in range(steps):
            B = _guttman(delta, places)
            new = [
                [mp.fdot(B[i], [row[c] for row in places]) / len(places) for c in range(Z.cols)]
                for i in range(len(places))
            ]
            if k < IN_FULL:
                made.append(_step(k, places, B, new, stresses[-1], _stress(delta, new)))
            places = new
            stresses.append(_stress(delta, places))
    rows = [[math(k), _told(value)] for k, value in enumerate(stresses)]
    made.append(
        step(
            "The stress of every step",
            table(["step", math("σ")], rows),
            formula("Z =", matrix([[_told(v) for v in row] for row in places])),
            remark("It never rises. That is a local minimum in the end; another start may end in another."),
        )
    )
    opening: tuple[Block, ...] = (
        sentence("Find places whose distances are as near as possible to those wanted:"),
        formula("σ = ∑", Script(fenced("d_ij − δ_ij"), above=math(2))),
        formula("δ =", matrix(D), ", Z_0 =", matrix(Z)),
        sentence("Each step puts every place where a matrix made of the ratios of both distances sends it:"),
        formula(
            "Z ←",
            over(1, "n"),
            "B Z , b_ij =",
            cases(
                (math("−", over("δ_ij", "d_ij")), Words("i ≠ j")), (Words("minus the sum of the row"), Words("i = j"))
            ),
        ),
    )
    answer = {
        "stress": [Rational(mp.nstr(value, 20)) for value in stresses],
        "places": [[Rational(mp.nstr(v, 20)) for v in row] for row in places],
    }
    return Document("Metric scaling by SMACOF", opening, tuple(made), answer)


def _number(value: Rational) -> Any:
    return mpf(int(value.p)) / int(value.q)


def _away(a: list[Any], b: list[Any]) -> Any:
    return mp.sqrt(mp.fsum((x - y) ** 2 for x, y in zip(a, b, strict=True)))


def _stress(delta: list[list[Any]], places: list[list[Any]]) -> Any:
    n = len(places)
    return mp.fsum((_away(places[i], places[j]) - delta[i][j]) ** 2 for i in range(n) for j in range(i + 1, n))


def _guttman(delta: list[list[Any]], places: list[list[Any]]) -> list[list[Any]]:
    """Return the matrix of one step; two places on top of each other pull nothing."""
    n = len(places)
    B = [[mpf(0)] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            away = _away(places[i], places[j])
            if i != j and away:
                B[i][j] = -delta[i][j] / away
        B[i][i] = -mp.fsum(B[i])
    return B


def _step(k: int, places: list[list[Any]], B: list[list[Any]], new: list[list[Any]], before: Any, after: Any) -> Step:
    n = len(places)
    rows = [[math(i + 1), math(j + 1), _told(_away(places[i], places[j]))] for i in range(n) for j in range(i + 1, n)]
    return step(
        f"Guttman's step {k + 1}",
        table([math("i"), math("j"), math("d_ij")], rows, caption="Distances on the map now"),
        formula("B =", matrix([[_told(v) for v in row] for row in B])),
        formula("Z =", matrix([[_told(v) for v in row] for row in new])),
        sentence("The stress falls from ", _told(before), " to ", _told(after), "."),
        result("σ =", _told(after)),
    )


def _told(value: Any) -> Words:
    return Words(minus(f"{float(value):.5g}"))
