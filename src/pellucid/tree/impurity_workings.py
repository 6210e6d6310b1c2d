"""Impurities of a few counted rows, in exact numbers: what the workings of all trees share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sympy import Rational

from pellucid.probability.exact_logarithms import Bits
from pellucid.show.document import Block, sentence, table
from pellucid.show.notation import Math, Script, Words, fenced, math, over
from pellucid.show.text_printer import first_that_fits

Counts = Sequence[int]


def class_counts(labels: Sequence[Any], rows: Sequence[int], classes: Sequence[Any]) -> list[int]:
    """Return how many of the rows are of each class."""
    return [sum(labels[i] == c for i in rows) for c in classes]


def entropy(counts: Counts) -> Bits:
    """Return the entropy of the shares."""
    return Bits.of_shares(shares(counts))


def gini(counts: Counts) -> Rational:
    """Return 1 less the squares of the shares."""
    return 1 - sum((p**2 for p in shares(counts)), Rational(0))


def error(counts: Counts) -> Rational:
    """Return the share of rows that are not of the largest class."""
    return 1 - max(shares(counts))


def shares(counts: Counts) -> list[Rational]:
    """Return the counts over their sum."""
    return [Rational(c, sum(counts)) for c in counts]


def entropy_terms(counts: Counts) -> Math:
    """Return ``9/14 log2(14/9) + ...``, as it is written before it is computed."""
    terms: list[Any] = []
    for p in shares(counts):
        if p:
            terms += ["+"] * bool(terms) + [p, "log_2", fenced(1 / p)]
    return math(*terms)


def gini_terms(counts: Counts) -> Math:
    """Return ``1 − (9/14)^2 − ...``, as it is written before it is computed."""
    n = sum(counts)
    return math(1, *(part for c in counts if c for part in ("−", _squared(over(c, n)))))


def error_terms(counts: Counts) -> Math:
    """Return ``1 − 9/14``, as it is written before it is computed."""
    return math(1, "−", over(max(counts), sum(counts)))


def majority(counts: Counts, classes: Sequence[Any]) -> Any:
    """Return the largest class; of tied ones the first."""
    return classes[max(range(len(classes)), key=lambda k: (counts[k], -k))]


def told_counts(counts: Counts, classes: Sequence[Any]) -> str:
    """Return ``9 yes, 5 no``."""
    return ", ".join(f"{count} {label}" for count, label in zip(counts, classes, strict=True) if count)


def rounded(value: Any) -> Math:
    """Return a number with four decimals; a whole one without."""
    if float(value) in (0.0, 1.0):
        return math(int(float(value)))
    return Words(f"{float(value):.4f}".replace("-", "−"))


def rule_blocks(head: Sequence[str], lines: Sequence[Sequence[str]]) -> list[Block]:
    """Return rules, each a condition, what follows and the rows behind it: as a table, or in words where it is wide."""
    words = [sentence(f"If {condition}: {answer} ({rows}).") for condition, answer, rows in lines]
    return first_that_fits([table(head, lines)], words)


def _squared(inside: Math) -> Math:
    return Script(fenced(inside), None, math(2))
