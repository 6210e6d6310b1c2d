"""Several files as one table: a folder, a pattern such as ``events/*.parquet``, or one file, in parts or at once."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from pellucid.app.tables.file_parts import PARQUET, Cut, FileInParts, ParquetInParts, in_parts, suffix_of
from pellucid.app.tables.reading import NOTES, TableError, bare_names, check_has_column, check_table, first_line
from pellucid.app.tables.understanding import is_flag, is_numeric
from pellucid.core.types import Array

MAGIC = "*?["
MOST_FAULTS = 20
READ_AHEAD = 2
"""Parts that are read while another is looked at."""
NUMBERS, YES_OR_NO, DATES, DURATIONS, LISTS, TEXTS = "numbers", "yes or no", "dates", "durations", "lists", "texts"

Found = TypeVar("Found")


def is_several(source: str) -> bool:
    """Return whether a text names a folder, or files by a pattern.

    Examples
    --------
    >>> is_several("events/*.parquet"), is_several("events.csv")
    (True, False)
    """
    path = Path(source)
    return path.is_dir() or (any(sign in source for sign in MAGIC) and not path.exists())


def find_files(source: str) -> list[Path]:
    """Return the tables of a folder, of all below it, or those that fit a pattern, in the order of their names."""
    path = Path(source)
    if not is_several(source):
        if not path.is_file():
            raise TableError(f"table must be a file, got {source}, which does not exist.")
        return [path]
    found = path.rglob("*") if path.is_dir() else map(Path, glob.iglob(source, recursive=True))  # noqa: PTH207  (absolute ones too)
    files = sorted(one for one in found if one.is_file() and one.name[0] not in "._" and suffix_of(one))
    if not files:
        where = "folder" if path.is_dir() else "pattern"
        raise TableError(f"{where} {source} must hold tables such as CSV or Parquet files, got none.")
    return files


@dataclass(frozen=True)
class TablePart:
    """Rows of one file that are read at once."""

    file: FileInParts
    cut: Cut
    columns: tuple[str, ...]
    """Names and order of the columns in all files."""
    name: str
    """Of its file, from the folder on that all of them lie in."""
    texts: frozenset[str] = frozenset()
    """Columns to read as they are written: some of their values are numbers, others are not."""
    floats: frozenset[str] = frozenset()
    """Columns of numbers that are whole in some parts only, or have gaps in some."""
    first_row: int = 0
    """Place of its first row in its file, once all before it have been counted."""

    def read(self) -> pd.DataFrame:
        """Return the rows, with the columns of all files in their order."""
        try:
            frame = self.file.read(self.cut, self.texts)
        except TableError:
            raise
        except Exception as error:  # each reader has errors of its own
            name = self.file.path.name
            raise TableError(f"table {name} must be readable, but its reader says: {first_line(error)}") from error
        own = bare_names(self.file.names)
        if frame.shape[1] != len(own):
            raise TableError(f"table {self.file.path.name} must have {len(own)} columns, got {frame.shape[1]}.")
        frame.columns = own
        whole = {name: np.float64 for name in self.floats if frame[name].dtype.kind in "iu"}
        frame = frame.astype(whole) if whole else frame
        return frame if tuple(own) == self.columns else frame[list(self.columns)]

    def head(self) -> pd.DataFrame:
        """Return the first rows of its file."""
        return _named_head(self.file)[list(self.columns)]

    def place_of(self, row: int) -> str:
        """Return what to call a row of the part."""
        return f"row {self.first_row + row + 1:,} of {self.name}"


@dataclass(frozen=True)
class TableFiles:
    """Files that are one table."""

    source: str
    files: tuple[FileInParts, ...]
    columns: tuple[str, ...]
    parts: tuple[TablePart, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, source: str, target: str | None = None) -> TableFiles:
        """Look at the beginning of all files; refuse them with a list of all that is wrong with any."""
        faults, files, empty = list[str](), list[FileInParts](), list[str]()
        for path in find_files(source):
            try:
                file = in_parts(path)
                check_table(file.head.copy(), path.name) if len(file.head) else None
            except TableError as fault:
                faults.append(str(fault))
                continue
            files.append(file)
            empty += [] if len(file.head) else [path.name]
        if files:
            faults += _unlike(files, target)
        if faults:
            raise TableError(_listed(faults))
        with_rows = [file for file in files if len(file.head)]
        if not with_rows:
            raise TableError(f"table {source} must have rows, got none in {len(files)} files.")
        notes = [f"Files without rows were passed by: {', '.join(empty)}."] if empty else []
        notes += dict.fromkeys(note for file in with_rows for note in file.notes)
        return cls(source, tuple(with_rows), tuple(bare_names(with_rows[0].names)), (), tuple(notes))

    @property
    def table_bytes(self) -> float:
        """What the whole table takes in memory, about."""
        return sum(file.table_bytes for file in self.files)

    @property
    def file_bytes(self) -> int:
        """What the files take on the disk."""
        return sum(file.path.stat().st_size for file in self.files)

    def head(self) -> pd.DataFrame:
        """Return the first rows."""
        return _named_head(self.files[0])

    def cut(self) -> TableFiles:
        """Return the files in parts."""
        whole = [file.cut() for file in self.files]
        root = Path(os.path.commonpath([file.path.parent for file in self.files]))
        parts = tuple(
            TablePart(file, cut, self.columns, file.path.relative_to(root).as_posix())
            for file, cuts in whole
            for cut in cuts
        )
        return replace(self, files=tuple(file for file, _ in whole), parts=parts)

    def counted(self, heights: Sequence[int]) -> TableFiles:
        """Return the files with parts that know which row of their file they begin with."""
        rows, parts = dict[Path, int](), list[TablePart]()
        for part, height in zip(self.parts, heights, strict=True):
            path = part.file.path
            parts.append(replace(part, first_row=rows.get(path, 0)))
            rows[path] = rows.get(path, 0) + height
        return replace(self, parts=tuple(parts))

    def read_as(self, kinds: ColumnKinds) -> TableFiles:
        """Return the files with each column of one kind in all parts."""
        parts = (replace(part, texts=kinds.texts, floats=kinds.floats) for part in self.parts)
        return replace(self, parts=tuple(parts))

    def settled(self, show: Callable[[int, int], None] = lambda *_: None) -> TableFiles:
        """Return the files in parts, each column of one kind in all of them: a pass over texts finds out which."""
        found = self if self.parts else self.cut()
        kinds, heights = ColumnKinds(), list[int]()
        kinds.note_floats(found.files)
        if all(file.suffix == PARQUET for file in found.files):
            return found.read_as(kinds).counted([part.cut[1] - part.cut[0] for part in found.parts])
        for number, (part, frame) in enumerate(found.in_order()):
            show(number, len(found.parts))
            kinds.add(frame, part)
            heights.append(len(frame))
        kinds.refuse_unless_text()
        return found.read_as(kinds).counted(heights)

    def in_order(self) -> Iterator[tuple[TablePart, pd.DataFrame]]:
        """Yield the parts in their order; a thread reads those that come next."""
        return read_ahead(self.parts, TablePart.read)

    def whole(self) -> pd.DataFrame:
        """Return the table, all rows of all files."""
        settled = self.settled()
        frame = pd.concat([frame for _, frame in settled.in_order()], ignore_index=True)
        frame.attrs[NOTES] = list(settled.notes)
        return check_table(frame, Path(self.source).name)


def read_ahead(items: Sequence[TablePart], read: Callable[[TablePart], Found]) -> Iterator[tuple[TablePart, Found]]:
    """Yield what is read of each item, in their order."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = list[Future[Found]]()
        try:
            for number, item in enumerate(items):
                for later in items[number + len(waiting) : number + READ_AHEAD]:
                    waiting.append(pool.submit(read, later))
                yield item, waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()


class ColumnKinds:
    """What columns hold in each part, and where one holds something else than before."""

    def __init__(self, before: ColumnKinds | None = None) -> None:
        self.kinds: dict[str, str] = {}
        self.others: dict[str, tuple[str, str]] = {} if before is None else dict(before.others)
        """Of columns with numbers and texts: the first text, and where it stands."""
        self.floats: frozenset[str] = frozenset() if before is None else before.floats
        """Columns of numbers that are not whole, or have gaps, in some part."""
        self._texts: dict[str, tuple[str, str]] = {}
        self._faults: list[str] = []

    def note_floats(self, files: Sequence[FileInParts]) -> None:
        """Take from files with types which columns of whole numbers have gaps."""
        self.floats |= {name for file in files if isinstance(file, ParquetInParts) for name in file.floats}

    def add(self, frame: pd.DataFrame, part: TablePart) -> None:
        """Look at the columns of one more part."""
        for name in frame.columns:
            column = frame[name]
            kind = kind_of(column)
            before = self.kinds.setdefault(name, kind) if kind else ""
            self.floats |= {name} if column.dtype.kind == "f" else set()
            if kind == TEXTS and name not in self._texts:
                text, row = _first_text(column)
                self._texts[name] = text, part.place_of(row)
            if before in ("", kind) or name in self.others:
                continue
            if part.file.suffix == PARQUET or LISTS in (before, kind):
                self._faults.append(
                    f"Column {name!r} must hold the same in all files, got {kind} in {part.file.path.name} and "
                    f"{before} before."
                )
                continue
            self.others[name] = self._texts.get(name, ("", ""))

    @property
    def texts(self) -> frozenset[str]:
        """The columns that must be read as they are written."""
        return frozenset(self.others)

    def refuse_unless_text(self) -> None:
        """Refuse columns whose types differ where files have types."""
        if self._faults:
            raise TableError(_listed(self._faults))


def kind_of(column: pd.Series) -> str:
    """Return what a column holds, in a word; empty if it holds nothing."""
    if column.isna().all():
        return ""
    if is_numeric(column):
        return NUMBERS
    if is_flag(column):
        return YES_OR_NO
    if pd.api.types.is_datetime64_any_dtype(column):
        return DATES
    if pd.api.types.is_timedelta64_dtype(column):
        return DURATIONS
    if column.dtype == object and column.dropna().map(pd.api.types.is_list_like).any():
        return LISTS
    return TEXTS


def _first_text(column: pd.Series) -> tuple[str, int]:
    """Return the first value of a column of texts that is no plain number, and its row."""
    strange = pd.to_numeric(column, errors="coerce").isna().to_numpy() & column.notna().to_numpy()
    row = int(np.argmax(strange)) if strange.any() else 0
    return str(column.iloc[row]), row


def _unlike(files: Sequence[FileInParts], target: str | None) -> list[str]:
    """Return in what files differ from the first: the columns, their types, and whether there is the target."""
    first = files[0]
    known, faults = set(bare_names(first.names)), []
    kinds = {name: kind_of(column) for name, column in _named_head(first).items()}
    if target is not None and not any(target in bare_names(file.names) for file in files):
        check_has_column(_named_head(first), target)
    for file in files:
        own, name = set(bare_names(file.names)), file.path.name
        if target is not None and target not in own:
            faults.append(f"{name} has no column {target!r}, the target.")
        missing, more = (sorted(part - {target}) for part in (known - own, own - known))
        if missing or more:
            said = [f"has no column {', '.join(map(repr, missing))}"] if missing else []
            said += [f"has {', '.join(map(repr, more))} besides"] if more else []
            faults.append(f"{name} {' and '.join(said)}, unlike {first.path.name}.")
        elif file.suffix == PARQUET:
            for column, values in _named_head(file).items():
                kind, before = kind_of(values), kinds.get(column, "")
                if kind and before and kind != before:
                    faults.append(f"{name} has {kind} in {column!r}, {first.path.name} has {before}.")
    return faults


def _named_head(file: FileInParts) -> pd.DataFrame:
    return file.head.set_axis(bare_names(file.names), axis=1)


def _listed(faults: Sequence[str]) -> str:
    """Return all that is wrong as one text."""
    if len(faults) == 1:
        return faults[0]
    more = [f"and {len(faults) - MOST_FAULTS} more"] if len(faults) > MOST_FAULTS else []
    return f"files must be one table, got {len(faults)} faults: " + " ".join([*faults[:MOST_FAULTS], *more])


MIXED = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
"""The constants of SplitMix64 (Steele, Lea and Flood, 2014)."""


def row_hashes(part: TablePart, n_rows: int, seed: int) -> Array:
    """Return a number from 0 to 2^64 for each row, from the name of its file, its place there and a seed alone."""
    digest = hashlib.blake2b(f"{seed} {part.name}".encode(), digest_size=8).digest()
    rows = np.arange(part.first_row + 1, part.first_row + n_rows + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return mixed(rows * MIXED[0] + np.frombuffer(digest, dtype=np.uint64)[0])


def mixed(state: Array) -> Array:
    """Return numbers of 64 bits whose every bit depends on all bits of the given ones."""
    with np.errstate(over="ignore"):
        state = (state ^ (state >> np.uint64(30))) * MIXED[1]
        state = (state ^ (state >> np.uint64(27))) * MIXED[2]
        return np.asarray(state ^ (state >> np.uint64(31)))
