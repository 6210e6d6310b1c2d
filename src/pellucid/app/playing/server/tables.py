"""The tables that the server keeps, by their ids."""

from __future__ import annotations

from typing import Any

from pellucid.app.playing.given.play_table import GIVEN, PlayTable
from pellucid.app.serving.local_requests import RequestError

MOST_TABLE_BYTES = 20_000_000
MOST_TABLES = 8
"""Tables that are kept; of more the oldest are forgotten, but for the one given on the command line."""


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
