"""Predictions written part by part: a table of any size becomes a file that is there whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pandas as pd

from pellucid.app.cli.errors import CommandError
from pellucid.core.atomic import written_whole

JSON_LINES = (".jsonl", ".ndjson")
PARQUET = ".parquet"
WRITTEN = (".csv", *JSON_LINES, PARQUET)
"""Kinds of files that predictions are written to."""


class PredictionFile:
    """Takes tables of predictions one after the other."""

    def __init__(self, file: IO[bytes] | _StandardOutput, kind: str) -> None:
        self.file, self.kind = file, kind
        self.n_parts = 0
        self._parquet: Any = None

    def add(self, found: pd.DataFrame) -> None:
        """Write more rows."""
        if self.kind in JSON_LINES:
            self.file.write(
                found.to_json(orient="records", lines=True, force_ascii=False, double_precision=15).encode()
            )
        elif self.kind == PARQUET:
            self._add_parquet(found)
        else:
            self.file.write(found.to_csv(index=False, header=self.n_parts == 0).encode())
        self.n_parts += 1

    def _add_parquet(self, found: pd.DataFrame) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise CommandError("out needs pyarrow to be a Parquet file. Install it: pip install pyarrow.") from error
        if self._parquet is None:
            table = pyarrow.Table.from_pandas(found, preserve_index=False)
            is_empty = [pyarrow.types.is_null(field.type) for field in table.schema]
            for place in (place for place, empty in enumerate(is_empty) if empty):
                table = table.set_column(place, table.schema[place].name, table[place].cast(pyarrow.string()))
            self._parquet = parquet.ParquetWriter(self.file, table.schema)
        else:
            table = pyarrow.Table.from_pandas(found, schema=self._parquet.schema, preserve_index=False)
        self._parquet.write_table(table)

    def end(self) -> None:
        """Write what stands at the end of a file."""
        if self._parquet is not None:
            self._parquet.close()


@contextmanager
def prediction_file(out: Path | None, kind: str) -> Iterator[PredictionFile]:
    """Yield what takes predictions, for a file, or for standard output if none is named."""
    if out is None:
        sys.stdout.flush()
        file = PredictionFile(_StandardOutput(), kind)
        yield file
        return
    with written_whole(out) as content:
        file = PredictionFile(content, kind)
        yield file
        file.end()


class _StandardOutput:
    """Standard output as a file of bytes, also where it is one of texts only."""

    def write(self, content: bytes) -> int:
        return sys.stdout.write(content.decode())
