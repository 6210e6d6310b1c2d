"""What a notebook shows of a result: a headline, a few sentences, a small table, and the certificate, folded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pellucid.proofs.certificate import Certificate

MOST_ROWS = 12
"""Of a table; the rest is counted."""
MOST_SENTENCES = 5
STYLE = """<style>
.pellucid-result { margin: 0.5em 0; font: 0.9em/1.45 sans-serif; max-width: 60em; }
.pellucid-result > b { font-size: 1.15em; } .pellucid-result p { margin: 0.25em 0; }
.pellucid-result table.short { border-collapse: collapse; margin: 0.5em 0; font-variant-numeric: tabular-nums; }
.pellucid-result .short th, .pellucid-result .short td { padding: 0.15em 1em 0.15em 0; border-bottom: 1px solid #8884; }
.pellucid-result .short th, .pellucid-result .short td { text-align: right; vertical-align: top; }
.pellucid-result .short th:first-child, .pellucid-result .short td:first-child { text-align: left; }
.pellucid-result tr.chosen { font-weight: 600; } .pellucid-result .alarm { color: #c22f2f; font-weight: 600; }
.pellucid-result summary { cursor: pointer; }
.pellucid-result > svg { display: block; max-width: 26em; max-height: 20em; }
</style>"""


def short_html(
    title: str,
    sentences: Sequence[str] = (),
    *,
    alarm: str = "",
    head: Sequence[str] = (),
    rows: Iterable[Sequence[str]] = (),
    chosen: int | None = None,
    picture: str = "",
    folded: Mapping[str, Sequence[str]] | None = None,
    certificate: Certificate | None = None,
) -> str:
    """Return a result in a few lines of HTML; every text given is escaped, the picture is taken as it is.

    Parameters
    ----------
    title, sentences, alarm : str, sequence of str, str
        The headline, what follows it, and what must be said first.
    head, rows, chosen : sequence of str, sequences of str, int
        A table, and which of its rows stands out.
    picture : str
        An svg element.
    folded : dict of str to sequence of str
        Lists that open when their titles are clicked.
    certificate : Certificate
        Folded as well.
    """
    parts = [f"<b>{escape(title)}</b>"]
    if alarm:
        parts.append(f"<p class='alarm'>{escape(alarm)}</p>")
    parts += [f"<p>{escape(sentence)}</p>" for sentence in _few(sentences, MOST_SENTENCES)]
    parts += [picture] if picture else []
    parts += [_table(head, list(rows), chosen)] if head else []
    for name, lines in (folded or {}).items():
        if lines:
            items = "".join(f"<li>{escape(line)}</li>" for line in lines)
            parts.append(f"<details><summary>{escape(name)}</summary><ul>{items}</ul></details>")
    if certificate is not None:
        summary = f"Certificate: {certificate.grade}, {certificate.verdict}"
        parts.append(f"<details><summary>{summary}</summary>{certificate._repr_html_()}</details>")
    return f"<div class='pellucid-result'>{STYLE}{''.join(parts)}</div>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], chosen: int | None) -> str:
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    lines = []
    for place, row in enumerate(rows[:MOST_ROWS]):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        lines.append(f"<tr class='chosen'>{cells}</tr>" if place == chosen else f"<tr>{cells}</tr>")
    more = f"<p>and {len(rows) - MOST_ROWS:,} more</p>" if len(rows) > MOST_ROWS else ""
    body = f"<thead><tr>{titles}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f"<table class='short'>{body}</table>{more}"


def _few(sentences: Sequence[str], most: int) -> list[str]:
    if len(sentences) <= most:
        return list(sentences)
    return [*sentences[:most], f"and {len(sentences) - most} more"]
