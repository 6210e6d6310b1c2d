"""``pellucid map``: a table in two dimensions, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.errors import CommandError

REPORT_FILE = "map.html"
ROWS_FILE = "map.csv"
PLACES = ("map_1", "map_2")


def map_(
    table: Annotated[
        str,
        typer.Argument(
            help="CSV or TSV (packed too), Parquet, Feather or XLSX file, one row per example; or the URL of a "
            "database, such as sqlite:///shop.db, with --query."
        ),
    ],
    color: Annotated[str | None, typer.Option(help="Column to color the dots by; it does not move them.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page and for the places of the rows.")] = Path("mapped"),
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same one gives the same map.")] = 0,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be given again.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to use although it looks like an id; may be given again.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="What to ask a database for, in SQL.")] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Read nothing into texts: no prices, dates, yes and no, spellings.")
    ] = False,
) -> None:
    """Draw a map of a table by the method that keeps the neighbors of its rows best, as one page."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.cli.cluster_screen import working_line
    from pellucid.cli.fit import command_line
    from pellucid.cli.map_screen import print_map
    from pellucid.core.atomic import write_all_whole
    from pellucid.mapping import map_table
    from pellucid.report import Origin, render_map_report
    from pellucid.tables import read_table
    from pellucid.tables.sql import is_url, name_of, read_query, without_password

    if out.exists() and not out.is_dir():
        raise CommandError(f"out must be a folder, got {out}, which is a file. Choose another name.")
    frame = read_query(table, query) if is_url(table) else read_table(Path(table))
    with working_line(Console(stderr=True)) as show:
        result = map_table(frame, color, drop=drop or (), keep=keep or (), coerce=not as_is, seed=seed, listen=show)
    command = command_line(given | {"table": without_password(table)}, of=map_)
    report = render_map_report(result, Origin(name_of(table), "", command))
    places = dict(zip(PLACES, result.places.T, strict=True))
    files = {
        out / REPORT_FILE: report.encode(),
        out / ROWS_FILE: frame.assign(**places).to_csv(index=False).encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_map(result, Console(), list(files))
