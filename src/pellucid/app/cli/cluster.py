"""``pellucid cluster``: from a table to clusters, a model that assigns new rows, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.app.cli.errors import AsIs, CommandError, Drop, Keep, Query, TableName, read_source, refuse_a_file

MODEL_FILE = "clusters.safetensors"
REPORT_FILE = "clusters.html"
ROWS_FILE = "clusters.csv"
AUTO = "auto"


def cluster(
    table: TableName,
    k: Annotated[str, typer.Option(help="The number of clusters, or auto to choose it.")] = AUTO,
    out: Annotated[Path, typer.Option(help="Folder for the model file, the report and the cluster of every row.")] = (
        Path("clustered")
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same one gives the same clusters.")] = 0,
    drop: Drop = None,
    keep: Keep = None,
    query: Query = None,
    as_is: AsIs = False,
) -> None:
    """Find the clusters of a table, say what they are, save a model that assigns new rows, and write a report."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.app.cli.fit import command_line
    from pellucid.app.cli.screen import print_grouping
    from pellucid.app.clusters import group_table
    from pellucid.app.report import Origin, render_cluster_report
    from pellucid.app.tables.reading import name_of, without_password
    from pellucid.core.atomic import write_all_whole
    from pellucid.core.files.saving import model_bytes
    from pellucid.core.watching import terminal_bar

    number = parse_count(k)
    refuse_a_file(out)
    frame = read_source(table, query)
    with terminal_bar() as show:
        result = group_table(frame, number, drop=drop or (), keep=keep or (), coerce=not as_is, seed=seed, listen=show)
    command = command_line(given | {"table": without_password(table)}, of=cluster)
    report = render_cluster_report(result, Origin(name_of(table), MODEL_FILE, command))
    files = {
        out / MODEL_FILE: model_bytes(result.model),
        out / REPORT_FILE: report.encode(),
        out / ROWS_FILE: frame.assign(cluster=result.labels).to_csv(index=False).encode(),
    }
    out.mkdir(parents=True, exist_ok=True)
    write_all_whole(files)
    print_grouping(result, Console(), list(files))


def parse_count(text: str) -> int | None:
    """Return the number of clusters that is asked for; None to choose it.

    Examples
    --------
    >>> parse_count("auto"), parse_count("3")
    (None, 3)
    """
    if text.strip().lower() == AUTO:
        return None
    if not text.strip().isdecimal() or int(text) < 2:
        raise CommandError(f"k must be a whole number of at least 2, or auto, got {text!r}.")
    return int(text)
