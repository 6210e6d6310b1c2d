"""Workings as Markdown with formulas between dollar signs."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any

from pellucid.show.document import Block, Document, Drawing, Figure, FormulaLine, Sentence, Table
from pellucid.show.latex_math import display, latex
from pellucid.show.notation import Math
from pellucid.show.svg import svg

COLUMNS = 96


def print_markdown(document: Document) -> str:
    """Return the document as Markdown."""
    parts = [f"# {escape(document.title)}", *(_block(block) for block in document.introduction)]
    for number, step in enumerate(document.steps, 1):
        parts.append(f"## {document.step_name} {number}. {escape(step.heading)}")
        parts += [_block(block) for block in step.blocks]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Return text that Markdown prints as it stands."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|$~])", r"\\\1", text)


def _block(block: Block) -> str:
    return _BLOCKS[type(block)](block)


def _word(part: str | Math) -> str:
    return escape(part) if isinstance(part, str) else f"${latex(part)}$"


def _cell(part: str | Math) -> str:
    return _word(part) if isinstance(part, str) else _word(part).replace("|", r"\vert ")


def _sentence(block: Sentence) -> str:
    text = "".join(_word(part) for part in block.parts)
    return f"> {text}" if block.aside else text


def _formula(block: FormulaLine) -> str:
    content = display(block.content, COLUMNS)
    return f"$$\n\\boxed{{{content}}}\n$$" if block.boxed else f"$$\n{content}\n$$"


def _table(block: Table) -> str:
    aligns = ["---:" if align == "right" else "---" for align in block.aligns]
    rows = [_row(block.head), "| " + " | ".join(aligns) + " |", *map(_row, (*block.rows, *block.summary))]
    caption = [escape(block.caption), ""] if block.caption else []
    return "\n".join([*caption, *rows])


def _row(cells: tuple[str | Math, ...]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _figure(block: Figure) -> str:
    return _picture(svg(block, standalone=True), block.caption)


def _drawing(block: Drawing) -> str:
    return _picture(block.svg, block.caption)


def _picture(svg: str, caption: str) -> str:
    data = b64encode(svg.encode()).decode()
    return f"![{escape(caption)}](data:image/svg+xml;base64,{data})\n\n*{escape(caption)}*"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Sentence: _sentence,
    FormulaLine: _formula,
    Table: _table,
    Figure: _figure,
    Drawing: _drawing,
}
