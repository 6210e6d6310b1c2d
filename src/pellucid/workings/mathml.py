"""Mathematical notation as MathML that browsers draw by themselves."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from pellucid.workings.line_breaking import broken
from pellucid.workings.notation import (
    PREFIXES,
    Accent,
    Cases,
    Expression,
    Fence,
    Grid,
    Math,
    Number,
    Quotient,
    Root,
    Row,
    Script,
    Sign,
    Symbol,
    Words,
    is_unary_minus,
    needs_space,
)
from pellucid.workings.text_layout import layout

MINUS = '<mo form="prefix" lspace="0" rspace="0">−</mo>'
ACCENTS = {"bar": "‾", "hat": "^", "tilde": "~"}


def inline(content: Math) -> str:
    """Return the notation for use within a sentence."""
    return f"<math>{mathml(content)}</math>"


def display(content: Math, columns: int) -> str:
    """Return the notation on its own line, aligned over several lines if it is wider than the columns."""
    left, lines = broken(content, columns)
    if len(lines) == 1 and left is None:
        return f'<math display="block">{mathml(content)}</math>'
    rows = [
        f'<mtr><mtd class="left-side">{mathml(left) if left is not None and i == 0 else ""}</mtd>'
        f'<mtd class="right-side">{mathml(line)}</mtd></mtr>'
        for i, line in enumerate(lines)
    ]
    return f'<math display="block"><mtable displaystyle="true" class="lines">{"".join(rows)}</mtable></math>'


def mathml(node: Math) -> str:
    """Return the MathML elements of the notation."""
    return _MATHML[type(node)](node)


def _number(node: Number) -> str:
    sign, above, below = node.spelling
    value = f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>" if below else f"<mn>{above}</mn>"
    return f"<mrow>{MINUS}{value}</mrow>" if sign else value


def _sign(node: Sign) -> str:
    if node.mark in PREFIXES and node.mark != "∑":
        return f"<mi>{node.mark}</mi>"
    return f"<mo>{escape(node.mark)}</mo>"


def _row(node: Row) -> str:
    items = []
    for i, item in enumerate(node.items):
        if i and needs_space(node.items[i - 1], item):
            items.append('<mspace width="0.28em"></mspace>')
        items.append(MINUS if is_unary_minus(node.items, i) else mathml(item))
    return f"<mrow>{''.join(items)}</mrow>"


def _script(node: Script) -> str:
    base = mathml(node.base)
    above = "<mo>⊤</mo>" if node.above == Symbol("T") else mathml(node.above) if node.above is not None else ""
    if node.below is None:
        return f"<msup>{base}{above}</msup>"
    below = mathml(node.below)
    return f"<msubsup>{base}{below}{above}</msubsup>" if above else f"<msub>{base}{below}</msub>"


def _fence(node: Fence) -> str:
    tall = len(layout(node.inside).lines) > 1
    left, right = _delimiter("prefix", node.left, tall), _delimiter("postfix", node.right, tall)
    return f"<mrow>{left}{mathml(node.inside)}{right}</mrow>"


def _delimiter(form: str, mark: str, tall: bool = True) -> str:
    return f'<mo form="{form}" stretchy="{str(tall).lower()}" lspace="0" rspace="0">{escape(mark)}</mo>'


def _grid(node: Grid) -> str:
    rows = []
    for row in node.rows:
        cells = [
            f'<mtd class="{"ruled" if j == node.bar else "entry"}">{mathml(cell)}</mtd>' for j, cell in enumerate(row)
        ]
        rows.append(f"<mtr>{''.join(cells)}</mtr>")
    table = f'<mtable class="matrix">{"".join(rows)}</mtable>'
    return f"<mrow>{_delimiter('prefix', '[')}{table}{_delimiter('postfix', ']')}</mrow>"


def _cases(node: Cases) -> str:
    rows = "".join(
        f'<mtr><mtd class="right-side">{mathml(value)}</mtd><mtd class="right-side">{mathml(condition)}</mtd></mtr>'
        for value, condition in node.branches
    )
    return f'<mrow>{_delimiter("prefix", "{")}<mtable displaystyle="true">{rows}</mtable></mrow>'


def _expression(node: Expression) -> str:
    from sympy.printing.mathml import mathml as sympy_mathml

    written = str(sympy_mathml(node.expr, printer="presentation"))
    return written.replace("<mo>-</mo>", "<mo>−</mo>").replace("&ExponentialE;", "e")  # as in all other formulas


def _accent(node: Accent) -> str:
    return (
        f'<mover accent="true"><mi>{escape(node.base.name)}</mi><mo stretchy="false">{ACCENTS[node.mark]}</mo></mover>'
    )


_MATHML: dict[type, Callable[[Any], str]] = {
    Number: _number,
    Symbol: lambda node: f"<mi>{escape(node.name)}</mi>",
    Words: lambda node: f"<mtext>{escape(node.text)}</mtext>",
    Sign: _sign,
    Row: _row,
    Quotient: lambda node: f"<mfrac>{mathml(node.above)}{mathml(node.below)}</mfrac>",
    Script: _script,
    Root: lambda node: f"<msqrt>{mathml(node.inside)}</msqrt>",
    Accent: _accent,
    Fence: _fence,
    Grid: _grid,
    Cases: _cases,
    Expression: _expression,
}
