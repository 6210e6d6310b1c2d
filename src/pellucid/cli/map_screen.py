"""What ``pellucid map`` prints: the methods with their figures, and the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pellucid.mapping import MappedTable
from pellucid.report import format_number


def print_map(result: MappedTable, console: Console, files: Sequence[Path]) -> None:
    """Print what every method keeps, which one was chosen, its certificate, and the files."""
    for note in result.columns.notes():
        console.print(note, highlight=False, markup=False)
    table = Table("Method", "Trustworthiness", "Continuity", "Stress", "Distance correlation", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in result.scores:
        is_chosen, quality = score is result.chosen, score.quality
        cells = ["-"] * 4
        if quality is not None:
            values = (quality.trustworthiness, quality.continuity, quality.stress, quality.distance_correlation)
            cells = [format_number(value, 3) for value in values]
        table.add_row(f"{score.name}{' (chosen)' if is_chosen else ''}", *cells, style="bold" if is_chosen else "")
    console.print(table)
    certificate = result.certificate
    console.print(f"Certificate: {certificate.grade}, {certificate.verdict}.", highlight=False, markup=False)
    for score in result.scores:
        if score.failure:
            console.print(f"No map by {score.name}: {score.failure}", highlight=False, markup=False, style="yellow")
    names = ("Page", "Rows with their places")
    shown = "\n".join(f"{name}: {file}" for name, file in zip(names, files, strict=True))
    console.print(shown, highlight=False, markup=False, soft_wrap=True)
