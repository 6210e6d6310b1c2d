"""Formulas as MathML, by docutils: browsers show it without a script, and without a network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

SPELLED = (
    (r"\\[,!]", " "),
    (r"\\(big|Big)(?![a-z])", r"\\\1l"),
    (r"\\mathrel\{\+\}=", "+="),
    (r"\\dots\b", r"\\ldots "),
)
"""What LaTeX knows and docutils does not, and how docutils spells it."""


def setup(app: Any) -> None:
    """Register the renderer."""
    app.add_html_math_renderer("plain_mathml", (_inline, None), (_block, None))


def _inline(writer: Any, node: Any) -> None:
    writer.body.append(mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def mathml(formula: str, *, as_block: bool) -> str:
    """Return a formula in LaTeX as MathML; one that cannot be read ends the build."""
    for given, taken in SPELLED:
        formula = re.sub(given, taken, formula)
    is_aligned = as_block and "\\\\" in formula and not formula.lstrip().startswith(r"\begin")
    code = rf"\begin{{aligned}}{formula}\end{{aligned}}" if is_aligned else formula
    try:
        return str(tex2mathml(code, as_block=as_block))
    except (MathError, AttributeError) as error:
        raise ExtensionError(f"this formula cannot be written as MathML: {formula} ({error})") from error
