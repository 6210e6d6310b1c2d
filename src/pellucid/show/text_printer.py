"""Workings as text for a terminal of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from pellucid.show.document import Block, Document, Drawing, Figure, FormulaLine, Sentence, Table, sentence
from pellucid.show.notation import Math
from pellucid.show.svg import Scale, scales
from pellucid.show.text_layout import TextBox, beside, broken, inline, layout, pad, width

COLUMNS = 80
INDENT = 4
JOINT = "\u00a0"
"""Stands for the blanks inside a formula, so that a sentence is not broken there."""


def print_text(document: Document) -> str:
    """Return the document as text."""
    parts = [document.title, "═" * width(document.title), ""]
    parts += [_block(block) + "\n" for block in document.introduction]
    for number, step in enumerate(document.steps, 1):
        heading = f"{document.step_name} {number}. {step.heading}"
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


def _formula(block: FormulaLine) -> str:
    box = stacked(block.content, COLUMNS - INDENT - 4 * block.boxed)
    if block.boxed:
        rule = "─" * (box.width + 2)
        box = TextBox((f"┌{rule}┐", *(f"│ {line} │" for line in box.lines), f"└{rule}┘"))
    return textwrap.indent("\n".join(box.lines), " " * INDENT)


def stacked(content: Math, columns: int) -> TextBox:
    """Lay the formula out, broken over several lines if it is wider than the columns."""
    left, lines = broken(content, columns)
    boxes = [layout(line) for line in lines]
    if left is not None:
        head = layout(left)
        margins = [head, *[TextBox((" " * head.width,))] * (len(boxes) - 1)]
        boxes = [beside([margin, TextBox((" ",)), box]) for margin, box in zip(margins, boxes, strict=True)]
    rows = list(boxes[0].lines)
    for above, box in pairwise(boxes):
        tall = len(above.lines) > 1 or len(box.lines) > 1
        rows += ["", *box.lines] if tall else box.lines
    wide = max(map(width, rows))
    return TextBox(tuple(pad(row, wide, "left") for row in rows))


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
    FormulaLine: _formula,
    Table: _table,
    Figure: _figure,
    Drawing: _drawing,
}


FIGURE_COLUMNS, ROWS = 52, 14
LINE_MARKS, DOT_MARKS = "·+×∘", "●○■□"


def draw(figure: Figure) -> list[str]:
    """Return the figure as lines of text."""
    across, up = scales(figure)
    canvas = [[" "] * FIGURE_COLUMNS for _ in range(ROWS)]
    curves, dots = ([series for series in figure.series if series.joined is joined] for joined in (True, False))
    line_marks = dict(zip([series.label for series in curves if series.label], LINE_MARKS, strict=False))
    drawn = [(series, line_marks.get(series.label, "·")) for series in curves]
    drawn += [(series, DOT_MARKS[i % len(DOT_MARKS)]) for i, series in enumerate(dots)]
    for series, mark in drawn:
        for x, y in _cells(series.x, series.y, across, up, joined=series.joined):
            canvas[ROWS - 1 - y][x] = mark
    left = max(len(up.low_text), len(up.high_text))
    margins = [up.high_text, *[""] * (ROWS - 2), up.low_text]
    lines = [f"{margin:>{left}} │{''.join(row)}" for margin, row in zip(margins, canvas, strict=True)]
    room = FIGURE_COLUMNS - len(across.low_text) - len(across.high_text)
    foot = f"{across.low_text}{figure.x_label:^{room}}{across.high_text}"
    entries = [f"{mark} {series.label}" for series, mark in drawn if series.label]
    on_one_line = "   ".join(entries)
    legend = [
        " " * (left + 3) + line for line in ([on_one_line] if len(on_one_line) <= FIGURE_COLUMNS else entries) if line
    ]
    return [
        f"{'':>{left}} {figure.y_label}",
        *lines,
        f"{'':>{left}} └{'─' * FIGURE_COLUMNS}",
        f"{'':>{left}}  {foot}",
        *legend,
    ]


def _cells(
    xs: tuple[float, ...], ys: tuple[float, ...], across: Scale, up: Scale, *, joined: bool
) -> list[tuple[int, int]]:
    points = [(across.place(x), up.place(y)) for x, y in zip(xs, ys, strict=True)]
    if joined:
        points = [
            (a + (c - a) * t / FIGURE_COLUMNS, b + (d - b) * t / FIGURE_COLUMNS)
            for (a, b), (c, d) in pairwise(points)
            for t in range(FIGURE_COLUMNS + 1)
        ]
    return [(round(x * (FIGURE_COLUMNS - 1)), round(y * (ROWS - 1))) for x, y in points]


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
