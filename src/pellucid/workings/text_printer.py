"""Workings as text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pellucid.workings.document import Block, Document, Drawing, Figure, Formula, Sentence, Table
from pellucid.workings.line_breaking import broken
from pellucid.workings.notation import Math
from pellucid.workings.text_figure import draw
from pellucid.workings.text_layout import Box, beside, inline, layout, pad, width

COLUMNS = 80
INDENT = 4
JOINT = "\u00a0"
"""Stands for the blanks inside a formula, so that a sentence is not broken there."""


def print_text(document: Document) -> str:
    """Return the document as text."""
    parts = [document.title, "═" * width(document.title), ""]
    parts += [_block(block) + "\n" for block in document.introduction]
    for number, step in enumerate(document.steps, 1):
        heading = f"Step {number}. {step.heading}"
        parts += [heading, "─" * width(heading), ""]
        parts += [_block(block) + "\n" for block in step.blocks]
    lines = "\n".join(parts).rstrip().split("\n")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block) -> str:
    return _BLOCKS[type(block)](block)


def _word(part: str | Math) -> str:
    return part if isinstance(part, str) else inline(part)


def _sentence(block: Sentence) -> str:
    text = "".join(p if isinstance(p, str) else _joined(inline(p)) for p in block.parts)
    lead = "│ " if block.aside else ""
    wrapped = textwrap.fill(
        text, COLUMNS, initial_indent=lead, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False
    )
    return wrapped.replace(JOINT, " ")


def _joined(text: str) -> str:
    return text.replace(" ", JOINT) if width(text) < COLUMNS // 2 else text


def _formula(block: Formula) -> str:
    box = stacked(block.content, COLUMNS - INDENT - 4 * block.boxed)
    if block.boxed:
        rule = "─" * (box.width + 2)
        box = Box((f"┌{rule}┐", *(f"│ {line} │" for line in box.lines), f"└{rule}┘"))
    return textwrap.indent("\n".join(box.lines), " " * INDENT)


def stacked(content: Math, columns: int) -> Box:
    """Lay the formula out, broken over several lines if it is wider than the columns."""
    left, lines = broken(content, columns)
    boxes = [layout(line) for line in lines]
    if left is not None:
        head = layout(left)
        margins = [head, *[Box((" " * head.width,))] * (len(boxes) - 1)]
        boxes = [beside([margin, Box((" ",)), box]) for margin, box in zip(margins, boxes, strict=True)]
    rows = list(boxes[0].lines)
    for above, box in pairwise(boxes):
        tall = len(above.lines) > 1 or len(box.lines) > 1
        rows += ["", *box.lines] if tall else box.lines
    wide = max(map(width, rows))
    return Box(tuple(pad(row, wide, "left") for row in rows))


def _table(block: Table) -> str:
    head, *body = [[_word(cell) for cell in row] for row in (block.head, *block.rows, *block.summary)]
    columns = [max(width(row[j]) for row in (head, *body)) for j in range(len(head))]

    def line(row: list[str]) -> str:
        return "  ".join(pad(c, size, align) for c, size, align in zip(row, columns, block.aligns, strict=True))

    rule = "  ".join("─" * size for size in columns)
    count = len(block.rows)
    lines = [line(head), rule, *map(line, body[:count])]
    lines += [rule, *map(line, body[count:])] if block.summary else []
    caption = [textwrap.fill(block.caption, COLUMNS), ""] if block.caption else []
    return "\n".join([*caption, *(" " * INDENT + row for row in lines)])


def _figure(block: Figure) -> str:
    return "\n".join([textwrap.indent("\n".join(draw(block)), " " * INDENT), textwrap.fill(block.caption, COLUMNS)])


def _drawing(block: Drawing) -> str:
    return "\n".join([textwrap.indent(block.text, " " * INDENT), "", textwrap.fill(block.caption, COLUMNS)])


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Sentence: _sentence,
    Formula: _formula,
    Table: _table,
    Figure: _figure,
    Drawing: _drawing,
}
