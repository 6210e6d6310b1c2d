"""Tables from files, or what is wrong with them in one sentence."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from pellucid.app.tables.csv_dialect import NO_NAMES, UNICODE, WESTERN, Dialect, find_dialect, find_encoding
from pellucid.core.checks import did_you_mean
from pellucid.data.bundled_tables import BUNDLED

START = 1 << 18
"""Bytes of a text file that are looked at to find out how it is written."""
AS_WRITTEN = {} if tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1) else {"float_precision": "round_trip"}
"""Before 3.1, pandas reads every third number of 17 digits one unit in the last place off: it must be told not to."""
NOTES = "pellucid notes"
"""Where a table keeps, among its attributes, how it was read."""


def _read_text(path: Path, delimiter: str | None = None) -> pd.DataFrame:
    with _opened(path) as file:
        start = file.read(START)
    encoding = find_encoding(start)
    try:
        return _read_text_as(path, start, encoding, delimiter)
    except UnicodeDecodeError:
        if encoding != UNICODE:
            raise
        return _read_text_as(path, start, WESTERN, delimiter)  # the first bytes were plain, others are not


def _read_text_as(path: Path, start: bytes, encoding: str, delimiter: str | None) -> pd.DataFrame:
    dialect = find_dialect(start, encoding, delimiter)
    with _opened(path) as file:
        frame = read_text_part(file, dialect)
    frame.attrs[NOTES] = dialect.notes()
    return frame


def read_text_part(file: IO[bytes], dialect: Dialect, texts: Collection[int] = ()) -> pd.DataFrame:
    """Return the table that the lines of a file write; columns at the places of ``texts`` as they are written."""
    frame = pd.read_csv(
        file,
        sep=dialect.delimiter,
        encoding=dialect.encoding,
        decimal=dialect.decimal,
        thousands=dialect.thousands,
        low_memory=False,
        header=0 if dialect.has_names else None,
        dtype=dict.fromkeys(texts, "str"),
        **AS_WRITTEN,
    )
    if not dialect.has_names:
        frame.columns = [f"column {place}" for place in range(1, frame.shape[1] + 1)]
    return frame


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a text file, packed or not."""
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as file:
            yield file  # type: ignore[misc]  # a file of bytes
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX")]
            if len(names) != 1:
                raise TableError(f"archive {path.name} must hold one table, got {len(names)} files. Unpack it.")
            with archive.open(names[0]) as file:
                yield file
    else:
        with path.open("rb") as file:
            yield file


def _read_json_lines(path: Path) -> pd.DataFrame:
    """Return a table of one object per line; numbers stay numbers, and texts texts, whatever they look like."""
    with _opened(path) as file:
        return pd.DataFrame([json.loads(line) for line in file if line.strip()])


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": _read_text,
    ".tsv": lambda path: _read_text(path, "\t"),
    ".csv.gz": _read_text,
    ".tsv.gz": lambda path: _read_text(path, "\t"),
    ".zip": _read_text,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".parquet": pd.read_parquet,
    ".feather": pd.read_feather,
    ".xlsx": pd.read_excel,
}
PACKAGES = {".parquet": "pyarrow", ".feather": "pyarrow", ".xlsx": "openpyxl"}
"""What pandas needs beside itself to read a kind of file."""


class TableError(ValueError):
    """A table that cannot be read, or does not fit what is asked of it."""


def read_table(path: str | Path) -> pd.DataFrame:
    """Return the table in a CSV or TSV file (packed or not), a Parquet, Feather or XLSX file (its first sheet).

    Encoding, delimiter and decimal comma of a text file are found; what is unusual is noted among the attributes of
    the table, see ``notes_of``. Where there is no such file, the name of a table of :mod:`pellucid.data` will do.

    Parameters
    ----------
    path : str or Path
        The file; its ending says of what kind it is.
    """
    path = Path(path)
    bundled = BUNDLED.get(str(path).replace("-", "_"))
    if bundled is not None and not path.exists():
        return check_table(bundled(), path.name)
    suffix = next((ending for ending in READERS if path.name.lower().endswith(ending)), "")
    if not suffix:
        likely = did_you_mean(path.name.replace("-", "_"), BUNDLED)
        raise TableError(f"table must be one of {', '.join(READERS)}, got {path.name}.{likely or ' Convert it.'}")
    if not path.is_file():
        raise TableError(f"table must be a file, got {path}, which does not exist.")
    try:
        frame = READERS[suffix](path)
    except TableError:
        raise
    except ImportError as error:
        package = PACKAGES.get(suffix, "a package that is missing")
        raise TableError(f"table {path.name} needs {package} to be read. Install it: pip install {package}.") from error
    except Exception as error:  # each reader has errors of its own; all of them say that the file is not such a table
        raise TableError(f"table {path.name} must be readable, but its reader says: {first_line(error)}") from error
    return check_table(frame, path.name)


def check_table(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a table whose columns have names as texts, all different; refuse an empty one."""
    if frame.empty:
        raise TableError(f"table {name} must have rows and columns, got {frame.shape[0]} rows.")
    names = [str(name) for name in frame.columns]
    bare = bare_names(names)
    if bare != names:
        frame.attrs[NOTES] = [*notes_of(frame), "Blanks around the names of columns were dropped."]
    frame.columns = bare
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise TableError(f"column names must differ, got {twice!r} twice. Rename one.")
    return frame


def bare_names(names: Iterable[str]) -> list[str]:
    """Return the names of columns without blanks around them, if they differ without, too."""
    given = list(names)
    bare = [name.strip() for name in given]
    return bare if len(set(bare)) == len(bare) else given


def notes_of(frame: pd.DataFrame) -> list[str]:
    """Return how a table was read, in sentences, as far as that was unusual."""
    notes: Any = frame.attrs.get(NOTES, [])
    return list(notes)


def check_has_column(frame: pd.DataFrame, name: str) -> None:
    """Refuse a target that is not there, and name the columns that are."""
    if name not in frame.columns:
        meant = did_you_mean(name, map(str, frame.columns)) or "".join(f" {note}" for note in _on_names(frame))
        raise TableError(f"target must be one of the columns {list(frame.columns)}, got {name!r}.{meant}")


def _on_names(frame: pd.DataFrame) -> list[str]:
    return [note for note in notes_of(frame) if note == NO_NAMES]


def first_line(error: Exception) -> str:
    """Return the first line of what an error says, or its name."""
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


def as_frame(table: Any) -> pd.DataFrame:
    """Return a table as a pandas data frame; a lazy one is computed.

    Examples
    --------
    >>> as_frame(pd.DataFrame({"size": [1, 2]})).shape
    (2, 1)
    """
    if isinstance(table, pd.DataFrame):
        return table
    if type(table).__module__.partition(".")[0] != "polars":
        raise TypeError(f"table must be a data frame of pandas or polars, got {type(table).__name__}.")
    whole = table.collect() if hasattr(table, "collect") else table
    try:
        found: pd.DataFrame = whole.to_pandas()
    except ImportError as error:
        raise TableError("table of polars needs pyarrow to be read. Install it: pip install pyarrow.") from error
    return found


URL = re.compile(r"[a-z][\w+]*://", re.IGNORECASE)
PASSWORD = re.compile(r"//[^/@]*@")
ROWS_AT_ONCE = 100_000


def is_url(text: str) -> bool:
    """Return whether a text names a database rather than a file.

    Examples
    --------
    >>> is_url("sqlite:///shop.db"), is_url("shop.csv")
    (True, False)
    """
    return URL.match(text) is not None


def name_of(source: str) -> str:
    """Return what to call a table: the name of its file, or its database without a password."""
    return without_password(source) if is_url(source) else Path(source).name


def without_password(source: str) -> str:
    """Return the URL of a database without who asks, and with what password; the name of a file as it is."""
    return PASSWORD.sub("//...@", source) if is_url(source) else source


def read_query(url: str, query: str | None) -> pd.DataFrame:
    """Return what a query finds, read in parts; errors name no password."""
    shown = without_password(url)
    if not query:
        raise TableError(f"database {shown} must be asked for something, got no query. Give --query 'select ...'.")
    try:
        import sqlalchemy
    except ImportError as error:
        raise TableError("a database needs sqlalchemy to be read. Install it: pip install sqlalchemy.") from error
    try:
        engine = sqlalchemy.create_engine(url)
        with engine.connect() as connection:
            parts = list(pd.read_sql_query(sqlalchemy.text(query), connection, chunksize=ROWS_AT_ONCE))
        engine.dispose()
    except Exception as error:  # each database has errors of its own
        said = first_line(error).replace(url, shown)
        raise TableError(f"database {shown} must answer the query, but it says: {said}") from error
    frame = check_table(pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0], "of the query")
    frame.attrs[NOTES] = [f"The table was read from {shown} by the query: {query}"]
    return frame
