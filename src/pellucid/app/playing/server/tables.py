"""Tables of one's own: read in a worker, kept by the server, told to the page by their columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from pellucid.app.serving.local_requests import RequestError

if TYPE_CHECKING:
    import pandas as pd

MOST_TABLE_BYTES = 20_000_000
MOST_TABLE_ROWS = 20_000
MOST_TABLES = 8
"""Tables that are kept; of more the oldest are forgotten, but for the one given on the command line."""
GIVEN = "given"
"""The id of the table that was given on the command line."""


@dataclass(frozen=True)
class PlayTable:
    """A table to play with: its first rows, how many there were, and the target unless another is chosen."""

    name: str
    frame: pd.DataFrame
    all_rows: int
    target: str | None = None

    @classmethod
    def of(cls, frame: pd.DataFrame, name: str, target: str | None = None) -> PlayTable:
        """Return a table, cut to the rows that are kept."""
        from pellucid.core.checks import find_name

        frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
        if len(frame) < 2:
            raise ValueError(f"table must have at least 2 rows, got {len(frame)}.")
        if target is not None:
            target = find_name(target, tuple(frame.columns), what="target")
        return cls(name, frame.head(MOST_TABLE_ROWS), len(frame), target)

    def to_json(self, name: str) -> dict[str, Any]:
        """Return what the page shows of it."""
        from pandas.api.types import is_numeric_dtype

        columns = [
            {"name": column, "kind": "number" if is_numeric_dtype(self.frame[column]) else "words"}
            for column in self.frame.columns
        ]
        told = {"id": name, "name": self.name, "rows": len(self.frame), "columns": columns, "target": self.target}
        if self.all_rows > len(self.frame):
            told["note"] = f"The first {len(self.frame):,} of {self.all_rows:,} rows are kept for playing."
        return told


def read_play_table(body: bytes, name: str) -> PlayTable:
    """Return the table in the body of a request."""
    from pellucid.app.tables import read_table

    if not body.strip():
        raise ValueError("table must have a line of names and a line for every row, got nothing to read.")
    if b"\0" in body[:100_000]:
        raise ValueError("table must be a CSV file, got one that is no text. Save it as CSV.")
    with TemporaryDirectory() as folder:  # as a file, it is read as every other table is
        path = Path(folder) / "table.csv"
        path.write_bytes(body)
        return PlayTable.of(read_table(path), name[:80])


class TableShelf:
    """The tables that the server keeps, by their ids."""

    def __init__(self, given: PlayTable | None = None) -> None:
        self._tables: dict[str, PlayTable] = {} if given is None else {GIVEN: given}
        self._count = 0

    def add(self, table: PlayTable) -> str:
        """Keep a table and return its id."""
        self._count += 1
        name = f"table-{self._count}"
        self._tables[name] = table
        own = [one for one in self._tables if one != GIVEN]
        for old in own[:-MOST_TABLES]:
            del self._tables[old]
        return name

    def find(self, name: str) -> PlayTable | None:
        """Return the table of this id, if it is kept."""
        return self._tables.get(name)

    def named_in(self, data: Any) -> PlayTable | None:
        """Return the table that the data of a run name; None if they are no table."""
        if not isinstance(data, dict) or "table" not in data:
            return None
        found = self._tables.get(data["table"]) if isinstance(data["table"], str) else None
        if found is None:
            raise RequestError(f"table must be one that the server has, got {data['table']!r}. Send the file again.")
        return found
