"""Tables from databases: a SQLAlchemy URL and a query."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from pellucid.tables.reading import NOTES, TableError, check_table, first_line

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
