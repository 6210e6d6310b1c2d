"""``pellucid map``: a table in two dimensions, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import AsIs, Drop, Keep, Query, TableName, read_source, refuse_a_file

REPORT_FILE = "map.html"
ROWS_FILE = "map.csv"
PLACES = ("map_1", "map_2")


def map_(
    table: TableName,
    color: Annotated[str | None, typer.Option(help="Column to color the dots by; it does not move them.")] = None,
    method: Annotated[
        str | None, typer.Option(help="pca, isomap, laplacian, lle or tsne; if left out, what keeps neighbors best.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page and for the places of the rows.")] = Path("mapped"),
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same one gives the same map.")] = 0,
    drop: Drop = None,
    keep: Keep = None,
    query: Query = None,
    as_is: AsIs = False,
) -> None:
    """Draw a map of a table by the method that keeps the neighbors of its rows best, as one page."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.screen import print_map
    from pellucid.app.maps import map_table
    from pellucid.app.report import Origin, render_map_report
    from pellucid.app.tables.reading import name_of, without_password
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.watching import terminal_bar

    refuse_a_file(out)
    frame = read_source(table, query)
    with terminal_bar() as show:
        result = map_table(
            frame, color, method=method, drop=drop or (), keep=keep or (), coerce=not as_is, seed=seed, listen=show
        )
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
