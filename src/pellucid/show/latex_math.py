"""Mathematical notation as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pellucid.show.notation import (
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
    needs_space,
)
from pellucid.show.text_layout import broken

GREEK = {
    "α": r"\alpha",
    "β": r"\beta",
    "γ": r"\gamma",
    "δ": r"\delta",
    "ε": r"\varepsilon",
    "η": r"\eta",
    "θ": r"\theta",
    "λ": r"\lambda",
    "μ": r"\mu",
    "ν": r"\nu",
    "ξ": r"\xi",
    "ρ": r"\rho",
    "σ": r"\sigma",
    "τ": r"\tau",
    "φ": r"\varphi",
    "Σ": r"\Sigma",
    "Δ": r"\Delta",
    "ℓ": r"\ell",
    "∇": r"\nabla",
    "∂": r"\partial",
}
SUBSCRIPTS = {chr(ord("₀") + digit): digit for digit in range(10)}
SPECIAL = {
    **{mark: rf"\textsubscript{{{digit}}}" for mark, digit in SUBSCRIPTS.items()},
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": r"\ensuremath{-}",
    "±": r"\ensuremath{\pm}",
    "…": r"\ldots{}",
    "²": r"\textsuperscript{2}",
}
IN_MATH = {
    **{mark: f"_{{{digit}}}" for mark, digit in SUBSCRIPTS.items()},
    **{mark: rf"\{mark}" for mark in "{}$&#_%"},
    "\\": r"\backslash ",
    "~": r"\sim ",
    "^": r"\wedge ",
    "<": "{<}",
    ">": "{>}",
    "|": r"\vert ",
}
"""Marks set outside of the text around them: the engines of web pages disagree on how to escape them inside."""


def escape(text: str) -> str:
    """Return text that LaTeX prints as it stands; what a Latin font lacks is named by its code point."""
    return "".join(SPECIAL.get(c) or (rf"\ensuremath{{{GREEK[c]}}}" if c in GREEK else _printable(c)) for c in text)


def words_in_math(text: str) -> str:
    """Return text for use in math mode, in commands that LaTeX, MathJax and KaTeX read alike."""
    pieces = re.split(r"([{}$&#_%\\~^<>|₀-₉])", text)
    return "".join(IN_MATH.get(piece) or rf"\text{{{escape(piece)}}}" for piece in pieces if piece)


def _printable(char: str) -> str:
    known = ord(char) < 0x180 or char in "–—‘’“”"
    return char if known else rf"\texttt{{U+{ord(char):04X}}}"


SIGNS = {
    "−": "-",
    "·": r"\cdot",
    "×": r"\times",
    "≈": r"\approx",
    "≠": r"\ne",
    "≤": r"\le",
    "≥": r"\ge",
    "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow",
    "←": r"\leftarrow",
    "↔": r"\leftrightarrow",
    "→": r"\to",
    "∈": r"\in",
    "…": r"\dots",
    "∑": r"\sum",
    "min": r"\min",
    "max": r"\max",
    "arg": r"\arg",
    "sign": r"\operatorname{sign}",
}

FENCES = {"‖": r"\Vert", "|": r"\vert", "{": r"\{", "}": r"\}"}


def latex(node: Math) -> str:
    """Return the notation for use in math mode."""
    return _LATEX[type(node)](node)


def display(content: Math, columns: int) -> str:
    """Return the notation for a display, aligned over several lines if it is wider than the columns."""
    rows = aligned_rows(content, columns)
    return latex(content) if rows is None else f"\\begin{{aligned}}\n{rows}\n\\end{{aligned}}"


def aligned_rows(content: Math, columns: int) -> str | None:
    """Return the lines of a formula that is wider than the columns, to be aligned; None if it is not."""
    left, lines = broken(content, columns)
    if left is None and len(lines) == 1:
        return None
    head = latex(left) if left is not None else ""
    return f"  {head} &" + " \\\\[4pt]\n  {}&".join(map(latex, lines))


def _number(node: ExactNumber) -> str:
    sign, above, below = node.spelling
    above = above.replace("…", r"\ldots")
    return ("-" if sign else "") + (rf"\frac{{{above}}}{{{below}}}" if below else above)


def _symbol(node: Symbol) -> str:
    if node.name in GREEK:
        return GREEK[node.name]
    return node.name if len(node.name) == 1 else rf"\mathrm{{{escape(node.name)}}}"


def _row(node: MathRow) -> str:
    items = [latex(item) for item in node.items]
    for i in range(1, len(items)):
        if needs_space(node.items[i - 1], node.items[i]):
            items[i] = r"\;" + items[i]
    return " ".join(items)


def _script(node: Script) -> str:
    text = latex(node.base)
    if not isinstance(node.base, (Symbol, Accent, Fence, Sign)):
        text = f"{{{text}}}"
    text += f"_{{{latex(node.below)}}}" if node.below is not None else ""
    return text + (f"^{{{_exponent(node.above)}}}" if node.above is not None else "")


def _exponent(node: Math) -> str:
    return r"\top" if node == Symbol("T") else latex(node)


def _fence(node: Fence) -> str:
    left, right = (FENCES.get(mark, mark) for mark in (node.left, node.right))
    return rf"\left{left} {latex(node.inside)} \right{right}"


def _grid(node: Grid) -> str:
    columns = len(node.rows[0])
    bar = node.bar if node.bar is not None else columns
    shape = "r" * bar + ("|" + "r" * (columns - bar) if bar < columns else "")
    rows = r" \\[2pt] ".join(" & ".join(latex(cell) for cell in row) for row in node.rows)
    return rf"\left[\begin{{array}}{{{shape}}} {rows} \end{{array}}\right]"


def _cases(node: Cases) -> str:
    rows = r" \\[4pt] ".join(
        rf"\displaystyle {latex(value)} & {latex(condition)}" for value, condition in node.branches
    )
    return rf"\begin{{cases}} {rows} \end{{cases}}"


def _expression(node: Expression) -> str:
    from sympy import latex as sympy_latex

    return str(sympy_latex(node.expr))


_LATEX: dict[type, Callable[[Any], str]] = {
    ExactNumber: _number,
    Symbol: _symbol,
    Words: lambda node: words_in_math(node.text),
    Sign: lambda node: SIGNS.get(node.mark, node.mark),
    MathRow: _row,
    Quotient: lambda node: rf"\frac{{{latex(node.above)}}}{{{latex(node.below)}}}",
    Script: _script,
    Root: lambda node: rf"\sqrt{{{latex(node.inside)}}}",
    Accent: lambda node: rf"\{node.mark}{{{_symbol(node.base)}}}",
    Fence: _fence,
    Grid: _grid,
    Cases: _cases,
    Expression: _expression,
}
