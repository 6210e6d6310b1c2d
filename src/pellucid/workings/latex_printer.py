"""Workings as a LaTeX document that compiles with the packages every distribution has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pellucid.workings.document import Block, Document, Figure, Formula, Sentence, Table
from pellucid.workings.figure_scale import scales
from pellucid.workings.latex_math import display, escape, latex
from pellucid.workings.notation import Math

COLUMNS = 84
"""Formulas wider than this on a terminal are broken on the page."""
FIGURE_SIZE = (220.0, 120.0)

PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{amsmath,amssymb}
\usepackage{booktabs}
\usepackage[a4paper,margin=25mm]{geometry}
\setlength{\parindent}{0pt}
\setlength{\parskip}{0.5\baselineskip}
\renewcommand{\arraystretch}{1.2}
\allowdisplaybreaks
\begin{document}
"""


def print_latex(document: Document) -> str:
    """Return the document as LaTeX."""
    parts = [PREAMBLE + rf"\section*{{{escape(document.title)}}}"]
    parts += [_block(block) for block in document.introduction]
    for number, step in enumerate(document.steps, 1):
        parts.append(rf"\subsection*{{Step {number}. {escape(step.heading)}}}")
        parts += [_block(block) for block in step.blocks]
    return "\n\n".join([*parts, "\\end{document}\n"])


def _block(block: Block) -> str:
    return _BLOCKS[type(block)](block)


def _word(part: str | Math) -> str:
    return escape(part) if isinstance(part, str) else f"${latex(part)}$"


def _sentence(block: Sentence) -> str:
    text = "".join(_word(part) for part in block.parts)
    return f"\\begin{{quote}}\\itshape {text}\\end{{quote}}" if block.aside else text


def _formula(block: Formula) -> str:
    content = display(block.content, COLUMNS)
    return f"\\[ \\boxed{{{content}}} \\]" if block.boxed else f"\\[ {content} \\]"


def _table(block: Table) -> str:
    shape = "".join("l" if isinstance(cell, str) else "r" for cell in (block.rows or block.summary)[0])
    body = [_table_row(row) for row in block.rows]
    body += [r"\midrule", *(_table_row(row) for row in block.summary)] if block.summary else []
    lines = [r"\toprule", _table_row(block.head), r"\midrule", *body, r"\bottomrule"]
    tabular = f"\\begin{{tabular}}{{{shape}}}\n" + "\n".join(lines) + "\n\\end{tabular}"
    caption = escape(block.caption) + "\n\n" if block.caption else ""
    return f"{caption}\\begin{{center}}\n{tabular}\n\\end{{center}}"


def _table_row(row: tuple[str | Math, ...]) -> str:
    return " & ".join(_word(cell) for cell in row) + r" \\"


def _figure(block: Figure) -> str:
    across, up = scales(block)
    wide, high = FIGURE_SIZE
    marks = [
        rf"\put(0,0){{\line(1,0){{{wide:.0f}}}}}",
        rf"\put(0,0){{\line(0,1){{{high:.0f}}}}}",
        rf"\put(0,-10){{\makebox(0,0)[l]{{\small {escape(across.low_text)}}}}}",
        rf"\put({wide:.0f},-10){{\makebox(0,0)[r]{{\small {escape(across.high_text)}}}}}",
        rf"\put({wide / 2:.0f},-10){{\makebox(0,0){{\small {escape(block.x_label)}}}}}",
        rf"\put(-4,0){{\makebox(0,0)[r]{{\small {escape(up.low_text)}}}}}",
        rf"\put(-4,{high:.0f}){{\makebox(0,0)[r]{{\small {escape(up.high_text)}}}}}",
        rf"\put(0,{high + 10:.0f}){{\makebox(0,0)[l]{{\small {escape(block.y_label)}}}}}",
    ]
    for series in block.series:
        points = [(wide * across.place(x), high * up.place(y)) for x, y in zip(series.x, series.y, strict=True)]
        marks += _polyline(points) if series.joined else [_dot(*point) for point in points]
        if series.label:
            x, y = points[-1]
            marks.append(rf"\put({x + 4:.1f},{y:.1f}){{\makebox(0,0)[l]{{\small {escape(series.label)}}}}}")
    picture = "\n".join(marks)
    return (
        f"\\begin{{center}}\n\\setlength{{\\unitlength}}{{1pt}}\n"
        f"\\begin{{picture}}({wide:.0f},{high + 30:.0f})(0,-16)\n{picture}\n\\end{{picture}}\n\n"
        f"{escape(block.caption)}\n\\end{{center}}"
    )


def _dot(x: float, y: float) -> str:
    return rf"\put({x:.1f},{y:.1f}){{\circle*{{4}}}}"


def _polyline(points: list[tuple[float, float]]) -> list[str]:
    """Straight pieces as flat curves: a picture's own lines know few slopes."""
    return [
        rf"\qbezier({a:.1f},{b:.1f})({(a + c) / 2:.1f},{(b + d) / 2:.1f})({c:.1f},{d:.1f})"
        for (a, b), (c, d) in pairwise(points)
    ]


_BLOCKS: dict[type, Callable[[Any], str]] = {Sentence: _sentence, Formula: _formula, Table: _table, Figure: _figure}
