"""Notation that all workings of methods use: indices, scaled vectors, long sums, parabolas, cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sympy import Add, And, Piecewise, Rational, piecewise_fold

from pellucid.show.notation import Fence, Math, Mathlike, MathRow, Script, Sign, Symbol, Words, cases, math, total


def indexed(letter: str, k: int | str, above: str | None = None) -> Script:
    """Return a letter with an index: a number, a letter, or ``k+1``."""
    index = MathRow((Symbol("k"), Sign("+"), math("1"))) if k == "k+1" else math(str(k))
    return Script(Symbol(letter), index, None if above is None else math(above))


def scaled(value: Rational, vector: Mathlike) -> Math:
    """Return a number in front of a vector: between parentheses if it is negative, unwritten if it is 1."""
    if value == 1:
        return math(vector)
    return math(Fence(math(value)) if value < 0 else value, vector)


def added(parts: Iterable[Mathlike]) -> Math:
    """Return the parts with plus signs between them."""
    joined: list[Mathlike] = []
    for part in parts:
        joined += ["+", part] if joined else [part]
    return math(*joined)


def sum_of_terms(expression: Any) -> Math:
    """Return an expression as a sum of its terms, which can be broken where it is too long for a line."""
    terms = Add.make_args(expression) if not expression.is_Add else expression.as_ordered_terms()
    return total([math("−", -term) if term.could_extract_minus_sign() else math(term) for term in terms])


def parabola(bend: Rational, slope: Rational, value: Rational, letter: Mathlike) -> Math:
    """Return ``bend t² + slope t + value``, without what is 0."""
    square = Script(math(letter), above=math("2"))
    parts = [(bend, [square]), (slope, [letter]), (value, [])]
    terms = []
    for number, factors in parts:
        if number != 0:
            unwritten = abs(number) == 1 and factors
            size = [] if unwritten else [abs(number)]
            terms.append(math(*(["−"] if number < 0 else []), *size, *factors))
    return total(terms) if terms else math(0)


def in_cases(slope: Any) -> Math:
    """Return a derivative that comes in cases, each with its condition."""
    folded = piecewise_fold(slope)
    if not isinstance(folded, Piecewise):
        return math(folded)
    return cases(*((value, _condition(when)) for value, when in folded.args))


def _condition(when: Any) -> Math:
    if when == True:  # noqa: E712  (SymPy's own truth)
        return Words("otherwise")
    parts: list[Mathlike] = []
    for relation in when.args if isinstance(when, And) else (when,):
        mark = {">": ">", ">=": "≥", "<": "<", "<=": "≤"}[relation.rel_op]
        parts += [Words("and" if parts else "if"), relation.lhs, mark, relation.rhs]
    return math(*parts)
