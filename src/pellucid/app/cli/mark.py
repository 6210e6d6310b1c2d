"""``pellucid mark``: marks the answers to sheets of exercises, and names the first wrong step."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError


def mark(
    answers: Annotated[Path, typer.Argument(help="The answers.csv that 'pellucid exercise --sheet' wrote, filled in.")],
    out: Annotated[Path | None, typer.Option(help="CSV file for the marks.")] = None,
) -> None:
    """Mark the answers to sheets of exercises: how many are right, and the first step that is wrong."""
    import csv
    import io

    from rich import box
    from rich.console import Console
    from rich.table import Table

    from pellucid.core.atomic import write_whole
    from pellucid.exercises import mark_answers

    if not answers.is_file():
        raise CommandError(f"answers must be a file, got {answers}, which does not exist.")
    with answers.open(newline="", encoding="utf-8-sig") as file:
        marks = mark_answers(csv.DictReader(file))
    if not marks:
        raise CommandError(f"answers must have rows, got {answers}, which has none.")
    table = Table("Sheet", "Exercise", "Right", "First wrong", header_style="bold", box=box.SIMPLE_HEAD)
    for one in marks:
        table.add_row(one.sheet, one.exercise, f"{one.right} of {one.of}", one.first_wrong)
    Console().print(table)
    if out is not None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["sheet", "exercise", "right", "of", "first_wrong"])
        writer.writerows([one.sheet, one.exercise, one.right, one.of, one.first_wrong] for one in marks)
        write_whole(out, text.getvalue().encode())
