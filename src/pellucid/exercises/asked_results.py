"""What an exercise asks for: the results of the steps of the workings, in the order of the work."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias

from pellucid.show.document import Block, FormulaLine, Sentence, Step, Table
from pellucid.show.notation import (
    ExactNumber,
    Expression,
    Fence,
    Grid,
    Math,
    MathRow,
    Quotient,
    Sign,
    Symbol,
    Words,
    math,
)
from pellucid.show.text_layout import inline

ABOUT = Sign("≈")
EQUAL_SIGNS = (Sign("="), ABOUT, Sign("←"))
SUM_SIGNS = frozenset({Sign("+"), Sign("−"), Sign("·"), Sign("∑")})
DECISIONS = frozenset({"nearest", "decision", "verdict", "majority"})
"""Columns that are asked for beside the equations of a step."""
FIRST_DECIDED = "nearest"
"""The one that its equations follow from."""
DECIMAL = re.compile(r"[−-]?\d+(\.\d+)?(e[+-]?\d+)?")
CLOSE = 0.005
"""How far a number may be from the right one, relative to its size if that is above 1: two decimals are enough."""
MOST_PER_STEP = 4
"""Results asked of one step: its last ones."""
MOST_NUMBERS = 16
"""Numbers of one result, a matrix of four rows."""

Value: TypeAlias = Any
"""A rational, a decimal that was rounded, a SymPy number, or a text."""


@dataclass(frozen=True)
class AskedResult:
    """A result of a step: what is asked, its numbers or words one after the other, and how the workings write it."""

    step: int
    """Number of the step in the workings, from 1."""
    heading: str
    """The heading of that step."""
    label: Math
    """What is asked, as notation: the left side of an equation, or the head of a column."""
    values: tuple[Value, ...]
    """What is right: exact numbers, rounded decimals or texts, one for each entry of a vector, matrix or column."""
    shown: Math
    """The right side of it, as the workings write it."""
    rows: tuple[Math, ...] = ()
    """Of a column of a table, what its rows are called."""
    either_sign: bool = False
    """Whether minus all of it is as right: a direction."""

    @property
    def name(self) -> str:
        """What is asked, on one line of plain text."""
        return inline(self.label)

    @property
    def right(self) -> str:
        """The right answer on one line, as a student may write it: ``1/3; 2``."""
        return "; ".join(_written(value) for value in self.values)

    def is_right(self, answer: str) -> bool:
        """Return whether an answer says the same, in fractions or to two decimals; its parts stand apart by ; or ,."""
        given = _parts(answer, len(self.values))
        if len(given) != len(self.values):
            return False
        pairs = list(zip(given, self.values, strict=True))
        return any(
            all(_agrees(one, value, sign) for one, value in pairs) for sign in ((1, -1) if self.either_sign else (1,))
        )


def asked_in(number: int, work: Step, given: Sequence[str] = ()) -> list[AskedResult]:
    """Return the results of a step: its equations that end in numbers, and who was decided how; or else a table.

    What has two values in one step is not asked for, nor what is ``given``, by its name.
    """
    lines = [block for block in work.blocks if isinstance(block, FormulaLine)]
    found = [(block.boxed, *pair) for block in lines for pair in _equations(block.content, boxed=block.boxed)]
    found = [one for one in found if inline(one[1]) not in given and len(_namesakes(found, one[1])) == 1]
    if len(found) > MOST_PER_STEP:
        plain = [one for one in found if not one[0]]
        room = max(MOST_PER_STEP - (len(found) - len(plain)), 0)
        found = [one for one in found if one[0] or one in plain[len(plain) - room :]]
    chosen: list[tuple[Math, Math, tuple[Math, ...]]] = [(label, shown, ()) for _, label, shown in found]
    chosen = chosen or [(label, shown, ()) for label, shown in _told(work.blocks)]
    column = list(_last_column(work.blocks, only=DECISIONS if chosen else None))
    chosen = [*column, *chosen] if column and inline(column[0][0]) == FIRST_DECIDED else [*chosen, *column]
    once = {inline(label): (label, shown, rows) for label, shown, rows in chosen}
    asked = []
    for label, shown, rows in once.values():
        values = values_of(shown)
        if values is not None and len(values) <= MOST_NUMBERS:
            asked.append(AskedResult(number, work.heading, label, values, shown, rows))
    return asked


def _namesakes(found: Sequence[tuple[bool, Math, Math]], label: Math) -> set[Math]:
    return {shown for _, other, shown in found if other == label}


def values_of(node: Math) -> tuple[Value, ...] | None:
    """Return the numbers and words that a piece of notation holds; None if it holds anything else.

    Examples
    --------
    >>> values_of(math("− 3")), values_of(math("x + 1"))
    ((-3,), None)
    """
    match node:
        case ExactNumber(value):
            return (value,)
        case Words(text) | Symbol(text):
            if DECIMAL.fullmatch(text):  # decimals come as words
                return (Decimal(text.replace("−", "-")),)
            return (text.strip(),) if isinstance(node, Words) and text.strip() else None
        case Expression(expr):
            return (expr,) if expr.is_number and expr.is_real else None
        case Quotient(above, below):
            top, bottom = values_of(above), values_of(below)
            is_plain = top and bottom and not any(isinstance(part[0], str) for part in (top, bottom))
            return (Fraction(top[0]) / Fraction(bottom[0]),) if is_plain and top and bottom else None
        case Grid(rows):
            return _joined(cell for row in rows for cell in row)
        case Fence(inside):
            return values_of(inside)
        case MathRow(items):
            return _of_row(items)
    return None


def _of_row(items: tuple[Math, ...]) -> tuple[Value, ...] | None:
    if Sign(",") in items:
        return _joined(math(*part) for part in _split(items, Sign(",")))
    if len(items) == 2 and items[0] == Sign("−"):
        inside = values_of(items[1])
        return None if inside is None or isinstance(inside[0], str) else tuple(-value for value in inside)
    return None


def _joined(nodes: Any) -> tuple[Value, ...] | None:
    parts = [values_of(node) for node in nodes]
    return None if not parts or any(part is None for part in parts) else tuple(v for part in parts for v in part or ())


def _equations(content: Math, *, boxed: bool = False) -> Iterator[tuple[Math, Math]]:
    """Yield the left side and the last right side of equations; of a condition in a box, the whole of it."""
    items = content.items if isinstance(content, MathRow) else (content,)
    if boxed and isinstance(content, Words):
        yield Words("the choice"), content
    for part in _split(items, Sign(",")):
        places = [i for i, item in enumerate(part) if item in EQUAL_SIGNS]
        if not places:
            continue
        sides = [math(*part[start + 1 : end]) for start, end in zip(places, [*places[1:], len(part)], strict=True)]
        valued = [side for side in sides if values_of(side) is not None]
        if not valued or places[0] == 0 or sides[-1] != valued[-1]:
            continue
        is_about = part[places[-1]] == ABOUT and len(valued) > 1 and sides[-2] == valued[-2]
        label, right = math(*part[: places[0]]), valued[-2] if is_about else valued[-1]
        is_condition = isinstance(label, MathRow) and bool({Sign("≥"), Sign("≤")} & set(label.items))
        if not is_condition and (values_of(right) != (0,) or not _is_sum(label)):  # a sum that is 0 is a condition too
            yield label, right


def _is_sum(label: Math) -> bool:
    return isinstance(label, Expression) or (isinstance(label, MathRow) and bool(SUM_SIGNS & set(label.items)))


def _split(items: tuple[Math, ...], mark: Sign) -> Iterator[tuple[Math, ...]]:
    cuts = [-1, *(i for i, item in enumerate(items) if item == mark), len(items)]
    yield from (items[start + 1 : end] for start, end in pairwise(cuts))


def _told(blocks: Sequence[Block]) -> Iterator[tuple[Math, Math]]:
    """Yield the equations that sentences, remarks aside, tell."""
    for block in blocks:
        for part in block.parts if isinstance(block, Sentence) and not block.aside else ():
            if not isinstance(part, str):
                yield from _equations(part)


def _last_column(blocks: Sequence[Block], only: frozenset[str] | None) -> Iterator[tuple[Math, Math, tuple[Math, ...]]]:
    """Yield the last column of the last table whose cells are numbers or words; or none but those of these names."""
    for block in reversed([one for one in blocks if isinstance(one, Table) and len(one.rows) <= MOST_NUMBERS]):
        for j in range(len(block.head) - 1, 0, -1):
            cells = [_as_math(row[j]) for row in block.rows]
            values = [values_of(cell) for cell in cells]
            if block.head[j] != "" and values and all(value is not None and len(value) == 1 for value in values):
                if only is None or block.head[j] in only:
                    rows = tuple(_as_math(row[0]) for row in block.rows)
                    yield _as_math(block.head[j]), math(Grid(tuple((cell,) for cell in cells))), rows
                break
        else:
            continue
        return


def _as_math(cell: str | Math) -> Math:
    return Words(cell) if isinstance(cell, str) else cell


def _written(value: Value) -> str:
    if isinstance(value, (str, Decimal)):
        return str(value)
    node = math(value)
    if isinstance(node, ExactNumber):
        sign, above, below = node.spelling
        return f"{sign}{above}{'/' + below if below else ''}".replace("−", "-")
    return f"{float(value):.4f}"


def _parts(answer: str, n: int) -> list[str]:
    answer = answer.strip().strip("[]()")
    if n == 1:
        return [answer] if answer else []
    mark = ";" if ";" in answer else ","
    parts = answer.split(mark) if mark in answer else answer.split()
    return [part for part in map(str.strip, parts) if part]


def _agrees(given: str, value: Value, sign: int) -> bool:
    if isinstance(value, str):
        return _plain(given) == _plain(value)
    number = _read(given)
    return number is not None and abs(number - sign * float(value)) <= CLOSE * max(1.0, abs(float(value)))


def _read(text: str) -> float | None:
    """Return a number as people write it, 1/3 and 0,5 too; None for anything else."""
    try:
        return float(Fraction(text.strip(" …").replace(" ", "").replace("−", "-").replace(",", ".")))
    except (ValueError, ZeroDivisionError):
        return None


def _plain(text: str) -> str:
    """Return a text without what a keyboard lacks: indices as digits, <= for the sign, no blanks."""
    signs = {"≤": "<=", "≥": ">=", "−": "-"}
    text = "".join(signs.get(letter, letter) for letter in text.casefold())
    return re.sub(r"[\s_]", "", unicodedata.normalize("NFKC", text))
