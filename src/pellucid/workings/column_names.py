"""What columns of the data are called, and blocks that fit the width of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.workings.document import Block, Document, sentence
from pellucid.workings.text_layout import width
from pellucid.workings.text_printer import COLUMNS

WIDEST = 56
"""Characters of all names together, with space between, that fit above columns."""


def name_columns(names: Sequence[str], n: int) -> tuple[list[str], list[Block]]:
    """Return what to call the columns, and the note that says what symbols stand for where names are long."""
    if names and not is_wide(names):
        return list(names), []
    symbols = ["x" + "".join(chr(ord("₀") + int(digit)) for digit in str(j + 1)) for j in range(n)]
    told = ", ".join(f"{symbol} is {name}" for symbol, name in zip(symbols, names, strict=False))
    return symbols, [sentence(f"Here {told}.")] if names else []


def is_wide(names: Sequence[str]) -> bool:
    """Return whether the names are too long to head columns."""
    return sum(map(len, names)) + 2 * len(names) > WIDEST


def first_that_fits(*choices: Sequence[Block]) -> list[Block]:
    """Return the first of several ways to show the same thing that fits the terminal; the last if none does."""
    for blocks in choices:
        if max(map(width, Document("", tuple(blocks), ()).text().splitlines())) <= COLUMNS:
            return list(blocks)
    return list(choices[-1])
