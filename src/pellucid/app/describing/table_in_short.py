"""The first thing that a report says of its table: size, kinds, gaps, repeated rows, what looks wrong. It is quick."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.app.describing.described_table import gaps_of
from pellucid.app.describing.suspicions import Suspicion, suspicions_of
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.dates import DATES
from pellucid.app.tables.understanding import FLAG, NUMBER, TEXT, WORD_KINDS, Columns
from pellucid.app.tables.written_numbers import DURATION, WITH_COMMA, WITH_POINT
from pellucid.core.random_state import some_rows

MOST_ROWS, MOST_COLUMNS, MOST_CELLS = 10_000, 300, 400_000
"""Looked at."""
MOST_HASHED = 5_000_000
"""Cells of a table in which repeated rows are looked for: a sample would miss most of them."""
IN_WORDS = {
    **dict.fromkeys((NUMBER, WITH_POINT, WITH_COMMA), "numbers"),
    **dict.fromkeys(WORD_KINDS, "words"),
    **dict.fromkeys(DATES, "dates"),
    DURATION: "durations",
    FLAG: "yes or no",
    TEXT: "text",
}


@dataclass(frozen=True)
class TableInShort:
    """A table in a few numbers, and what a person should look at."""

    n_rows: int
    """Rows of the whole table."""
    n_columns: int
    """Columns that are used."""
    kinds: dict[str, int]
    """How many columns hold numbers, words, dates and so on, the most frequent first."""
    gaps: float
    """Share of the cells looked at that are empty."""
    whole: float
    """Share of the rows looked at that have no gap."""
    n_repeated: int | None
    """Rows that repeat an earlier one; None if the table is too large to say."""
    n_looked_at: int
    """Rows looked at."""
    n_columns_looked_at: int
    """Of the columns used, those looked at: the first 300 at most."""
    suspicions: tuple[Suspicion, ...]
    """What a person should look at, in sentences with the columns that they are about."""


def table_in_short(frame: pd.DataFrame, columns: Columns) -> TableInShort:
    """Return what is to be known of a table before its columns are used, of those columns alone that are used.

    A target that is not among the columns is not looked at. Seconds are enough for any table: of a large one, some rows
    are looked at.

    Parameters
    ----------
    frame : DataFrame
        The whole table, of pandas.
    columns : Columns
        How the columns to look at are read, such as ``understand`` returns it.

    Examples
    --------
    >>> frame = pd.DataFrame({"a": [1.0, None, 3.0, 1.0], "y": [1, 2, 3, 4]})
    >>> found = table_in_short(frame, Columns({"a": "number"}, {}))
    >>> found.kinds, found.gaps, found.n_repeated
    ({'numbers': 1}, 0.25, 1)
    """
    used = frame[list(columns.kinds)]
    kinds = dict(list(columns.kinds.items())[:MOST_COLUMNS])
    rows = some_rows(len(frame), min(MOST_ROWS, MOST_CELLS // max(1, len(kinds))))
    table = used[list(kinds)].iloc[rows].reset_index(drop=True)
    read = ColumnReader(kinds).fit_transform(table)
    gaps = np.array([gaps_of(table[name], read, kind) for name, kind in kinds.items()])
    return TableInShort(
        n_rows=len(frame),
        n_columns=len(columns.kinds),
        kinds=dict(Counter(IN_WORDS[kind] for kind in columns.kinds.values()).most_common()),
        gaps=float(gaps.mean()),
        whole=float((~gaps.any(axis=0)).mean()),
        n_repeated=int(used.duplicated().sum()) if used.size <= MOST_HASHED else None,
        n_looked_at=len(rows),
        n_columns_looked_at=len(kinds),
        suspicions=tuple(suspicions_of(table, read, Columns(kinds, {}))),
    )
