"""Words that users chose, such that LaTeX prints them as they stand."""

from __future__ import annotations

import re

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
