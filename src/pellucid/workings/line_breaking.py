"""Long formulas are broken before their relations, and sums that are still too long before a plus or minus."""

from __future__ import annotations

from collections.abc import Iterator

from pellucid.workings.notation import RELATIONS, Math, Row, Sign
from pellucid.workings.text_layout import layout

EMPTY = Row(())
"""Stands at the start of a continued line, so that its plus or minus is set as one between two terms."""


def fits(content: Math, columns: int = 72) -> bool:
    """Return whether a formula needs no break on any of the printers' lines."""
    return layout(content).width <= columns


def broken(content: Math, columns: int) -> tuple[Math | None, list[Math]]:
    """Return the left side (None if the formula fits as it is) and the lines that stand to its right.

    Every line starts with its relation, so that printers can align them under each other.
    """
    if not isinstance(content, Row) or layout(content).width <= columns:
        return None, [content]
    pieces = list(_split(content, RELATIONS))
    if len(pieces) == 1:
        return None, list(_filled(list(_split(content, frozenset("+−"))), columns))
    left, *relations = pieces
    room = max(columns - layout(left).width - 1, columns // 2)
    lines: list[Math] = []
    for line in _filled(relations, room):
        too_long = layout(line).width > room
        lines.extend(_filled(list(_split(line, frozenset("+−"))), room) if too_long else [line])
    return left, lines


def _split(row: Row, marks: frozenset[str]) -> Iterator[Row]:
    """Cut the row before the marks, but not between a relation and a leading sign."""
    piece: list[Math] = []
    for node in row.items:
        if isinstance(node, Sign) and node.mark in marks and piece and not _is_relation(piece[-1]):
            yield Row(tuple(piece))
            piece = []
        piece.append(node)
    yield Row(tuple(piece))


def _filled(pieces: list[Row], columns: int) -> Iterator[Row]:
    """Put as many pieces on each line as fit."""
    line = pieces[0]
    for piece in pieces[1:]:
        longer = Row(line.items + piece.items)
        if layout(longer).width <= columns:
            line = longer
        else:
            yield line
            line = Row((EMPTY, *piece.items))
    yield line


def _is_relation(node: Math) -> bool:
    return isinstance(node, Sign) and node.mark in RELATIONS
