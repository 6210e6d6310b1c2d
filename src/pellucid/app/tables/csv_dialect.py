"""How a text file writes a table: its encoding, what stands between columns, how numbers are written."""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
UNICODE, WESTERN = "utf-8", "cp1252"
"""What is tried without a mark, and what is taken for it if that fails: Latin-1 with the signs of Windows."""
DELIMITERS = (",", ";", "\t", "|")
DELIMITER_WORDS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MOST_LINES = 200
COMMA_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+")
POINT_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(,\d{3})+)\.\d+")
WHOLE_NUMBER = re.compile(r"[-+]?\d+")
GROUPED_BY_POINTS = re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d+)?")


NO_NAMES = "The first line looks like a row, not like names: the columns are called column 1, column 2 and so on."
FEWEST_TO_COMPARE = 5
"""Rows needed to see that the first line is like the others."""


@dataclass(frozen=True)
class Dialect:
    """What a reader must know about a text file."""

    encoding: str = UNICODE
    delimiter: str = ","
    decimal: str = "."
    thousands: str | None = None
    names: tuple[str, ...] = ()
    """What the first line says."""
    has_names: bool = True
    """Whether the first line names the columns; else it is a row like all others."""

    def notes(self) -> list[str]:
        """Return in sentences what is not as usual."""
        unusual = []
        if self.encoding not in (UNICODE, "utf-8-sig"):
            unusual.append(f"The file was read as {self.encoding.upper()}.")
        if self.delimiter != ",":
            unusual.append(f"Its columns are separated by {DELIMITER_WORDS[self.delimiter]}.")
        if self.decimal != ".":
            unusual.append("Its numbers were read with a decimal comma.")
        if not self.has_names:
            return [*unusual, NO_NAMES]
        twice = [name for name, count in Counter(self.names).items() if name and count > 1]
        unusual += [f"Column {name} stands there more than once: later ones got a number behind it." for name in twice]
        return unusual


def find_encoding(start: bytes) -> str:
    """Return the encoding that the first bytes of a file suggest."""
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if len(start) >= 4 and start.count(0) >= len(start) // 4:  # every other byte of plain English in UTF-16 is 0
        return "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    try:
        codecs.getincrementaldecoder(UNICODE)().decode(start)  # the last letter may be cut in two
    except UnicodeDecodeError:
        return WESTERN
    return UNICODE


def find_dialect(start: bytes, encoding: str, delimiter: str | None = None) -> Dialect:
    """Return how a file is written, from its first bytes."""
    text = codecs.getincrementaldecoder(encoding)(errors="replace").decode(start).removeprefix("\N{BYTE ORDER MARK}")
    lines = [line for line in text.splitlines() if line.strip()][:MOST_LINES]
    if len(lines) > 1 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]  # it may be cut
    delimiter = delimiter or max(DELIMITERS, key=lambda mark: _consistency(lines, mark))
    names, *rows = list(csv.reader(lines, delimiter=delimiter)) or [[]]
    cells = [cell.strip() for row in rows for cell in row]
    has_names = not _is_row(names, rows)
    if delimiter == "," or not _writes_commas(cells):
        return Dialect(encoding, delimiter, names=tuple(names), has_names=has_names)
    thousands = "." if any(map(GROUPED_BY_POINTS.fullmatch, cells)) else None
    return Dialect(encoding, delimiter, ",", thousands, tuple(names), has_names)


def _is_row(first: list[str], rows: list[list[str]]) -> bool:
    """Return whether the first line is a row like all others, as far as that can be seen: names are the usual case.

    There is a number in it where all others have numbers, no word where they have numbers, and no word that a column of
    few words does not have again. Whole numbers that rise, such as years, may well be names.
    """
    rows = [row for row in rows if len(row) == len(first)]
    if len(first) < 2 or len(rows) < FEWEST_TO_COMPARE:
        return False
    numbers = []
    for place, cell in enumerate(first):
        others = [row[place].strip() for row in rows if row[place].strip()]
        if others and all(map(_is_number, others)):
            if not _is_number(cell):
                return False
            numbers.append(cell)
        elif len(set(others)) <= len(others) / 2 and cell.strip() not in others:
            return False
    return bool(numbers) and not _may_be_names(numbers)


def _is_number(cell: str) -> bool:
    return any(pattern.fullmatch(cell.strip()) for pattern in (WHOLE_NUMBER, POINT_NUMBER, COMMA_NUMBER))


def _may_be_names(numbers: list[str]) -> bool:
    """Return whether numbers are whole and rise, as years, places and points in time do."""
    if not all(WHOLE_NUMBER.fullmatch(cell.strip()) for cell in numbers):
        return False
    values = [int(cell) for cell in numbers]
    return all(earlier < later for earlier, later in pairwise(values))


def _consistency(lines: list[str], delimiter: str) -> tuple[float, int]:
    """Return the share of lines with the usual number of cells, and that number; one column says nothing."""
    counts = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
    if not counts:
        return 0.0, 0
    width, lines_so = max(counts.items(), key=lambda pair: (pair[1], pair[0]))
    return (lines_so / counts.total(), width) if width > 1 else (0.0, 1)


def _writes_commas(cells: Iterable[str]) -> bool:
    """Return whether numbers have decimal commas: some do, and fewer have decimal points."""
    with_comma = with_point = 0
    for cell in cells:
        with_comma += COMMA_NUMBER.fullmatch(cell) is not None
        with_point += POINT_NUMBER.fullmatch(cell) is not None and GROUPED_BY_POINTS.fullmatch(cell) is None
    return with_comma > with_point
