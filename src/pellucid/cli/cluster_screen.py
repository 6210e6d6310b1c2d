"""What ``pellucid cluster`` prints: the clusters, the methods compared, what to beware of, and the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pellucid.grouping import Grouping
from pellucid.report import format_number


def print_grouping(result: Grouping, console: Console, files: Sequence[Path]) -> None:
    """Print how many clusters there are and why, what they are, the methods, what to beware of, and the files."""
    for note in result.notes:
        console.print(note, highlight=False, markup=False)
    if result.alarm:
        console.print(result.alarm, highlight=False, markup=False, style="bold red")
    elif result.choice is not None:
        console.print(f"{result.k} clusters. {result.choice.reason}", highlight=False, markup=False)
    for profile in result.profiles:
        console.print(f"- {profile.sentence}", highlight=False, markup=False)
    console.print(_methods(result))
    certificate = result.certificate
    console.print(f"Certificate: {certificate.grade}, {certificate.verdict}.", highlight=False, markup=False)
    if result.cautions:
        console.print("Before you rely on it:", style="bold yellow")
    for caution in result.cautions:
        console.print(f"- {caution}", highlight=False, markup=False, style="yellow")
    names = ("Model", "Report", "Rows with their cluster")
    shown = "\n".join(f"{name}: {file}" for name, file in zip(names, files, strict=True))
    console.print(shown, highlight=False, markup=False, soft_wrap=True)


def _methods(result: Grouping) -> Table:
    table = Table("Method", "Silhouette", "Comes back", "Same as k-means", header_style="bold")
    for column in table.columns[1:]:
        column.justify = "right"
    for score in result.scores:
        is_chosen = score is result.chosen
        values = score.silhouette, score.stability, score.agreement
        cells = ("-" if value != value else format_number(value, 3) for value in values)
        name = f"{score.method.name}{' (chosen)' if is_chosen else ''}"
        table.add_row(name, *cells, style="bold" if is_chosen else "")
    return table
