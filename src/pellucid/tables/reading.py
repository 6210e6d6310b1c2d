"""Tables from files, or what is wrong with them in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": lambda path: pd.read_csv(path, low_memory=False),
    ".tsv": lambda path: pd.read_csv(path, sep="\t", low_memory=False),
    ".parquet": pd.read_parquet,
    ".xlsx": pd.read_excel,
}
PACKAGES = {".parquet": "pyarrow", ".xlsx": "openpyxl"}
"""What pandas needs beside itself to read a kind of file."""


class TableError(ValueError):
    """A table that cannot be read, or does not fit what is asked of it."""


def read_table(path: Path) -> pd.DataFrame:
    """Return the table in a CSV, TSV, Parquet or XLSX file (its first sheet)."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise TableError(f"table must be one of {', '.join(READERS)}, got {path.name}. Convert it.")
    if not path.is_file():
        raise TableError(f"table must be a file, got {path}, which does not exist.")
    try:
        frame = READERS[suffix](path)
    except ImportError as error:
        package = PACKAGES.get(suffix, "a package that is missing")
        raise TableError(f"table {path.name} needs {package} to be read. Install it: pip install {package}.") from error
    except Exception as error:  # each reader has errors of its own; all of them say that the file is not such a table
        raise TableError(f"table {path.name} must be readable, but its reader says: {_first_line(error)}") from error
    if frame.empty:
        raise TableError(f"table {path.name} must have rows and columns, got {frame.shape[0]} rows.")
    frame.columns = [str(name) for name in frame.columns]
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"column names must differ, got {twice!r} twice. Rename one.")
    return frame


def check_has_column(frame: pd.DataFrame, name: str) -> None:
    """Refuse a target that is not there, and name the columns that are."""
    if name not in frame.columns:
        raise TableError(f"target must be one of the columns {list(frame.columns)}, got {name!r}.")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
