"""Blahut and Arimoto's alternation by hand: the capacity of a small channel, and a point of rate against distortion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mpmath import mp, mpf  # type: ignore[import-untyped]  # it comes with sympy
from sympy import Rational

from pellucid.core.types import Data
from pellucid.probability.divergence_workings import shares_of
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Script, Words, fenced, math, matrix, minus, over

DIGITS = 30
MOST_SIDE = 4
SHOWN = 4
"""Rounds that are listed."""
ROUNDS = 400
DONE = 1e-20


def capacity_workings(transition: Data) -> Document:
    """Show rounds of the alternation from equal inputs, each with its two bounds on the capacity."""
    W = _rows(transition, "transition")
    for i, row in enumerate(W):
        if sum(row) != 1:
            raise ValueError(f"transition must have rows that add up to 1, got {float(sum(row)):g} in row {i + 1}.")
    with mp.workdps(DIGITS):
        table_ = [[mpf(int(v.p)) / int(v.q) for v in row] for row in W]
        p = [mpf(1) / len(W)] * len(W)
        rounds: list[tuple[list[Any], Any, Any]] = []
        while len(rounds) < ROUNDS:
            away = _divergences(table_, p)
            rounds.append((p, mp.fdot(p, away), max(away)))
            if rounds[-1][2] - rounds[-1][1] < DONE:
                break
            powers = [share * mpf(2) ** d for share, d in zip(p, away, strict=True)]
            p = [power / mp.fsum(powers) for power in powers]
    low = rounds[-1][1]
    steps = (_first_capacity_step(table_, rounds[0]), _rounds_step(rounds, "p"), _capacity_step(rounds))
    opening: tuple[Block, ...] = (
        sentence("A letter goes in, ", math("W_xy"), " is the probability that letter y comes out when it was x:"),
        formula("W =", matrix(W)),
        sentence("The capacity is the most information that passes, over all ways to choose the letters:"),
        formula("C = max I", fenced("X ; Y")),
        remark(f"Logarithms are to base 2. They are computed to {DIGITS} digits, of which a few are written."),
    )
    answer = {
        "capacity": Rational(mp.nstr(low, 20)),
        "input_distribution": [Rational(mp.nstr(x, 20)) for x in rounds[-1][0]],
    }
    return Document("The capacity of a channel", opening, steps, answer)


def _rows(values: Data, name: str) -> list[list[Rational]]:
    numbers = np.asarray(values)
    if numbers.ndim != 2 or not 1 <= max(numbers.shape) <= MOST_SIDE:
        raise ValueError(f"{name} must be a table of at most {MOST_SIDE} rows and columns, got shape {numbers.shape}.")
    rows = [[exact_number(value, name)[0] for value in row] for row in numbers]
    if min(map(min, rows)) < 0:
        raise ValueError(f"{name} must hold numbers of at least 0.")
    return rows


def _divergences(W: list[list[Any]], p: list[Any]) -> list[Any]:
    q = [mp.fsum(share * row[y] for share, row in zip(p, W, strict=True)) for y in range(len(W[0]))]
    return [mp.fsum(v * mp.log(v / q[y], 2) for y, v in enumerate(row) if v) for row in W]


def _told(value: Any) -> Words:
    return Words(minus(f"{float(value):.6g}"))


def _first_capacity_step(W: list[list[Any]], first: tuple[list[Any], Any, Any]) -> Step:
    p, low, high = first
    q = [mp.fsum(share * row[y] for share, row in zip(p, W, strict=True)) for y in range(len(W[0]))]
    rows = [[math(x + 1), _told(p[x]), _told(d)] for x, d in enumerate(_divergences(W, p))]
    return step(
        "The first round",
        sentence("Start with equal shares ", math("p"), ". The letters that come out have the shares ", math("q"), ":"),
        formula("q_y = ∑_x p_x W_xy"),
        table([math("y"), math("q_y")], [[math(y + 1), _told(v)] for y, v in enumerate(q)]),
        sentence("Each letter tells as many bits as its row is away from q:"),
        formula("D_x = ∑_y W_xy log_2", fenced(over("W_xy", "q_y"))),
        table([math("x"), math("p_x"), math("D_x")], rows),
        sentence("Their mean is what passes now, the largest is an upper bound:"),
        formula(_told(low), "≤ C ≤", _told(high)),
    )


def _rounds_step(rounds: Sequence[tuple[list[Any], Any, Any]], letter: str) -> Step:
    shown = list(rounds[:SHOWN]) + ([rounds[-1]] if len(rounds) > SHOWN else [])
    numbers = [*range(1, min(SHOWN, len(rounds)) + 1), *([len(rounds)] if len(rounds) > SHOWN else [])]
    head = ["round", *(math(f"{letter}_{k + 1}") for k in range(len(rounds[0][0]))), "lower bound", "upper bound"]
    lines = [
        [math(t), *map(_told, p), _told(low), _told(high)] for t, (p, low, high) in zip(numbers, shown, strict=True)
    ]
    weight = Script(math("2"), above=math("D_x"))
    return step(
        "The rounds that follow",
        sentence("A letter that tells more is used more often:"),
        formula("p_x ←", over(math("p_x", weight), math("∑ p_x", weight))),
        table(head, lines),
    )


def _capacity_step(rounds: Sequence[tuple[list[Any], Any, Any]]) -> Step:
    _, low, high = rounds[-1]
    return step(
        "The capacity",
        sentence(f"The bounds meet up to {float(high - low):.1e}; every letter in use tells as much as every other."),
        result("C =", _told(low)),
    )


def rate_workings(source: Data, distortion: Data, slope: Any = 1) -> Document:
    """Show the alternation for one slope: the test channel, and the rate and distortion that it reaches."""
    p, d = shares_of(source, "source"), _rows(distortion, "distortion")
    if len(d) != len(p):
        raise ValueError(f"distortion must have a row for each of the {len(p)} letters, got {len(d)} rows.")
    beta = exact_number(slope, "slope")[0]
    if beta <= 0:
        raise ValueError(f"slope must be above 0, got {slope!r}.")
    with mp.workdps(DIGITS):
        weights = [[mpf(2) ** (-mpf(int((beta * v).p)) / int((beta * v).q)) for v in row] for row in d]
        shares = [mpf(int(v.p)) / int(v.q) for v in p]
        q, told = [mpf(1) / len(d[0])] * len(d[0]), []
        for _ in range(ROUNDS):
            channel = [[a * b for a, b in zip(q, row, strict=True)] for row in weights]
            channel = [[v / mp.fsum(row) for v in row] for row in channel]
            new = [mp.fsum(s * row[y] for s, row in zip(shares, channel, strict=True)) for y in range(len(q))]
            rate = mp.fsum(
                s * v * mp.log(v / new[y], 2)
                for s, row in zip(shares, channel, strict=True)
                for y, v in enumerate(row)
                if v and s
            )
            cost = mp.fsum(
                s * v * float(d[x][y])
                for x, (s, row) in enumerate(zip(shares, channel, strict=True))
                for y, v in enumerate(row)
            )
            told.append((q, rate, cost, channel))
            moved = max(abs(a - b) for a, b in zip(q, new, strict=True))
            q = new
            if moved < DONE:
                break
    last = told[-1]
    head = ["round", *(math(f"q_{k + 1}") for k in range(len(q))), "rate", "distortion"]
    kept = [*told[:SHOWN], *([last] if len(told) > SHOWN else [])]
    numbers = [*range(1, min(SHOWN, len(told)) + 1), *([len(told)] if len(told) > SHOWN else [])]
    rows = [[math(t), *map(_told, a), _told(b), _told(c)] for t, (a, b, c, _) in zip(numbers, kept, strict=True)]
    power = Script(math("2"), above=math("− β d_xy"))
    steps = (
        step(
            "The rule",
            sentence("For outputs of shares q the best channel prefers what is cheap; then q follows from it:"),
            formula("Q_xy =", over(math("q_y", power), math("∑_y q_y", power)), ", q_y ← ∑_x p_x Q_xy"),
        ),
        step("The rounds", table(head, rows)),
        step(
            "The point",
            sentence("The test channel at the end:"),
            formula("Q =", matrix([[_told(v) for v in row] for row in last[3]])),
            sentence("It needs so many bits per letter, at so much distortion:"),
            result("R =", _told(last[1]), ", D =", _told(last[2])),
        ),
    )
    opening: tuple[Block, ...] = (
        sentence("A source has letters of shares ", math("p ="), " ", matrix([p]), ", and y in the place of x costs"),
        formula("d =", matrix(d)),
        sentence("How many bits must be sent, if some distortion is allowed? The slope is ", math("β =", beta), "."),
    )
    answer = {"rate": Rational(mp.nstr(last[1], 20)), "distortion": Rational(mp.nstr(last[2], 20))}
    return Document("Rate and distortion", opening, steps, answer)
