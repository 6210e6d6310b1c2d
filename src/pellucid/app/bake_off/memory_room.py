"""Memory: which methods fit into what the user gives, with how many rows, and what may be kept prepared.

What a fit takes was measured (peak of the process, 40,000 rows of 20 numbers): four to five copies of the prepared
matrix where that is as wide as the table, two where it is much wider, eight for the inner folds of the lasso; a forest
10 kB per row while it grows and 5 kB as it is kept; kernel ridge two matrices of all pairs of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.app.bake_off.contestants import Contestant, curved
from pellucid.app.tables.preparation import (
    FEWEST_STEPS,
    MOST_STEP_COLUMNS,
    MOST_STEPS,
    coded,
    is_sparse,
    prepared_width,
    stepped,
    unchanged,
)
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.table_room import LOADED_LATER, TABLE_COPIES, memory_limit
from pellucid.app.tables.understanding import TEXT, Columns
from pellucid.core.budget import memory_in_use
from pellucid.core.types import Array

DRAWN_SHARE = 1.0 / 12.0
"""Of the room, that rows drawn from a table larger than memory may take: their copies take a third of it."""
FOLDS_SHARE = 0.2
"""Of the room, that splits kept prepared may take."""
FIT_SHARE = 0.7
"""Of the room, that the largest fit may take: a proof, or a second model, comes beside it."""
NUMBER, SPARSE_NUMBER = 8.0, 12.0
TERMS = 50.0
"""Words of a text that count, about."""
PREPARED_COPIES, READ_COPIES, INNER_FOLD_COPIES = 2.5, 2.5, 3.5
TREES = 100
NODE_BYTES, NODE_BYTES_PER_CLASS = 150.0, 8.0
"""Per row and tree of a forest that grows while another is kept."""
PAIRS = {"KernelRidge": 2.1, "SVC": 0.5, "SVR": 0.8}
"""Matrices of all pairs of rows that a method keeps."""
MOST_CACHE = 5e8
"""A machine of support vectors keeps the products of some rows only."""
FEWEST_ROWS = 1000
MEGABYTE = 1e6


@dataclass(frozen=True)
class MemoryRoom:
    """The bytes that fits and prepared splits may take beside what is in memory already."""

    room: float

    @property
    def most_kept_numbers(self) -> float:
        """Numbers of prepared splits that may be kept."""
        return FOLDS_SHARE * self.room / NUMBER

    def rows_for(self, contestant: Contestant, columns: Columns, read: pd.DataFrame, y: Array) -> int:
        """Return the most rows of a table, as read, that a method can be fitted to."""
        n_classes = 0 if y.dtype.kind == "f" else len(np.unique(y))

        def fits(n_rows: float) -> bool:
            return _needed(contestant, columns, read, n_rows, n_classes) <= FIT_SHARE * self.room

        low, high = 0, len(read)
        if fits(high):
            return high
        while high - low > 1:  # what is needed only grows with the rows
            middle = (low + high) // 2
            low, high = (middle, high) if fits(middle) else (low, middle)
        return low

    def divide(
        self, contestants: Sequence[Contestant], columns: Columns, read: pd.DataFrame, y: Array
    ) -> tuple[list[Contestant], list[tuple[str, str]], int]:
        """Return the methods that fit with every row, why others do not, and the rows to learn from.

        If none fits with every row, those stay that fit with the most rows.
        """
        rows = {one.name: self.rows_for(one, columns, read, y) for one in contestants}
        most = max((rows[one.name] for one in contestants if not one.is_baseline), default=len(read))
        if most < FEWEST_ROWS and most < len(read):
            raise TableError(
                f"memory must suffice to fit a method to {FEWEST_ROWS:,} rows, but what is left does not. Give more."
            )
        kept = [one for one in contestants if one.is_baseline or rows[one.name] >= most]
        left_out = [
            (one.name, f"with {most:,} rows it would take more memory than was given")
            for one in contestants
            if one not in kept
        ]
        return kept, left_out, most


def drawn_bytes(memory: float | None) -> float:
    """Return the bytes that rows drawn from a larger table may take, so that there is room for copies and fits."""
    taken = memory_in_use() + LOADED_LATER
    if memory_limit(memory) <= taken:
        raise TableError(
            f"memory must be more than the {taken / MEGABYTE:,.0f} MB that the program takes, got "
            f"{memory_limit(memory) / MEGABYTE:,.0f} MB. Give more."
        )
    return DRAWN_SHARE * (memory_limit(memory) - taken)


def room_within(memory: float | None, frame: pd.DataFrame) -> MemoryRoom:
    """Return the room that a memory limit in bytes leaves, the usual one if none is given; refuse one that has none."""
    limit = memory_limit(memory)
    table = float(frame.memory_usage(index=True, deep=False).sum())
    taken = memory_in_use() + LOADED_LATER + TABLE_COPIES * table
    if memory is not None and limit <= taken:
        raise TableError(
            f"memory must be more than the {taken / MEGABYTE:,.0f} MB that the program and the table take, got "
            f"{memory / MEGABYTE:,.0f} MB. Give more."
        )
    return MemoryRoom(limit - taken if memory is not None else max(limit - taken, LOADED_LATER))


def _needed(contestant: Contestant, columns: Columns, read: pd.DataFrame, n_rows: float, n_classes: int) -> float:
    """Return about how many bytes a fit to so many rows takes at its peak."""
    n_columns = float(read.shape[1])
    bytes_per_row = PREPARED_COPIES * _prepared_bytes(contestant, columns, read) + READ_COPIES * NUMBER * n_columns
    name = type(contestant.make()).__name__
    if name.startswith("LassoCV"):
        bytes_per_row += INNER_FOLD_COPIES * NUMBER * n_columns
    if name.startswith("RandomForest"):
        bytes_per_row += TREES * (NODE_BYTES + NODE_BYTES_PER_CLASS * n_classes)
    pairs = PAIRS.get(name, 0.0) * NUMBER * n_rows**2
    return bytes_per_row * n_rows + (pairs if name == "KernelRidge" else min(pairs, MOST_CACHE))


def _prepared_bytes(contestant: Contestant, columns: Columns, read: pd.DataFrame) -> float:
    """Return the bytes of a row as a method takes it."""
    n_columns, n_texts = float(read.shape[1]), len(columns.of(TEXT))
    if contestant.prepare in (coded, unchanged):
        return NUMBER * (n_columns + TERMS * n_texts)
    width = float(prepared_width(columns, read))
    if contestant.prepare is stepped:
        n_numbers = max(1, sum(pd.api.types.is_float_dtype(kind) for kind in read.dtypes))
        width += n_numbers * max(FEWEST_STEPS, min(MOST_STEPS, MOST_STEP_COLUMNS // n_numbers))
    if contestant.prepare is curved:
        width = width * (width + 3.0) / 2.0
    if is_sparse(columns, read):
        steps = MOST_STEPS if contestant.prepare is stepped else 1.0
        return SPARSE_NUMBER * (steps * n_columns + TERMS * n_texts)
    return NUMBER * width
