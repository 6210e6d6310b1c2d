"""Workings as one web page: MathML, no script, nothing to fetch, for screens light and dark and for paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from html import escape
from typing import Any

from pellucid.show.document import Block, Document, Drawing, Figure, FormulaLine, Sentence, Table
from pellucid.show.notation import (
    PREFIXES,
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
    needs_space,
)
from pellucid.show.svg import svg
from pellucid.show.text_layout import broken, layout

COLUMNS = 80

STYLE = """
.workings { max-width: 46rem; margin: 0 auto; padding: 1rem 1.25rem; line-height: 1.55;
  font-family: Charter, "Bitstream Charter", Cambria, Georgia, serif; font-size: 1.05rem; }
.workings h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0 1rem; }
.workings h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; padding-top: 0.75rem; border-top: 1px solid #8884; }
.workings h2 .number { color: #0072b2; margin-right: 0.4em; }
.workings math { font-size: 1.05em; font-family: "Latin Modern Math", "STIX Two Math", "Cambria Math",
  "Libertinus Math", "TeX Gyre Termes Math", "Noto Sans Math", "DejaVu Math TeX Gyre", math; }
.workings .formula { overflow-x: auto; overflow-y: hidden; margin: 0.8rem 0; padding: 0.2rem 0; text-align: center; }
.workings .boxed { width: fit-content; max-width: 90%; margin: 1rem auto; padding: 0.5rem 0.9rem;
  border: 1.5px solid #0072b2; border-radius: 6px; }
.workings aside { border-left: 4px solid #d55e00; background: #d55e0014; padding: 0.5rem 0.9rem; margin: 1rem 0;
  border-radius: 0 6px 6px 0; }
.workings table { border-collapse: collapse; margin: 0.8rem auto; font-variant-numeric: tabular-nums; }
.workings .caption { margin: 1rem 0 0; text-align: center; font-style: italic; break-after: avoid; }
.workings th, .workings td { padding: 0.25rem 0.8rem; text-align: right; background: none; }
.workings th.left, .workings td.left { text-align: left; }
.workings thead th { border-bottom: 1.5px solid currentColor; }
.workings tbody.summary td { border-top: 1.5px solid currentColor; font-weight: 600; }
.workings tbody tr { background: none; }
.workings figure { margin: 1rem auto; text-align: center; }
.workings figure svg { max-width: 100%; height: auto; }
.workings figcaption { font-style: italic; }
.workings .scroll { overflow-x: auto; }
.workings mtd.left-side { text-align: right; text-align: -webkit-right; padding-right: 0.15em; }
.workings mtd.right-side { text-align: left; text-align: -webkit-left; padding-left: 0.15em; }
.workings .lines mtr + mtr > mtd { padding-top: 0.6em; }
.workings .matrix mtd { text-align: right; text-align: -webkit-right; padding: 0.15em 0.4em; }
.workings .matrix mtd.ruled { border-left: 1px solid currentColor; }
@media print { .workings { max-width: none; font-size: 11pt; } .workings h2 { break-after: avoid; }
  .workings .formula, .workings table, .workings figure, .workings aside { break-inside: avoid; } }
"""
PAGE_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; background: #fdfdfb; color: #1c1c1e; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e3; }
  .workings h2 .number { color: #56b4e9; } }
@media print { body { background: none; color: black; } }
"""


def print_html(document: Document) -> str:
    """Return the document as a whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(document.title)}</title>\n<style>{STYLE}{PAGE_STYLE}</style>\n</head>\n<body>\n"
        f"{_article(document)}\n</body>\n</html>\n"
    )


def print_fragment(document: Document) -> str:
    """Return the document for a place inside another page, such as a notebook."""
    return f"<style>{STYLE}</style>{_article(document)}"


def print_blocks(blocks: Iterable[Block]) -> str:
    """Return blocks, such as those of one step, for a page that has the headings and the style."""
    return "\n".join(_block(block) for block in blocks)


def _article(document: Document) -> str:
    parts = [f'<article class="workings">\n<h1>{escape(document.title)}</h1>']
    parts += [print_blocks(document.introduction)] if document.introduction else []
    for number, step in enumerate(document.steps, 1):
        parts.append(f'<h2><span class="number">{document.step_name} {number}.</span>{escape(step.heading)}</h2>')
        parts += [print_blocks(step.blocks)] if step.blocks else []
    return "\n".join([*parts, "</article>"])


def _block(block: Block) -> str:
    return _BLOCKS[type(block)](block)


def _word(part: str | Math) -> str:
    return escape(part) if isinstance(part, str) else inline(part)


def _sentence(block: Sentence) -> str:
    text = "".join(_word(part) for part in block.parts)
    return f"<aside>{text}</aside>" if block.aside else f"<p>{text}</p>"


def _formula(block: FormulaLine) -> str:
    kind = "formula boxed" if block.boxed else "formula"
    return f'<div class="{kind}">{display(block.content, COLUMNS)}</div>'


def _table(block: Table) -> str:
    caption = f'<p class="caption">{escape(block.caption)}</p>' if block.caption else ""
    body = f"<thead>{_row(block.head, block.aligns, 'th')}</thead>"
    body += f"<tbody>{''.join(_row(row, block.aligns) for row in block.rows)}</tbody>"
    if block.summary:
        body += f'<tbody class="summary">{"".join(_row(row, block.aligns) for row in block.summary)}</tbody>'
    return f'{caption}<div class="scroll"><table>{body}</table></div>'


def _row(cells: tuple[str | Math, ...], aligns: tuple[str, ...], tag: str = "td") -> str:
    row = "".join(f'<{tag} class="{align}">{_word(c)}</{tag}>' for c, align in zip(cells, aligns, strict=True))
    return f"<tr>{row}</tr>"


def _figure(block: Figure) -> str:
    return f"<figure>{svg(block)}<figcaption>{escape(block.caption)}</figcaption></figure>"


def _drawing(block: Drawing) -> str:
    return f"<figure>{block.svg}<figcaption>{escape(block.caption)}</figcaption></figure>"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Sentence: _sentence,
    FormulaLine: _formula,
    Table: _table,
    Figure: _figure,
    Drawing: _drawing,
}


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


def _number(node: ExactNumber) -> str:
    sign, above, below = node.spelling
    value = f"<mfrac><mn>{above}</mn><mn>{below}</mn></mfrac>" if below else f"<mn>{above}</mn>"
    return f"<mrow>{MINUS}{value}</mrow>" if sign else value


def _sign(node: Sign) -> str:
    if node.mark in PREFIXES and node.mark != "∑":
        return f"<mi>{node.mark}</mi>"
    return f"<mo>{escape(node.mark)}</mo>"


def _mathml_row(node: MathRow) -> str:
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
    ExactNumber: _number,
    Symbol: lambda node: f"<mi>{escape(node.name)}</mi>",
    Words: lambda node: f"<mtext>{escape(node.text)}</mtext>",
    Sign: _sign,
    MathRow: _mathml_row,
    Quotient: lambda node: f"<mfrac>{mathml(node.above)}{mathml(node.below)}</mfrac>",
    Script: _script,
    Root: lambda node: f"<msqrt>{mathml(node.inside)}</msqrt>",
    Accent: _accent,
    Fence: _fence,
    Grid: _grid,
    Cases: _cases,
    Expression: _expression,
}
