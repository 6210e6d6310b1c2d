"""A table of one's own to play on: its first rows, told by its columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MOST_TABLE_ROWS = 20_000
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
