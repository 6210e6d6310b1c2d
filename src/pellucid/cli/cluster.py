"""``pellucid cluster``: from a table to clusters, a model that assigns new rows, and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pellucid.cli.errors import CommandError

MODEL_FILE = "clusters.safetensors"
REPORT_FILE = "clusters.html"
ROWS_FILE = "clusters.csv"
AUTO = "auto"


def cluster(
    table: Annotated[
        str,
        typer.Argument(
            help="CSV or TSV (packed too), Parquet, Feather or XLSX file, one row per example; or the URL of a "
            "database, such as sqlite:///shop.db, with --query."
        ),
    ],
    k: Annotated[str, typer.Option(help="The number of clusters, or auto to choose it.")] = AUTO,
    out: Annotated[Path, typer.Option(help="Folder for the model file, the report and the cluster of every row.")] = (
        Path("clustered")
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed: the same one gives the same clusters.")] = 0,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; may be given again.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to use although it looks like an id; may be given again.")
    ] = None,
    query: Annotated[str | None, typer.Option(help="What to ask a database for, in SQL.")] = None,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Read nothing into texts: no prices, dates, yes and no, spellings.")
    ] = False,
) -> None:
    """Find the clusters of a table, say what they are, save a model that assigns new rows, and write a report."""
    given = dict(locals())
    from rich.console import Console

    from pellucid.cli.cluster_screen import print_grouping, working_line
    from pellucid.cli.fit import command_line
    from pellucid.core.atomic import write_all_whole
    from pellucid.files.writing import model_bytes
    from pellucid.grouping import group_table
    from pellucid.report import Origin, render_cluster_report
    from pellucid.tables import read_table
    from pellucid.tables.sql import is_url, name_of, read_query, without_password

    number = parse_count(k)
    if out.exists() and not out.is_dir():
        raise CommandError(f"out must be a folder, got {out}, which is a file. Choose another name.")
    frame = read_query(table, query) if is_url(table) else read_table(Path(table))
    with working_line(Console(stderr=True)) as show:
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
