"""Workings as a LaTeX document that compiles with the packages every distribution has."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from pellucid.plots.drawing.style import spread
from pellucid.show.document import Block, Document, Drawing, Figure, FormulaLine, Sentence, Table
from pellucid.show.latex_math import aligned_rows, display, escape, latex
from pellucid.show.notation import Math
from pellucid.show.svg import Scale, scales

COLUMNS = 84
"""Formulas wider than this on a terminal are broken on the page."""
FIGURE_SIZE = (220.0, 120.0)
PLAIN_LINES = str.maketrans(
    {"├": "|", "└": "`", "│": "|", "─": "-", "−": "-", "·": "*", "×": "x", "ᵀ": "^T", "…": "..."}
)
"""What stands for the lines and signs of a drawing in plain letters."""
LINE = 11.0
"""Height of a line of text, in points."""

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
        parts.append(rf"\subsection*{{{document.step_name} {number}. {escape(step.heading)}}}")
        parts += [_block(block) for block in step.blocks]
    return "\n\n".join([*parts, "\\end{document}\n"])


def _block(block: Block) -> str:
    return _BLOCKS[type(block)](block)


def _word(part: str | Math) -> str:
    return escape(part) if isinstance(part, str) else f"${latex(part)}$"


def _sentence(block: Sentence) -> str:
    text = "".join(_word(part) for part in block.parts)
    return f"\\begin{{quote}}\\itshape {text}\\end{{quote}}" if block.aside else text


def _formula(block: FormulaLine) -> str:
    if block.boxed:
        return f"\\[ \\boxed{{{display(block.content, COLUMNS)}}} \\]"
    rows = aligned_rows(block.content, COLUMNS)  # as align*, which may run over a page
    return f"\\[ {latex(block.content)} \\]" if rows is None else f"\\begin{{align*}}\n{rows}\n\\end{{align*}}"


def _table(block: Table) -> str:
    shape = "".join(align[0] for align in block.aligns)
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
    marks = _picture_axes(block, across, up)
    ends = []
    sets = 0
    for series in block.series:
        points = [(wide * across.place(x), high * up.place(y)) for x, y in zip(series.x, series.y, strict=True)]
        marks += _polyline(points) if series.joined else [_dot(*point, sets) for point in points]
        sets += not series.joined
        if series.label:
            ends.append((*points[-1], series.label))
    for (x, _, label), y in zip(ends, spread([end[1] for end in ends], LINE), strict=True):
        marks.append(_put(x + 4, y, "[l]", label))
    picture = "\n".join(marks)
    return (
        f"\\begin{{center}}\n\\setlength{{\\unitlength}}{{1pt}}\n"
        f"\\begin{{picture}}({wide:.0f},{high + 30:.0f})(0,-16)\n{picture}\n\\end{{picture}}\n\n"
        f"{escape(block.caption)}\n\\end{{center}}"
    )


def _picture_axes(block: Figure, across: Scale, up: Scale) -> list[str]:
    wide, high = FIGURE_SIZE
    return [
        rf"\put(0,0){{\line(1,0){{{wide:.0f}}}}}",
        rf"\put(0,0){{\line(0,1){{{high:.0f}}}}}",
        _put(0, -10, "[l]", across.low_text),
        _put(wide, -10, "[r]", across.high_text),
        _put(wide / 2, -10, "", block.x_label),
        _put(-4, 0, "[r]", up.low_text),
        _put(-4, high, "[r]", up.high_text),
        _put(0, high + 10, "[l]", block.y_label),
    ]


def _put(x: float, y: float, align: str, text: str) -> str:
    return rf"\put({x:.1f},{y:.1f}){{\makebox(0,0){align}{{\small {escape(text)}}}}}"


def _dot(x: float, y: float, number: int) -> str:
    """Return a point of the set of this number: filled and hollow disks tell sets apart."""
    return rf"\put({x:.1f},{y:.1f}){{\circle{'' if number % 2 else '*'}{{4}}}}"


def _polyline(points: list[tuple[float, float]]) -> list[str]:
    """Straight pieces as flat curves: a picture's own lines know few slopes."""
    return [
        rf"\qbezier({a:.1f},{b:.1f})({(a + c) / 2:.1f},{(b + d) / 2:.1f})({c:.1f},{d:.1f})"
        for (a, b), (c, d) in pairwise(points)
    ]


def _drawing(block: Drawing) -> str:
    """Return the lines of a drawing in letters that every font of LaTeX has."""
    lines = block.text.translate(PLAIN_LINES).encode("ascii", "replace").decode().replace(r"\end{verbatim}", "")
    return f"\\begin{{verbatim}}\n{lines}\n\\end{{verbatim}}\n\n{escape(block.caption)}"


_BLOCKS: dict[type, Callable[[Any], str]] = {
    Sentence: _sentence,
    FormulaLine: _formula,
    Table: _table,
    Figure: _figure,
    Drawing: _drawing,
}
