"""Total variation of a short signal by hand: a string pulled tight through a tube."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from sympy import Rational

from pellucid.core.types import Data
from pellucid.neural_network.workings.exact_network import exact_matrix, exactly
from pellucid.show.document import Document, Figure, Series, Step, formula, result, sentence, step, table
from pellucid.show.notation import fenced, math, matrix, over
from pellucid.vision.restoration.workings.threshold_workings import size_of, squared

MOST_SAMPLES = 10


def show_total_variation(y: Data, weight: Any = 1) -> Document:
    """Return the signal near the measured one with small total variation, found exactly by the taut string.

    Parameters
    ----------
    y : array-like of shape (n,)
        At most ten samples, as they were measured.
    weight : number, default=1
        Weight of the total variation, above 0.

    Examples
    --------
    >>> show_total_variation([0, 0, 6, 6], 2).answer["x"]
    [1, 1, 5, 5]
    """
    signal, w = list(exact_matrix(y, "y")), exactly(weight, "weight")
    if len(signal) > MOST_SAMPLES or w <= 0:
        raise ValueError(
            f"y must have at most {MOST_SAMPLES} samples and weight must be above 0 to show the work, got "
            f"{len(signal)} samples and weight {weight!r}."
        )
    sums = [Rational(0)]
    for value in signal:
        sums.append(sums[-1] + value)
    string, knots = _taut_string(sums, w)
    x = [after - before for before, after in pairwise(string)]
    objective = sum((squared_half(a, b) for a, b in zip(x, signal, strict=True)), Rational(0)) + w * _variation(x)
    penalty = math("w ∑", size_of("x_n − x_k"))
    opening = (
        sentence("Find the signal that is near the measured one and rises and falls little:"),
        formula("F", fenced("x"), "=", over(1, 2), "∑", squared("x_k − y_k"), "+", penalty, ", w =", w),
        sentence(
            "where ", math("x_n"), " is the sample after ", math("x_k"), ". Measured: ", math("y =", matrix([signal]))
        ),
    )
    check = _check_step(signal, x, [b - a for a, b in zip(sums, string, strict=True)], objective)
    steps = (_tube_step(sums, w), _string_step(sums, string, knots, w), check)
    return Document("Total variation of a signal", opening, steps, {"x": x, "objective": objective})


def squared_half(a: Rational, b: Rational) -> Rational:
    """Return half the squared difference."""
    return (a - b) ** 2 / 2


def _variation(x: list[Rational]) -> Rational:
    return sum((abs(b - a) for a, b in pairwise(x)), Rational(0))


def _taut_string(sums: list[Rational], w: Rational) -> tuple[list[Rational], list[int]]:
    """Return the shortest path through the tube of radius w about the sums, its ends fixed, and where it bends.

    From each bend the slopes that stay in the tube narrow from sample to sample. Where none is left, the string
    touches the border that it could not pass, at the last sample that decided it.
    """
    n = len(sums) - 1
    low = [sums[0], *(value - w for value in sums[1:-1]), sums[-1]]
    high = [sums[0], *(value + w for value in sums[1:-1]), sums[-1]]
    path, knots, start = [sums[0]], [0], 0
    while start < n:
        here, least, most = path[start], None, None
        at_least = at_most = start
        bend, value = n, sums[-1]
        for k in range(start + 1, n + 1):
            up, down = (high[k] - here) / (k - start), (low[k] - here) / (k - start)
            if least is not None and up < least:
                bend, value = at_least, low[at_least]
                break
            if most is not None and down > most:
                bend, value = at_most, high[at_most]
                break
            if least is None or down >= least:
                least, at_least = down, k
            if most is None or up <= most:
                most, at_most = up, k
        slope = (value - here) / (bend - start)
        path += [here + slope * (k - start) for k in range(start + 1, bend + 1)]
        knots.append(bend)
        start = bend
    return path, knots


def _tube_step(sums: list[Rational], w: Rational) -> Step:
    n = len(sums) - 1
    rows = [[math(k), s, s if k in (0, n) else s - w, s if k in (0, n) else s + w] for k, s in enumerate(sums)]
    return step(
        "Sums, and a tube about them",
        sentence("Add up the samples: ", math("r_k = y_1 + … + y_k"), "."),
        sentence("A tube of radius ", math("w"), " is laid about the sums, closed at both ends:"),
        table([math("k"), math("r_k"), math("r_k − w"), math("r_k + w")], rows),
    )


def _string_step(sums: list[Rational], string: list[Rational], knots: list[int], w: Rational) -> Step:
    places = range(len(sums))
    n = len(sums) - 1
    across = tuple(float(k) for k in places)
    borders = [[s + sign * w * (k not in (0, n)) for k, s in zip(places, sums, strict=True)] for sign in (-1, 1)]
    tube = [Series(across, tuple(map(float, border)), joined=True, label="tube") for border in borders]
    pulled = Series(across, tuple(map(float, string)), joined=True, label="string")
    rows = [[math(f"{a} … {b}"), string[a], string[b], (string[b] - string[a]) / (b - a)] for a, b in pairwise(knots)]
    return step(
        "Pull a string tight",
        sentence("The shortest way through the tube bends only where it touches a border. Its straight pieces:"),
        table(["samples", "from", "to", "slope"], rows),
        Figure((*tube, pulled), "k", "sum", "The string takes the shortest way through the tube."),
        sentence("The slope of the string is the answer: flat where the string is straight."),
        result("x =", matrix([[b - a for a, b in pairwise(string)]])),
    )


def _check_step(y: list[Rational], x: list[Rational], dual: list[Rational], objective: Rational) -> Step:
    rows = []
    for k in range(1, len(x)):
        jump = x[k] - x[k - 1]
        wanted = (
            "between − w and w" if jump == 0 else "− w, as the signal falls" if jump < 0 else "w, as the signal rises"
        )
        rows.append([math(k), jump, dual[k], wanted])
    dual_value = sum((b**2 - a**2 for a, b in zip(x, y, strict=True)), Rational(0)) / 2
    return step(
        "Check the answer",
        sentence("The distance of the string from the sums, ", math("u_k"), ", is the dual variable."),
        sentence("It must not exceed ", math("w"), ", and must reach it wherever the signal jumps:"),
        table([math("k"), "jump", math("u_k"), "must be"], rows),
        sentence("Then the objective is as large as what no signal can go below:"),
        result("F", fenced("x"), "=", objective, ",", over(1, 2), "∑ y_k^2 −", over(1, 2), "∑ x_k^2 =", dual_value),
    )
