"""Whether a table fits into memory, or is to be read part by part."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pellucid.app.tables.reading import TableError, is_url, read_query, read_table
from pellucid.app.tables.table_files import TableFiles, is_several
from pellucid.core.budget import USUAL_SHARE, memory_in_use, memory_there_is

LOADED_LATER = 2.6e8
"""Bytes of compiled loops and of what draws the report, which are not loaded when a job begins."""
TABLE_COPIES = 4.0
"""Of the table: as read, the rows to learn from, those kept aside, and one on the way."""
SMALL_FILE = 5e7
"""Bytes of a file up to which nobody asks what its table takes, unless the memory is limited."""


def memory_limit(memory: float | None) -> float:
    """Return the bytes that the process may have: those given, or the usual share."""
    return USUAL_SHARE * memory_there_is() if memory is None else memory


def table_fits(memory: float | None, table_bytes: float) -> bool:
    """Return whether a table, with its copies, fits beside what is in memory.

    Where nothing would fit it is no matter of the table, and the job says so.
    """
    limit, taken = memory_limit(memory), memory_in_use() + LOADED_LATER
    return limit <= taken or taken + TABLE_COPIES * table_bytes <= limit


def open_source(
    source: str | Path, query: str | None = None, memory: float | None = None, target: str | None = None
) -> pd.DataFrame | TableFiles:
    """Return the table of a file, a folder, a pattern or a query; the files themselves if it does not fit into memory.

    Files that must have a target are refused if one has none.
    """
    source = str(source)
    if is_url(source):
        return read_query(source, query)
    path, several = Path(source), is_several(source)
    if not several and (not path.is_file() or (memory is None and path.stat().st_size <= SMALL_FILE)):
        return read_table(path)
    try:
        files = TableFiles.of(source, target)
    except TableError:
        if several:
            raise
        return read_table(path)  # it says itself what is wrong, or reads what cannot be read in parts
    if not table_fits(memory, files.table_bytes):
        return files
    return files.whole() if several else read_table(path)
