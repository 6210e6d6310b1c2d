"""One file in parts that are read each by itself: a file larger than memory is read part by part, again and again.

A text is cut at ends of lines that are not inside of quotes, and every part is read with the first line before it, so
that a part is read as the whole file would be. Rows of a Parquet file are counted already.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import pandas as pd

from pellucid.app.tables.csv_dialect import UNICODE, WESTERN, Dialect, find_dialect, find_encoding
from pellucid.app.tables.reading import PACKAGES, READERS, START, TableError, first_line, read_text_part

PART_BYTES, PART_ROWS = 32e6, 100_000
"""Of a table in memory, that a part has at most, about. They depend on the file alone, so that sums do, too."""
SCANNED = 1 << 24
"""Bytes that are looked at at once for ends of lines."""
LONGEST_QUOTE = 1 << 22
"""Bytes after which a quote that does not end is taken for a sign like any other."""
JSON_LINES = (".jsonl", ".ndjson")
TEXTS = {".csv": None, ".tsv": "\t", **dict.fromkeys(JSON_LINES)}
"""Kinds of texts that can be cut, and what parts their columns if that is known."""
PARQUET = ".parquet"
BATCH_ROWS = 1 << 16
GROWN = 6.0
"""A packed file, or a spreadsheet, takes about so many times its size in memory."""

Cut = tuple[int, int]


@dataclass(frozen=True)
class TextInParts:
    """A CSV, TSV or JSON lines file; a part is from one byte to another."""

    path: Path
    suffix: str
    names: tuple[str, ...]
    dialect: Dialect
    first: bytes
    """The line with the names, which every part is read with; empty if there is none."""
    head: pd.DataFrame = field(repr=False, compare=False)
    bytes_per_byte: float
    """Of the table in memory, for each of the file."""
    rows_per_byte: float

    @classmethod
    def of(cls, path: Path, suffix: str) -> Self:
        """Look at the beginning of a file."""
        with path.open("rb") as file:
            start = file.read(START)
        if not start.strip():
            raise TableError(f"table {path.name} must have rows and columns, got an empty file.")
        dialect = Dialect(UNICODE) if suffix in JSON_LINES else find_dialect(start, find_encoding(start), TEXTS[suffix])
        if "16" in dialect.encoding or "32" in dialect.encoding:
            raise TableError(f"table {path.name} must be in UTF-8 to be read in parts, got {dialect.encoding.upper()}.")
        whole = start if len(start) < START else start[: _last_end(start)]
        has_first = dialect.has_names and suffix not in JSON_LINES
        first = whole[: _first_end(whole)] if has_first else b""
        unread = cls(path, suffix, (), dialect, first, pd.DataFrame(), 1.0, 1.0)
        head = unread.frame_of(whole)
        taken = float(head.memory_usage(index=False, deep=True).sum())
        return replace(
            unread,
            names=tuple(map(str, head.columns)),
            head=head,
            bytes_per_byte=taken / len(whole),
            rows_per_byte=len(head) / len(whole),
        )

    @property
    def table_bytes(self) -> float:
        """What the table takes in memory, about."""
        return self.bytes_per_byte * self.path.stat().st_size

    @property
    def notes(self) -> list[str]:
        """How it is read, as far as that is unusual."""
        return self.dialect.notes() if self.suffix not in JSON_LINES else []

    def cut(self) -> tuple[Self, list[Cut]]:
        """Return the file, and where its parts begin and end; letters of an older encoding are found on the way."""
        smaller = min(PART_BYTES / max(self.bytes_per_byte, 1e-9), PART_ROWS / max(self.rows_per_byte, 1e-12))
        ends, encoding = _scan(self.path, len(self.first), max(1, int(smaller)), self.dialect.encoding)
        dialect = replace(self.dialect, encoding=encoding)
        return replace(self, dialect=dialect), [*zip([len(self.first), *ends[:-1]], ends, strict=True)]

    def read(self, cut: Cut, texts: Collection[str] = ()) -> pd.DataFrame:
        """Return the rows of a part; columns among ``texts`` are read as they are written."""
        with self.path.open("rb") as file:
            file.seek(cut[0])
            content = file.read(cut[1] - cut[0])
        return self.frame_of(self.first + content, texts)

    def frame_of(self, content: bytes, texts: Collection[str] = ()) -> pd.DataFrame:
        """Return the table that some lines write."""
        if self.suffix not in JSON_LINES:
            places = [place for place, name in enumerate(self.names) if name in texts]
            return read_text_part(BytesIO(content), self.dialect, places)
        frame = pd.DataFrame([json.loads(line) for line in content.splitlines() if line.strip()])
        unknown = [name for name in frame.columns if self.names and name not in self.names]
        if unknown:
            raise TableError(f"table {self.path.name} must have {unknown[0]!r} in its first rows too, got it later.")
        return frame.reindex(columns=self.names) if self.names else frame


@dataclass(frozen=True)
class ParquetInParts:
    """A Parquet file; a part is from one row to another."""

    path: Path
    names: tuple[str, ...]
    n_rows: int
    head: pd.DataFrame = field(repr=False, compare=False)
    bytes_per_row: float
    suffix: str = PARQUET
    notes: tuple[str, ...] = ()
    floats: frozenset[str] = frozenset()
    """Columns of whole numbers with gaps somewhere, which are no whole numbers in memory."""

    @classmethod
    def of(cls, path: Path, _suffix: str) -> Self:
        """Look at the schema and the first rows."""
        from pyarrow.parquet import ParquetFile

        with ParquetFile(path) as file:
            n_rows = file.metadata.num_rows
            names = _columns_of(file.schema_arrow)
            table = file.schema_arrow.empty_table().select(names)
            if n_rows:
                table = _table_of([next(file.iter_batches(1000, columns=names))])
            floats = frozenset(name for name in names if _has_gaps(file, name))
        head = table.to_pandas(ignore_metadata=True)
        taken = float(head.memory_usage(index=False, deep=True).sum())
        return cls(path, tuple(map(str, names)), n_rows, head, taken / max(len(head), 1), floats=floats)

    @property
    def table_bytes(self) -> float:
        """What the table takes in memory, about."""
        return self.bytes_per_row * self.n_rows

    def cut(self) -> tuple[Self, list[Cut]]:
        """Return the file, and between which rows its parts lie."""
        rows = max(1, int(min(PART_ROWS, PART_BYTES / max(self.bytes_per_row, 1.0))))
        return self, [(start, min(start + rows, self.n_rows)) for start in range(0, self.n_rows, rows)]

    def read(self, cut: Cut, texts: Collection[str] = ()) -> pd.DataFrame:
        """Return the rows of a part: other rows of its groups are passed by, and take no memory."""
        from pyarrow.parquet import ParquetFile

        with ParquetFile(self.path) as file:
            return _table_of(_rows_between(file, *cut)).to_pandas(ignore_metadata=True)


@dataclass(frozen=True)
class WholeFile:
    """A file that can only be read at once: packed, a spreadsheet, Feather."""

    path: Path
    suffix: str
    names: tuple[str, ...]
    head: pd.DataFrame = field(repr=False, compare=False)
    table_bytes: float
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, suffix: str) -> Self:
        """Read a file to see what it has; its size tells what it takes in memory."""
        if GROWN * path.stat().st_size > PART_BYTES * 10:
            raise TableError(f"table {path.name} must be smaller to be read at once. Unpack it, or write Parquet.")
        frame = READERS[suffix](path)
        taken = float(frame.memory_usage(index=False, deep=True).sum())
        return cls(path, suffix, tuple(map(str, frame.columns)), frame.head(1000), taken)

    def cut(self) -> tuple[Self, list[Cut]]:
        """Return the file as one part."""
        return self, [(0, 1)]

    def read(self, cut: Cut, texts: Collection[str] = ()) -> pd.DataFrame:
        """Return all rows."""
        frame = READERS[self.suffix](self.path)
        return frame.astype({name: "str" for name in texts if frame[name].dtype.kind not in "OU"})


FileInParts = TextInParts | ParquetInParts | WholeFile


def in_parts(path: Path) -> FileInParts:
    """Return a file as one that is read in parts; what is wrong with it is said in a sentence that names it."""
    suffix = suffix_of(path)
    kind: Any = TextInParts if suffix in TEXTS else ParquetInParts if suffix == PARQUET else WholeFile
    if not suffix:
        raise TableError(f"table {path.name} must be one of {', '.join(READERS)}.")
    try:
        found: FileInParts = kind.of(path, suffix)
    except TableError:
        raise
    except ImportError as error:
        package = PACKAGES.get(suffix, "a package that is missing")
        raise TableError(f"table {path.name} needs {package} to be read. Install it: pip install {package}.") from error
    except Exception as error:  # each reader has errors of its own
        raise TableError(f"table {path.name} must be readable, but its reader says: {first_line(error)}") from error
    return found


def suffix_of(path: Path) -> str:
    """Return the ending that tells how a file is read; empty if none does."""
    return next((ending for ending in READERS if path.name.lower().endswith(ending)), "")


def _columns_of(schema: Any) -> list[str]:
    """Return the columns of a Parquet file, those aside that pandas keeps its index in."""
    known = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in schema.names if name not in known]


def _has_gaps(file: Any, name: str) -> bool:
    """Return whether a column of whole numbers has gaps, from what its row groups tell; they may be silent."""
    import pyarrow

    if not pyarrow.types.is_integer(file.schema_arrow.field(name).type):
        return False
    place = file.schema.names.index(name)
    told = [file.metadata.row_group(k).column(place).statistics for k in range(file.metadata.num_row_groups)]
    return any(one is None or not one.has_null_count or one.null_count > 0 for one in told)


def _table_of(batches: Any) -> Any:
    import pyarrow

    return pyarrow.Table.from_batches(batches)


def _rows_between(file: Any, start: int, stop: int) -> list[Any]:
    """Return the batches of some rows; of row groups, those that have one of them."""
    groups, first, seen = list[int](), 0, 0
    for number in range(file.metadata.num_row_groups):
        n_rows = file.metadata.row_group(number).num_rows
        if seen < stop and seen + n_rows > start:
            first = first if groups else seen
            groups.append(number)
        seen += n_rows
    found = []
    for batch in file.iter_batches(BATCH_ROWS, row_groups=groups, columns=_columns_of(file.schema_arrow)):
        low, high = max(start - first, 0), min(stop - first, batch.num_rows)
        if low < high:
            found.append(batch.slice(low, high - low))
        first += batch.num_rows
        if first >= stop:
            break
    return found


def _scan(path: Path, start: int, size: int, encoding: str) -> tuple[list[int], str]:
    """Return ends of lines about so many bytes apart, the end of the file as the last, and the encoding of all."""
    decoder = codecs.getincrementaldecoder(UNICODE)()
    is_unicode = encoding.startswith(UNICODE)
    ends: list[int] = []
    due, is_quoted = start + size, False
    for place, piece in _pieces(path, start):
        if is_unicode:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                is_unicode = False
        looked = 0
        while (end := piece.find(b"\n", max(looked, due - place - 1))) >= 0:
            is_quoted ^= piece.count(b'"', looked, end) % 2 == 1
            looked = end + 1
            if not is_quoted or place + looked - due > LONGEST_QUOTE:
                ends.append(place + looked)
                due, is_quoted = place + looked + size, False
        is_quoted ^= piece.count(b'"', looked) % 2 == 1
    last = path.stat().st_size
    if last > (ends[-1] if ends else start):
        ends.append(last)
    return ends or [last], encoding if is_unicode or not encoding.startswith(UNICODE) else WESTERN


def _pieces(path: Path, start: int) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        file.seek(start)
        while piece := file.read(SCANNED):
            yield file.tell() - len(piece), piece


def _first_end(content: bytes) -> int:
    """Return where the first line that says something ends, line breaks inside of quotes aside."""
    end = 0
    while end < len(content):
        end = content.find(b"\n", end) + 1 or len(content)
        if content[:end].count(b'"') % 2 == 0 and content[:end].strip():
            break
    return end


def _last_end(content: bytes) -> int:
    """Return where the last line that is whole ends."""
    end = len(content)
    while (end := content.rfind(b"\n", 0, end)) > 0 and content.count(b'"', 0, end) % 2:
        pass
    return end + 1 if end > 0 else len(content)
