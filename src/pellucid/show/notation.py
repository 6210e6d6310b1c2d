"""Mathematical notation as a small tree that every printer can walk."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Context, Decimal
from numbers import Rational
from typing import Any, TypeAlias

LONGEST_FRACTION = 11
"""Digits of numerator and denominator together that a reader can still take in."""
LARGE_DENOMINATOR = 1000
"""From here on a decimal that ends is easier to read than a fraction."""
SHOWN_DIGITS = 6
"""Significant digits shown of a fraction that is too long."""

RELATIONS = frozenset("=≈≠<>≤≥⇒⇔←↔")
OPERATORS = frozenset("+−·×∈→")
PUNCTUATION = frozenset(",;:…")
PREFIXES = frozenset({"∑", "min", "max", "sign", "arg"})
SIGNS = RELATIONS | OPERATORS | PUNCTUATION | PREFIXES
ACCENTS = {"\u0304": "bar", "\u0302": "hat", "\u0303": "tilde"}


HYPHEN_MINUS = re.compile(r"(?<![\w-])-(?=\.?\d)|(?<=\de)-(?=\d)")


@dataclass(frozen=True)
class ExactNumber:
    """An exact rational; ``as_typed`` prefers a finite decimal over a fraction."""

    value: Rational
    as_typed: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether only the first digits are written."""
        return self.spelling[1].endswith("…")

    @property
    def spelling(self) -> tuple[str, str, str]:
        """Sign, numerator and denominator as they are written; the denominator may be empty."""
        sign = "−" if self.value < 0 else ""
        above, below = abs(int(self.value.numerator)), int(self.value.denominator)
        if below == 1 and len(str(above)) <= LONGEST_FRACTION:
            return sign, str(above), ""
        finite = _finite_decimal(above, below)
        short = len(str(above)) + len(str(below)) <= LONGEST_FRACTION
        if finite is not None and (self.as_typed or below >= LARGE_DENOMINATOR or not short):
            return sign, finite, ""
        return (sign, str(above), str(below)) if short else (sign, _cut_decimal(above, below), "")


@dataclass(frozen=True)
class Symbol:
    """A letter, set in italics, or a name of several letters, set upright."""

    name: str


@dataclass(frozen=True)
class Words:
    """Ordinary text inside a formula, such as the name of a feature."""

    text: str


@dataclass(frozen=True)
class Sign:
    """An operator, a relation or a punctuation mark."""

    mark: str


@dataclass(frozen=True)
class MathRow:
    """Items that stand next to each other."""

    items: tuple[Math, ...]


@dataclass(frozen=True)
class Quotient:
    """One thing over another."""

    above: Math
    below: Math


@dataclass(frozen=True)
class Script:
    """A base with an index below, an exponent above, or both."""

    base: Math
    below: Math | None = None
    above: Math | None = None


@dataclass(frozen=True)
class Root:
    """The square root of something."""

    inside: Math


@dataclass(frozen=True)
class Accent:
    """A symbol under a bar, a hat or a tilde."""

    base: Symbol
    mark: str


@dataclass(frozen=True)
class Fence:
    """Something between delimiters that grow with it: ``()``, ``||`` or ``‖‖``."""

    inside: Math
    left: str = "("
    right: str = ")"


@dataclass(frozen=True)
class Grid:
    """A matrix; a vertical rule stands before column ``bar`` if that is given."""

    rows: tuple[tuple[Math, ...], ...]
    bar: int | None = None


@dataclass(frozen=True)
class Cases:
    """Values, each with the words that say when it applies."""

    branches: tuple[tuple[Math, Math], ...]


@dataclass(frozen=True)
class Expression:
    """A SymPy expression that is no rational number, printed by SymPy."""

    expr: Any


Math: TypeAlias = (
    ExactNumber
    | Symbol
    | Words
    | Sign
    | MathRow
    | Quotient
    | Script
    | Root
    | Accent
    | Fence
    | Grid
    | Cases
    | Expression
)
Mathlike: TypeAlias = Any
"""A node, a number, a SymPy expression or matrix, or a string of tokens such as ``"ŷ = b + w_1 x_1"``."""


def math(*parts: Mathlike) -> Math:
    """Return the notation for the parts, side by side.

    Strings are read as tokens between blanks: a sign, a number, or a symbol with ``_index`` and ``^exponent``.

    Examples
    --------
    >>> math("w = b")
    MathRow(items=(Symbol(name='w'), Sign(mark='='), Symbol(name='b')))
    """
    items: list[Math] = []
    for part in parts:
        items.extend(_read(part))
    return items[0] if len(items) == 1 else MathRow(tuple(items))


def over(above: Mathlike, below: Mathlike) -> Quotient:
    """Return a quotient that is not carried out."""
    return Quotient(math(above), math(below))


def root(inside: Mathlike) -> Root:
    """Return a square root that is not carried out."""
    return Root(math(inside))


def fenced(inside: Mathlike, fence: str = "()") -> Fence:
    """Return something between delimiters."""
    return Fence(math(inside), fence[0], fence[1])


def factor(value: Mathlike) -> Math:
    """Return a number as a factor of a product: negative ones between parentheses."""
    node = math(value)
    return Fence(node) if isinstance(node, ExactNumber) and node.value < 0 else node


def minus(text: str) -> str:
    """Return words with a minus where a hyphen stands before a number or its power of ten.

    Examples
    --------
    >>> minus("x-ray at -0.5, -3e-05")
    'x-ray at −0.5, −3e−05'
    """
    return HYPHEN_MINUS.sub("−", text)


def typed(value: Rational) -> ExactNumber:
    """Return a number of the data, printed the way it was typed."""
    return ExactNumber(value, as_typed=True)


def matrix(rows: Any, *, bar: int | None = None) -> Grid:
    """Return a matrix; ``rows`` is a SymPy matrix or a sequence of sequences."""
    rows = rows.tolist() if hasattr(rows, "tolist") else rows
    return Grid(tuple(tuple(math(cell) for cell in row) for row in rows), bar)


def column(values: Iterable[Mathlike]) -> Grid:
    """Return a column vector."""
    return matrix([[value] for value in values])


def cases(*branches: tuple[Mathlike, Mathlike]) -> Cases:
    """Return a choice between values."""
    return Cases(tuple((math(value), math(condition)) for value, condition in branches))


def total(terms: Sequence[Mathlike]) -> Math:
    """Return ``a + b − c``: the terms joined by their signs."""
    items: list[Math] = []
    for term in terms:
        sign, node = _split_sign(math(term))
        if items or sign == "−":
            items.append(Sign(sign))
        items.append(node)
    return MathRow(tuple(items))


def combination(pairs: Sequence[tuple[Any, Mathlike]]) -> Math:
    """Return ``2 x_1 − 1/3 x_2``: numbers times symbols, zeros left out and ones unwritten."""
    items: list[Math] = []
    for value, symbol in pairs:
        if value == 0:
            continue
        if items or value < 0:
            items.append(Sign("−" if value < 0 else "+"))
        if abs(value) != 1 or symbol == "":
            items.append(math(abs(value)))
        items.extend(_read(symbol))
    return MathRow(tuple(items)) if items else math(0)


def is_unary_minus(items: Sequence[Math], i: int) -> bool:
    """Return whether item ``i`` is a minus with nothing to subtract from on its left."""
    return items[i] == Sign("−") and (i == 0 or isinstance(items[i - 1], Sign))


def needs_space(before: Math, node: Math) -> bool:
    """Return whether a typesetter must be told to leave a space: next to words, after commas and names."""
    if isinstance(before, Sign):
        return before.mark in PUNCTUATION or (
            before.mark in PREFIXES and before.mark != "∑" and not isinstance(node, Fence)
        )
    return Words in (type(before), type(node)) and not isinstance(node, Sign)


def _read(part: Mathlike) -> list[Math]:
    if isinstance(part, str):
        return [_token(token) for token in part.split()]
    if isinstance(part, MathRow):
        return list(part.items)
    if isinstance(part, Rational):
        return [ExactNumber(part)]
    if hasattr(part, "tolist"):
        return [matrix(part)]
    return [Expression(part)] if hasattr(part, "free_symbols") else [part]


def _token(token: str) -> Math:
    if token in SIGNS:
        return Sign(token)
    if re.fullmatch(r"\d+", token):
        return ExactNumber(int(token))  # type: ignore[arg-type]  # an int serves, and SymPy need not be there
    match = re.fullmatch(r"([^_^()]+)(?:_([^^()]+))?(?:\^([^()]+))?", token)
    if match is None:
        raise ValueError(f"token must be a sign, a number or symbol_index^exponent, got {token!r}. Use Words for text.")
    base, below, above = match.groups()
    node = _symbol(base)
    if below is None and above is None:
        return node
    return Script(node, _index(below) if below else None, _index(above) if above else None)


def _symbol(name: str) -> Math:
    split = unicodedata.normalize("NFD", name)
    if len(split) == 2 and split[1] in ACCENTS:
        return Accent(Symbol(split[0]), ACCENTS[split[1]])
    return Symbol(name)


def _index(name: str) -> Math:
    if name.isdigit():
        return ExactNumber(int(name))  # type: ignore[arg-type]  # an int serves, and SymPy need not be there
    return MathRow(tuple(Symbol(letter) for letter in name)) if len(name) == 2 else Symbol(name)


def _split_sign(node: Math) -> tuple[str, Math]:
    if isinstance(node, ExactNumber) and node.value < 0:
        return "−", ExactNumber(-node.value, node.as_typed)  # type: ignore[arg-type]  # minus a Rational is one
    if isinstance(node, MathRow) and node.items[:1] == (Sign("−"),):
        return "−", MathRow(node.items[1:])
    return "+", node


def _finite_decimal(above: int, below: int) -> str | None:
    """Return above / below as a decimal if it ends within SHOWN_DIGITS places."""
    scaled, rest = divmod(above * 10**SHOWN_DIGITS, below)
    if rest:
        return None
    whole, places = divmod(scaled, 10**SHOWN_DIGITS)
    return f"{whole}.{places:0{SHOWN_DIGITS}d}".rstrip("0").rstrip(".")


def _cut_decimal(above: int, below: int) -> str:
    """Return the first significant digits of above / below, and the mark that more follow."""
    digits = Context(prec=SHOWN_DIGITS, rounding=ROUND_DOWN).divide(Decimal(above), Decimal(below))
    plain = -SHOWN_DIGITS <= digits.adjusted() <= LONGEST_FRACTION
    return f"{digits:f}…" if plain else minus(f"{digits:e}…")
