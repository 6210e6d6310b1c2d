"""What the commands that read a table have in common: its name, and how its columns are read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from pellucid.cli.errors import CommandError

if TYPE_CHECKING:
    import pandas as pd

TableName: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (packed too), Parquet, Feather or XLSX file, one row per example; or the URL of a "
        "database, such as sqlite:///shop.db, with --query."
    ),
]
Drop: TypeAlias = Annotated[list[str] | None, typer.Option(help="Column to leave out; may be given again.")]
Keep: TypeAlias = Annotated[
    list[str] | None, typer.Option(help="Column to use although it looks like an id; may be given again.")
]
Query: TypeAlias = Annotated[str | None, typer.Option(help="What to ask a database for, in SQL.")]
AsIs: TypeAlias = Annotated[
    bool, typer.Option("--as-is", help="Read nothing into texts: no prices, dates, yes and no, spellings.")
]


def refuse_a_file(out: Path) -> None:
    """Refuse a name for the folder of the results that is a file."""
    if out.exists() and not out.is_dir():
        raise CommandError(f"out must be a folder, got {out}, which is a file. Choose another name.")


def read_source(table: str, query: str | None) -> pd.DataFrame:
    """Return the table in a file, or what a query finds in a database."""
    from pellucid.tables import read_table
    from pellucid.tables.sql import is_url, read_query

    return read_query(table, query) if is_url(table) else read_table(Path(table))
