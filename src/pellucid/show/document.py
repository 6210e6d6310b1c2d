"""The document model: what workings are made of, whoever prints them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from pellucid.core.atomic import write_whole
from pellucid.show.notation import Math, Mathlike, math, minus


@dataclass(frozen=True)
class Sentence:
    """Words with formulas among them."""

    parts: tuple[str | Math, ...]
    """In their order: texts are words, everything else is a piece of notation."""
    aside: bool = False
    """Whether it is set apart as a remark: a warning, or where others go wrong."""


@dataclass(frozen=True)
class FormulaLine:
    """A formula on its own line."""

    content: Math
    """The formula, in the notation of ``pellucid.show``."""
    boxed: bool = False
    """Whether it stands in a box, as a result."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under a head."""

    head: tuple[str | Math, ...]
    """The names of the columns."""
    rows: tuple[tuple[str | Math, ...], ...]
    """The cells of each row, as many as columns: words or formulas."""
    summary: tuple[tuple[str | Math, ...], ...] = ()
    """Rows below a rule, such as sums."""
    caption: str = ""
    """What is listed, in a sentence; empty for none."""

    @property
    def aligns(self) -> tuple[str, ...]:
        """``right`` for columns that hold formulas, ``left`` for columns of words."""
        body = (*self.rows, *self.summary)
        return tuple("left" if all(isinstance(row[j], str) for row in body) else "right" for j in range(len(self.head)))


@dataclass(frozen=True)
class Series:
    """One set of points of a figure, drawn as dots or joined to a line."""

    x: tuple[float, ...]
    """Where the points are across."""
    y: tuple[float, ...]
    """How high they are, as many numbers as in ``x``."""
    joined: bool = False
    """Whether they are joined to a line, in this order; otherwise each is a dot."""
    label: str = ""
    """What the points are called in the picture; empty for nothing."""


@dataclass(frozen=True)
class Figure:
    """A small picture, described by its data."""

    series: tuple[Series, ...]
    """What is drawn, on common axes."""
    x_label: str
    """What is measured across."""
    y_label: str
    """What is measured upwards."""
    caption: str
    """What the picture shows, in a sentence below it."""


@dataclass(frozen=True)
class Drawing:
    """A picture that something made of itself: as lines of text, and as SVG for pages."""

    text: str
    """Its lines, for a terminal and for LaTeX."""
    svg: str
    """One SVG element, for web pages and Markdown."""
    caption: str
    """What it shows, in a sentence below it."""


Block: TypeAlias = Sentence | FormulaLine | Table | Figure | Drawing


@dataclass(frozen=True)
class Step:
    """A numbered step: a heading and the blocks under it."""

    heading: str
    """What is done, without the number of the step."""
    blocks: tuple[Block, ...]
    """Sentences, formulas, tables and pictures, from top to bottom."""


@dataclass(frozen=True)
class Document:
    """Workings: a title, an introduction, numbered steps, and the exact answer for a program to read."""

    title: str
    """The name of the method, as the heading of all."""
    introduction: tuple[Block, ...]
    """What stands before the first step, such as the data."""
    steps: tuple[Step, ...]
    """Numbered from 1 when they are printed."""
    answer: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """Exact numbers under the names of the fitted attributes they equal (``coef_``, ``intercept_``)."""
    step_name: str = "Step"
    """What stands before the number of a step."""

    def text(self) -> str:
        """Return the workings for a terminal of 80 columns."""
        from pellucid.show.text_printer import print_text

        return print_text(self)

    def markdown(self) -> str:
        """Return the workings as Markdown with formulas between dollar signs."""
        from pellucid.show.markdown_printer import print_markdown

        return print_markdown(self)

    def latex(self) -> str:
        """Return the workings as a LaTeX document that compiles by itself."""
        from pellucid.show.latex_printer import print_latex

        return print_latex(self)

    def html(self) -> str:
        """Return the workings as one web page: MathML, no script, nothing to fetch."""
        from pellucid.show.html_printer import print_html

        return print_html(self)

    def printed(self, format: str) -> str:  # noqa: A002  (the name users know)
        """Return the workings in one of the formats ``text``, ``markdown``, ``latex``, ``html``."""
        printers: dict[str, Callable[[], str]] = {
            "text": self.text,
            "markdown": self.markdown,
            "latex": self.latex,
            "html": self.html,
        }
        if format not in printers:
            raise ValueError(f"format must be one of {tuple(printers)}, got {format!r}.")
        return printers[format]()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the workings to a file, whole or not at all; the suffix chooses the format."""
        path = Path(path)
        formats = {".txt": "text", ".md": "markdown", ".tex": "latex", ".html": "html"}
        if path.suffix not in formats:
            raise ValueError(
                f"path must end in one of {tuple(formats)}, got {str(path)!r}. The suffix chooses the format."
            )
        write_whole(path, self.printed(formats[path.suffix]).encode())
        return path

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Document({self.title!r}, {len(self.steps)} steps)"

    def _repr_html_(self) -> str:
        from pellucid.show.html_printer import print_fragment

        return print_fragment(self)

    def _repr_markdown_(self) -> str:
        return self.markdown()


def sentence(*parts: str | Mathlike) -> Sentence:
    """Return a sentence; strings are words, everything else is a formula."""
    return Sentence(_words_and_math(parts))


def remark(*parts: str | Mathlike) -> Sentence:
    """Return a sentence that is set apart: a warning, or where others go wrong."""
    return Sentence(_words_and_math(parts), aside=True)


def formula(*parts: Mathlike) -> FormulaLine:
    """Return a formula on its own line; strings are read as by :func:`~pellucid.show.notation.math`."""
    return FormulaLine(math(*parts))


def result(*parts: Mathlike) -> FormulaLine:
    """Return a formula in a box."""
    return FormulaLine(math(*parts), boxed=True)


def table(head: Any, rows: Any, *, summary: Any = (), caption: str = "") -> Table:
    """Return a table; strings are words, everything else is a formula."""
    return Table(
        _words_and_math(head),
        tuple(_words_and_math(row) for row in rows),
        tuple(_words_and_math(row) for row in summary),
        caption,
    )


def step(heading: str, *blocks: Block) -> Step:
    """Return a numbered step."""
    return Step(heading, blocks)


def _words_and_math(parts: Any) -> tuple[str | Math, ...]:
    return tuple(minus(part) if isinstance(part, str) else math(part) for part in parts)
