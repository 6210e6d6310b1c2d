"""Mathematical notation on a grid of characters: one line (inline) or stacked (layout)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pellucid.show.notation import (
    PREFIXES,
    PUNCTUATION,
    RELATIONS,
    Accent,
    Cases,
    ExactNumber,
    Expression,
    Fence,
    Grid,
    Math,
    MathRow,
    Quotient,
    Root,
    Script,
    Sign,
    Symbol,
    Words,
    is_unary_minus,
)

SUBSCRIPTS = str.maketrans("0123456789+−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUPERSCRIPTS = str.maketrans("0123456789+−T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀ")
MARKS = {"bar": "\u0304", "hat": "\u0302", "tilde": "\u0303"}
TALL = {"(": "⎛⎜⎝", ")": "⎞⎟⎠", "[": "⎡⎢⎣", "]": "⎤⎥⎦", "|": "│││", "‖": "‖‖‖", "{": "⎧⎪⎩"}
"""Top, middle and bottom of delimiters that span several lines."""

WIDE_GRID = 68
"""Matrices wider than this are set with less space between their columns."""


def width(text: str) -> int:
    """Return how many columns a terminal gives the text."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def pad(text: str, to: int, align: str = "right") -> str:
    """Fill the text with blanks."""
    room = max(to - width(text), 0)
    left = {"left": 0, "right": room, "center": room // 2}[align]
    return " " * left + text + " " * (room - left)


@dataclass(frozen=True)
class TextBox:
    """Lines of equal width; ``axis`` is the line that neighbors align with."""

    lines: tuple[str, ...]
    axis: int = 0

    @property
    def width(self) -> int:
        """Columns taken."""
        return width(self.lines[0])


def beside(boxes: list[TextBox]) -> TextBox:
    """Join boxes left to right on their axes."""
    axis = max(box.axis for box in boxes)
    depth = max(len(box.lines) - box.axis for box in boxes)
    lines = [""] * (axis + depth)
    for box in boxes:
        blank = " " * box.width
        for i in range(len(lines)):
            j = i - axis + box.axis
            lines[i] += box.lines[j] if 0 <= j < len(box.lines) else blank
    return TextBox(tuple(lines), axis)


def layout(node: Math) -> TextBox:
    """Return the notation with quotients stacked and matrices drawn."""
    return _BOXES[type(node)](node)


def inline(node: Math) -> str:
    """Return the notation on one line."""
    return _LINES[type(node)](node)


def _one_line(node: Math) -> TextBox:
    return TextBox((inline(node),))


def _stack(above: TextBox, below: TextBox) -> TextBox:
    columns = max(above.width, below.width)
    lines = [pad(line, columns, "center") for line in above.lines]
    rule = "─" * columns
    return TextBox((*lines, rule, *(pad(line, columns, "center") for line in below.lines)), len(lines))


def _part_of_quotient(node: Math) -> TextBox:
    """A fraction inside a quotient stays on one line: towers of rules are hard to read."""
    return TextBox((inline(node),)) if isinstance(node, ExactNumber) else layout(node)


def _number_box(node: ExactNumber) -> TextBox:
    sign, above, below = node.spelling
    if not below:
        return TextBox((sign + above,))
    fraction = _stack(TextBox((above,)), TextBox((below,)))
    return beside([TextBox((sign,)), fraction]) if sign else fraction


def _number_line(node: ExactNumber) -> str:
    sign, above, below = node.spelling
    return f"{sign}{above}/{below}" if below else sign + above


def gap(before: Math | None, node: Math) -> str:
    """Return the blank between an item and the one before it."""
    if before is None or before == MathRow(()):
        return ""
    if isinstance(node, Sign):
        return "" if node.mark in PUNCTUATION else " "
    if isinstance(before, Sign):
        return "" if before.mark in PREFIXES and isinstance(node, Fence) and before.mark != "∑" else " "
    return "" if isinstance(node, Fence) and isinstance(before, (Symbol, Script, Fence)) else " "


def _row_gaps(row: MathRow) -> list[str]:
    """Blanks before each item; a minus that has nothing to its left sticks to what follows."""
    gaps: list[str] = []
    for i, node in enumerate(row.items):
        blank = gap(row.items[i - 1] if i else None, node)
        gaps.append("" if i and is_unary_minus(row.items, i - 1) else blank)
    return gaps


def _row_box(row: MathRow) -> TextBox:
    boxes: list[TextBox] = []
    for blank, node in zip(_row_gaps(row), row.items, strict=True):
        if blank:
            boxes.append(TextBox((blank,)))
        boxes.append(layout(node))
    return beside(boxes) if boxes else TextBox(("",))


def _row_line(row: MathRow) -> str:
    return "".join(blank + inline(node) for blank, node in zip(_row_gaps(row), row.items, strict=True))


def _quotient_line(node: Quotient) -> str:
    return f"{_atom(node.above)} / {_atom(node.below)}"


def _atom(node: Math) -> str:
    text = inline(node)
    simple = not isinstance(node, (MathRow, Quotient)) and "/" not in text
    return text if simple else f"({text})"


def _raised(node: Math, alphabet: dict[int, Any], otherwise: str) -> str:
    text = inline(node).replace(" ", "")
    # Unicode lacks half the letters: S_xx next to S_xy should look alike, so words are never translated.
    known = all(ord(c) in alphabet for c in text) and (len(text) == 1 or not text.isalpha())
    return text.translate(alphabet) if known else f"{otherwise}{text}"


def _scripts(node: Script) -> tuple[str, str]:
    below = _raised(node.below, SUBSCRIPTS, "_") if node.below is not None else ""
    above = _raised(node.above, SUPERSCRIPTS, "^") if node.above is not None else ""
    return below, above


def _script_line(node: Script) -> str:
    base = inline(node.base) if isinstance(node.base, (Symbol, Accent, Fence, Sign)) else _atom(node.base)
    return base + "".join(_scripts(node))


def _script_box(node: Script) -> TextBox:
    base = layout(node.base)
    below, above = _scripts(node)
    if len(base.lines) == 1:
        return TextBox((_script_line(node),))
    edge = [""] * len(base.lines)
    edge[0], edge[-1] = above, below
    columns = max(width(above), width(below))
    return beside([base, TextBox(tuple(pad(line, columns, "left") for line in edge), base.axis)])


def _root_line(node: Root) -> str:
    inside = inline(node.inside)
    return f"√{inside}" if isinstance(node.inside, (Symbol, Script, Accent)) or inside.isdigit() else f"√({inside})"


def _accent_line(node: Accent) -> str:
    return unicodedata.normalize("NFC", node.base.name + MARKS[node.mark])


def _tall(mark: str, height: int, axis: int) -> TextBox:
    if height == 1:
        return TextBox((mark,))
    top, middle, bottom = tuple(TALL[mark])
    lines = [top, *[middle] * (height - 2), bottom]
    if mark == "{" and height > 2:
        lines[axis] = "⎨"
    return TextBox(tuple(lines), axis)


def _fence_box(node: Fence) -> TextBox:
    inside = layout(node.inside)
    height = len(inside.lines)
    return beside([_tall(node.left, height, inside.axis), inside, _tall(node.right, height, inside.axis)])


def _fence_line(node: Fence) -> str:
    return f"{node.left}{inline(node.inside)}{node.right}"


def _grid_box(node: Grid) -> TextBox:
    cells = [[inline(cell) for cell in row] for row in node.rows]
    columns = [max(width(row[j]) for row in cells) for j in range(len(cells[0]))]
    lines = []
    space = "  " if sum(columns) + 2 * len(columns) < WIDE_GRID else " "
    for row in cells:
        padded = [pad(cell, size) for cell, size in zip(row, columns, strict=True)]
        if node.bar is not None:
            padded.insert(node.bar, "│")
        lines.append(space.join(padded))
    height = len(lines)
    axis = (height - 1) // 2
    return beside([_tall("[", height, axis), TextBox(tuple(lines), axis), _tall("]", height, axis)])


def _grid_line(node: Grid) -> str:
    return "[" + "; ".join("  ".join(inline(cell) for cell in row) for row in node.rows) + "]"


def _cases_box(node: Cases) -> TextBox:
    pairs = [(inline(value), inline(condition)) for value, condition in node.branches]
    left = max(width(value) for value, _ in pairs)
    right = max(width(condition) for _, condition in pairs)
    lines = tuple(f"{pad(value, left, 'left')}  {pad(condition, right, 'left')}" for value, condition in pairs)
    axis = (len(lines) - 1) // 2
    return beside([_tall("{", len(lines), axis), TextBox((" ",)), TextBox(lines, axis)])


def _cases_line(node: Cases) -> str:
    return "; ".join(f"{inline(value)} {inline(condition)}" for value, condition in node.branches)


def _expression_box(node: Expression) -> TextBox:
    from sympy.printing.pretty.pretty import PrettyPrinter

    form = PrettyPrinter({"use_unicode": True, "wrap_line": False})._print(node.expr)
    lines = form.render(wrap_line=False).split("\n")
    columns = max(width(line) for line in lines)
    return TextBox(tuple(pad(line, columns, "left") for line in lines), form.baseline)


def _expression_line(node: Expression) -> str:
    return str(node.expr).replace("**", "^").replace("sqrt", "√").replace("*", "·").replace("-", "−")


_LINES: dict[type, Callable[[Any], str]] = {
    ExactNumber: _number_line,
    Symbol: lambda node: node.name,
    Words: lambda node: node.text,
    Sign: lambda node: node.mark,
    MathRow: _row_line,
    Quotient: _quotient_line,
    Script: _script_line,
    Root: _root_line,
    Accent: _accent_line,
    Fence: _fence_line,
    Grid: _grid_line,
    Cases: _cases_line,
    Expression: _expression_line,
}

_BOXES: dict[type, Callable[[Any], TextBox]] = {
    **dict.fromkeys((Symbol, Words, Sign, Root, Accent), _one_line),
    ExactNumber: _number_box,
    MathRow: _row_box,
    Quotient: lambda node: _stack(_part_of_quotient(node.above), _part_of_quotient(node.below)),
    Script: _script_box,
    Fence: _fence_box,
    Grid: _grid_box,
    Cases: _cases_box,
    Expression: _expression_box,
}


EMPTY = MathRow(())
"""Stands at the start of a continued line, so that its plus or minus is set as one between two terms."""


def fits(content: Math, columns: int = 72) -> bool:
    """Return whether a formula needs no break on any of the printers' lines."""
    return layout(content).width <= columns


def broken(content: Math, columns: int) -> tuple[Math | None, list[Math]]:
    """Return the left side (None if the formula fits as it is) and the lines that stand to its right.

    Every line starts with its relation, so that printers can align them under each other.
    """
    if not isinstance(content, MathRow) or layout(content).width <= columns:
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


def _split(row: MathRow, marks: frozenset[str]) -> Iterator[MathRow]:
    """Cut the row before the marks, but not between a relation and a leading sign."""
    piece: list[Math] = []
    for node in row.items:
        if isinstance(node, Sign) and node.mark in marks and piece and not _is_relation(piece[-1]):
            yield MathRow(tuple(piece))
            piece = []
        piece.append(node)
    yield MathRow(tuple(piece))


def _filled(pieces: list[MathRow], columns: int) -> Iterator[MathRow]:
    """Put as many pieces on each line as fit."""
    line = pieces[0]
    for piece in pieces[1:]:
        longer = MathRow(line.items + piece.items)
        if layout(longer).width <= columns:
            line = longer
        else:
            yield line
            line = MathRow((EMPTY, *piece.items))
    yield line


def _is_relation(node: Math) -> bool:
    return isinstance(node, Sign) and node.mark in RELATIONS
