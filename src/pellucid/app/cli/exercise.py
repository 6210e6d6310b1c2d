"""``pellucid exercise``: a problem with small numbers, or sheets of them for a class, with solutions and a key."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import CommandError, refuse_a_file

FORMATS = {"text": "text", "md": "markdown", "tex": "latex", "html": "html"}
Format = StrEnum("Format", {name: name for name in FORMATS})  # type: ignore[misc]  # mypy wants a literal list
ENDINGS = {"text": "txt"}


def exercise(
    method: Annotated[str | None, typer.Argument(help="A method or topic, such as kmeans, nb or convolution.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other numbers, the same one the same.")] = 0,
    level: Annotated[int, typer.Option(min=1, max=3, help="Higher levels have more rows, columns or rounds.")] = 1,
    format: Annotated[Format, typer.Option(help="How to print it.")] = Format["text"],  # noqa: A002  (an option)
    solution: Annotated[bool, typer.Option("--solution", help="Print the solution, step by step, instead.")] = False,
    sheet: Annotated[str | None, typer.Option(help="Methods of a sheet for a class, such as nb,kmeans,pca.")] = None,
    copies: Annotated[int, typer.Option(min=1, help="Sheets to write, each with other numbers.")] = 1,
    out: Annotated[Path | None, typer.Option(help="File to write, or with --sheet the folder (sheets).")] = None,
) -> None:
    """Make an exercise whose solution is clean, or sheets of them with a key and a table for the answers."""
    import sys

    from pellucid.core.atomic import write_all_whole, write_whole
    from pellucid.exercises import exercise as make
    from pellucid.exercises import make_sheets

    if (method is None) == (sheet is None):
        raise CommandError("one of a method and --sheet must be given. Try 'pellucid exercise kmeans'.")
    kind = FORMATS[str(format)]
    if sheet is None:
        made = make(str(method), seed, level)
        text = (made.solution if solution else made.question).printed(kind).rstrip("\n") + "\n"
        if out is None:
            sys.stdout.write(text)
        else:
            write_whole(out, text.encode())
        return
    if solution:
        raise CommandError("solution must be left out with --sheet: the key is written beside the sheets.")
    folder = Path("sheets") if out is None else out
    refuse_a_file(folder)
    sheets = make_sheets([name for name in sheet.split(",") if name.strip()], copies, seed, level)
    ending, digits = ENDINGS.get(str(format), str(format)), len(str(copies))
    files = {
        folder / f"sheet-{i:0{digits}d}.{ending}": one.printed(kind).encode()
        for i, one in enumerate(sheets.questions, 1)
    }
    files[folder / f"key.{ending}"] = sheets.key.printed(kind).encode()
    files[folder / "answers.csv"] = sheets.answer_table().encode()
    folder.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    sys.stdout.write(f"{folder} has {copies} sheets, the key, and answers.csv to fill in for 'pellucid mark'.\n")
