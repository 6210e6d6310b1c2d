"""The entropy of one distribution, the divergence of two, and what several variables share, with exact logarithms."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sympy import Rational

from pellucid.core.types import Data
from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, Document, Step, formula, remark, result, sentence, step, table
from pellucid.show.exact_data import exact_number
from pellucid.show.notation import Math, fenced, math, over

MOST_VALUES = 8
MOST_CELLS = 16


def shares_of(values: Data, name: str) -> list[Rational]:
    """Return counts or probabilities of one variable as exact shares."""
    numbers = np.asarray(values)
    if numbers.ndim != 1 or not 1 <= len(numbers) <= MOST_VALUES:
        raise ValueError(f"{name} must be a list of 1 to {MOST_VALUES} counts or probabilities, got {numbers.shape}.")
    exact = [exact_number(value, name)[0] for value in numbers]
    if min(exact) < 0 or sum(exact) == 0:
        raise ValueError(f"{name} must hold counts or probabilities of at least 0 and not only zeros.")
    return [value / sum(exact) for value in exact]


def entropy_workings(X: Data) -> Document:
    """Show the entropy of one distribution, and how far it is from that of equal shares."""
    p = shares_of(X, "X")
    terms: list[Any] = []
    for share in p:
        if share:
            terms += [*(["+"] if terms else []), share, "log_2", fenced(1 / share)]
    found, most = Bits.of_shares(p), Bits.of_shares([Rational(1, len(p))] * len(p))
    rows = [
        [math(i + 1), share, "0" if share == 0 else Bits.of_shares([share]).notation()] for i, share in enumerate(p)
    ]
    steps = (
        step(
            "Add up the surprise",
            sentence(
                "A value of probability ", math("p"), " surprises by ", math("log_2", fenced(over(1, "p"))), " bits."
            ),
            table([math("i"), math("p_i"), math("p_i log_2", fenced(over(1, "p_i")))], rows),
            formula("H =", *terms),
            result("H =", found.notation()),
        ),
        step(
            "Compare with equal shares",
            sentence(f"Nothing is less certain than {len(p)} values of equal probability:"),
            formula("log_2", fenced(len(p)), "=", most.notation()),
            sentence("The distribution falls short of that by ", (most - found).notation(), " bits."),
        ),
    )
    return Document(
        "Entropy of a distribution",
        (sentence("Logarithms are to base 2, so the answer is in bits, and ", math("0 log_2", fenced(0), "= 0"), "."),),
        steps,
        {"entropy": found.expression},
    )


def divergence_workings(X: Data, Q: Data) -> Document:
    """Show the Kullback-Leibler divergence of two distributions, both ways."""
    p, q = shares_of(X, "p"), shares_of(Q, "q")
    if len(p) != len(q):
        raise ValueError(f"q must have as many values as p ({len(p)}), got {len(q)}.")
    there, back = _divergence(p, q), _divergence(q, p)
    rows = [
        [math(i + 1), a, b, "" if not a or not b else math(a, "log_2", fenced(a / b))]
        for i, (a, b) in enumerate(zip(p, q, strict=True))
    ]
    steps = (
        _divergence_step("p", "q", p, q, there),
        _divergence_step("q", "p", q, p, back),
        step(
            "Read it",
            sentence(
                "It is the number of bits that a code made for the second distribution wastes on draws from the first. "
                "It is never below 0, and 0 only where both are the same."
            ),
            remark("It is no distance: the way back has another length."),
        ),
    )
    opening: tuple[Block, ...] = (
        table([math("i"), math("p_i"), math("q_i"), math("p_i log_2", fenced(over("p_i", "q_i")))], rows),
    )
    answer = {"kl": None if there is None else there.expression, "back": None if back is None else back.expression}
    return Document("Kullback-Leibler divergence", opening, steps, answer)


def _divergence(p: list[Rational], q: list[Rational]) -> Bits | None:
    """Return the divergence, None where it has no end."""
    if any(a and not b for a, b in zip(p, q, strict=True)):
        return None
    total = Bits({})
    for a, b in zip(p, q, strict=True):
        if a:  # a log2(a / b) = a log2(1 / b) - a log2(1 / a), and of_shares gives s log2(1 / s)
            total = total + Bits.of_shares([b]).times(a / b) - Bits.of_shares([a])
    return total


def _divergence_step(one: str, other: str, p: list[Rational], q: list[Rational], found: Bits | None) -> Step:
    name = math("D", fenced(math(one, "‖", other)))
    terms: list[Any] = []
    for a, b in zip(p, q, strict=True):
        if a and b:
            terms += [*(["+"] if terms else []), a, "log_2", fenced(a / b)]
    if found is None:
        words = sentence(f"A value that {one} has is impossible under {other}, so the divergence has no end.")
        return step(f"From {one} to {other}", words, result(name, "= ∞"))
    return step(f"From {one} to {other}", formula(name, "=", *terms), result(name, "=", found.notation()))


def multi_information_workings(X: Data) -> Document:
    """Show what the variables of a table of two or three axes share: the sum of their entropies less the joint."""
    counts = np.asarray(X)
    if counts.ndim not in (2, 3) or counts.size > MOST_CELLS:
        raise ValueError(f"X must be a table of 2 or 3 axes with at most {MOST_CELLS} cells, got shape {counts.shape}.")
    cells = {place: exact_number(counts[place], "X")[0] for place in product(*map(range, counts.shape))}
    whole = sum(cells.values(), Rational(0))
    if min(cells.values()) < 0 or whole == 0:
        raise ValueError("X must hold counts or probabilities of at least 0 and not only zeros.")
    p = {place: value / whole for place, value in cells.items()}
    letters = "XYZ"[: counts.ndim]
    margins = [
        [sum((v for place, v in p.items() if place[axis] == k), Rational(0)) for k in range(counts.shape[axis])]
        for axis in range(counts.ndim)
    ]
    alone, joint = [Bits.of_shares(margin) for margin in margins], Bits.of_shares(p.values())
    total = Bits({})
    for one in alone:
        total = total + one
    heads = [math(letter) for letter in letters]
    rows = [[*(math(k + 1) for k in place), share] for place, share in p.items()]
    lines: list[Block] = [
        formula("H", fenced(letter), "=", one.notation()) for letter, one in zip(letters, alone, strict=True)
    ]
    parts: list[Math] = []
    for letter in letters:
        parts += [math("+"), math("H", fenced(letter))] if parts else [math("H", fenced(letter))]
    together = math("H", fenced(" , ".join(letters)))
    steps = (
        step("Each variable alone", sentence("Add the shares of its values, and take the entropy:"), *lines),
        step("All together", formula(together, "=", joint.notation())),
        step(
            "What they share",
            formula("I =", *parts, "−", together),
            result("I =", (total - joint).notation()),
            sentence("It is 0 only if the variables are independent; of two it is the mutual information."),
        ),
    )
    opening = (table([*heads, math("p")], rows, caption="The shares of all cells"),)
    return Document("Multi-information", opening, steps, {"multi_information": (total - joint).expression})
