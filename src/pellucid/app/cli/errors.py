"""What the command says when it cannot go on: one sentence and an exit code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    import pandas as pd


INTERRUPTED = 130
"""Exit code after Ctrl-C."""


class CommandError(Exception):
    """The input or the options are wrong: exit code 2."""

    exit_code = 2


class CommandInterrupted(Exception):  # noqa: N818  (an interruption is no error)
    """The user pressed Ctrl-C, and nothing was written: exit code 130."""

    exit_code = INTERRUPTED


class ClaimError(Exception):
    """A claim about a model does not hold: exit code 1."""

    exit_code = 1


class NothingProvedError(Exception):
    """A model about which nothing is claimed was to be verified: exit code 4."""

    exit_code = 4


def refuse_missing(model: Path) -> None:
    """Refuse a model file that is not there, before anything is imported that takes long."""
    if not model.is_file():
        raise CommandError(f"model must be a file, got {model}, which does not exist.")


TableName: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="CSV or TSV (packed too), Parquet, Feather or XLSX file, one row per example; a folder, or a pattern such "
        "as 'events/*.parquet', of such files; or the URL of a database, such as sqlite:///shop.db, with --query."
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
    """Return the table in a file, in all files of a folder or pattern, or what a query finds in a database."""
    from pellucid.app.tables.table_files import TableFiles
    from pellucid.app.tables.table_room import open_source

    found = open_source(table, query)
    return found.whole() if isinstance(found, TableFiles) else found


MEMORY_HELP = (
    "Memory that may be used, such as 500MB or 2GB; four fifths of it by default. A table that does not fit is "
    "read part by part."
)
BYTES_PER_UNIT = {"MB": 1e6, "GB": 1e9, "TB": 1e12, "MIB": 2.0**20, "GIB": 2.0**30, "TIB": 2.0**40}


def parse_memory(text: str) -> float:
    """Return the bytes of a size as people write it.

    Examples
    --------
    >>> parse_memory("2GB"), parse_memory("500 mb"), parse_memory("1.5GiB")
    (2000000000.0, 500000000.0, 1610612736.0)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([MGT]I?B)\s*", text.upper())
    size = float(match[1]) * BYTES_PER_UNIT[match[2]] if match else 0.0
    if not 0.0 < size < float("inf"):
        raise CommandError(f"memory must be a size above 0 such as 500MB or 2GB, got {text!r}.")
    return size
