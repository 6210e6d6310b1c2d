"""From a table to what there is to say about it: one pass from top to bottom, and one result for screen and page."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from pellucid.app.describing.suspicions import Suspicion, suspicions_of
from pellucid.app.table_model.seen_table import Drift, SeenTable, find_drift
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.dates import DATES, read_dates
from pellucid.app.tables.reading import as_frame, notes_of
from pellucid.app.tables.understanding import NUMBER, TEXT, WORDS, Columns, all_columns, is_numeric
from pellucid.core.random_state import some_rows
from pellucid.core.short_html import short_html
from pellucid.core.types import Array

MOST_ROWS = 20_000
"""Rows that correlations are taken over: their intervals are narrow then."""
MOST_NUMBERS = 40
"""Columns whose pairs are looked at: 780 pairs."""
FEWEST_PAIRED = 10
"""Rows in which both columns of a pair must have a value."""
CONFIDENCE = 0.95
FAR_OUT = 3.0
"""Distance beyond the quartiles, in units of the distance between them, of a value that is far out (Tukey)."""
FEWEST_FOR_DRIFT = 60


@dataclass(frozen=True)
class ColumnFacts:
    """One column: what it is taken for, its gaps, its values."""

    name: str
    """What the column is called."""
    kind: str
    """How it is read; of a column that a model would leave out, how it would be read."""
    left_out: str
    """Why a model would leave it out, if it would."""
    n_gaps: int
    """Rows without a value; an infinite number and a word that says so are gaps, too."""
    n_different: int
    """How many different values there are, empty cells aside."""
    quartiles: tuple[float, float, float, float, float] | None = None
    """Of numbers: smallest, lower quartile, median, upper quartile, largest."""
    mean: float = math.nan
    """Of numbers, durations in seconds; of yes and no the share of yes; NaN for all else."""
    deviation: float = math.nan
    """Standard deviation of the same, with n - 1 below; 0 for a single value."""
    n_far: int = 0
    """Numbers that are far out."""


@dataclass(frozen=True)
class Together:
    """Two columns with the rank correlation of their values, and an interval for it."""

    first: str
    """The name of one column."""
    second: str
    """The name of the other, which stands further right in the table."""
    correlation: float
    """Spearman's rank correlation, from -1 to 1."""
    low: float
    """Lower end of an interval that is wide enough for all pairs at once, at 95 %."""
    high: float
    """Upper end of the interval."""
    n_rows: int
    """Rows in which both columns have a value, of at most 20,000 that are looked at."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes that they have nothing to do with each other."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class DescribedTable:
    """What there is to say about a table."""

    table: pd.DataFrame
    """As it was given, as a data frame of pandas."""
    columns: Columns
    """How a model would read the columns, and which it would leave out."""
    facts: tuple[ColumnFacts, ...]
    """One for each column, in the order of the table."""
    n_repeated: int
    """Rows that repeat an earlier one in every column."""
    n_whole: int
    """Rows without a gap."""
    together: tuple[Together, ...]
    """All pairs of numbers, dates, and yes or no, the closest first."""
    n_paired: int
    """Columns whose pairs were looked at."""
    in_time: str
    """The column of dates that the rows were put in order by; empty for the order of the table."""
    drift: tuple[Drift, ...]
    """The second half of the rows beside the first, column by column, the most changed first."""
    suspicions: tuple[Suspicion, ...]
    """What a person should look at before the table is used, column by column, then pairs of columns."""
    notes: tuple[str, ...]
    """How the table was read, as far as that was unusual."""
    seconds: float
    """How long all of it took."""

    @property
    def gaps(self) -> float:
        """Share of all cells that are empty."""
        return sum(one.n_gaps for one in self.facts) / max(1, self.table.size)

    @property
    def changed(self) -> tuple[Drift, ...]:
        """The columns that changed from the first half of the rows to the second."""
        return tuple(one for one in self.drift if one.is_drifted)

    def __str__(self) -> str:
        return (
            f"{len(self.table):,} rows, {len(self.facts)} columns, {100 * self.gaps:.1f} % gaps, {self.n_repeated:,} "
            f"repeated rows, {len(self.suspicions)} things to look at"
        )

    def _repr_html_(self) -> str:
        rows = []
        for one in self.facts:
            gaps = f"{100 * one.n_gaps / len(self.table):.1f} %" if one.n_gaps else ""
            ends = "" if one.quartiles is None else " to ".join(f"{one.quartiles[k]:.4g}" for k in (0, -1))
            rows.append((one.name, "left out" if one.left_out else one.kind, gaps, f"{one.n_different:,}", ends))
        return short_html(
            str(self),
            [one.sentence for one in self.suspicions],
            head=("Column", "Taken as", "Gaps", "Different", "Range"),
            rows=rows,
            folded={"How it was read": self.notes},
        )


def describe_table(frame: Any, *, coerce: bool = True) -> DescribedTable:
    """Return what is in a table: no target is needed, and nothing is learned.

    Parameters
    ----------
    frame : DataFrame of pandas or polars
        One row per example; numbers, words, dates, texts and gaps as they are.
    coerce : bool, default=True
        Whether prices, dates, yes and no are read into texts.

    Examples
    --------
    >>> from pellucid.data import load_diabetes
    >>> found = describe_table(load_diabetes())
    >>> print(found)
    442 rows, 11 columns, 0.0 % gaps, 0 repeated rows, 0 things to look at
    >>> closest = found.together[0]
    >>> closest.first, closest.second, round(closest.correlation, 2)
    ('total_cholesterol', 'ldl', 0.88)
    """
    start = time.monotonic()
    table = as_frame(frame)
    columns = all_columns(table, coerce=coerce)
    kinds = {name: columns.kinds.get(name) or _plain_kind(table[name]) for name in table.columns}
    of_lists = [name for name in table.columns if table[name].map(pd.api.types.is_list_like).any()]
    kinds = {name: kind for name, kind in kinds.items() if name not in of_lists}
    read = ColumnReader(kinds).fit_transform(table) if kinds else pd.DataFrame(index=table.index)
    gaps = {name: gaps_of(table[name], read, kinds.get(name, TEXT)) for name in table.columns}
    facts = tuple(_facts(table[name], read, kinds.get(name, TEXT), columns, gaps[name]) for name in table.columns)
    numbers = _numbers(table, read, columns)
    together = _all_together(numbers)
    in_time, order = _order(table, columns)
    halves = read.iloc[order][[name for name in read.columns if name in columns.kinds]]
    hashable = table.drop(columns=of_lists)
    return DescribedTable(
        table,
        columns,
        facts,
        n_repeated=int(hashable.duplicated().sum()),
        n_whole=int((~np.any(list(gaps.values()), axis=0)).sum()),
        together=together,
        n_paired=len(numbers.columns),
        in_time=in_time,
        drift=_drift(halves),
        suspicions=tuple(suspicions_of(hashable, read, columns)),
        notes=(*notes_of(frame if isinstance(frame, pd.DataFrame) else table), *columns.notes()),
        seconds=time.monotonic() - start,
    )


def _plain_kind(column: pd.Series) -> str:
    return NUMBER if is_numeric(column) else WORDS


def gaps_of(column: pd.Series, read: pd.DataFrame, kind: str) -> Array:
    """Return where a column is empty as it is read: an infinite number, or a word that says so, is a gap."""
    return np.asarray((read[column.name] if column.name in read and kind != TEXT else column).isna())


def _facts(column: pd.Series, read: pd.DataFrame, kind: str, columns: Columns, gaps: Array) -> ColumnFacts:
    name, n_gaps = str(column.name), int(gaps.sum())
    known = ColumnFacts(name, kind, columns.left_out.get(name, ""), n_gaps, _n_different(column))
    if name not in read or not is_numeric(read[name]) or n_gaps == len(column):
        return known
    values = read[name].dropna().to_numpy(dtype=np.float64)
    low, lower, median, upper, high = (float(value) for value in np.quantile(values, (0.0, 0.25, 0.5, 0.75, 1.0)))
    room = FAR_OUT * (upper - lower)
    n_far = int(np.sum((values < lower - room) | (values > upper + room))) if room > 0.0 else 0
    with np.errstate(over="ignore"):  # squares of huge numbers: their deviation is infinite
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return replace(
        known,
        quartiles=(low, lower, median, upper, high),
        mean=float(values.mean()),
        deviation=deviation,
        n_far=n_far,
    )


def _n_different(column: pd.Series) -> int:
    try:
        return int(column.nunique())
    except TypeError:  # lists
        return int(column.dropna().astype(str).nunique())


def _numbers(table: pd.DataFrame, read: pd.DataFrame, columns: Columns) -> pd.DataFrame:
    """Return the columns whose order means something, dates as days, in some of the rows."""
    rows = some_rows(len(table), MOST_ROWS)
    found: dict[str, Array] = {}
    for name, kind in columns.kinds.items():
        source = f"{name} days" if kind in DATES else name
        if len(found) < MOST_NUMBERS and source in read and is_numeric(read[source]):
            found[name] = read[source].to_numpy(dtype=np.float64)[rows]
    return pd.DataFrame(found)


def _all_together(numbers: pd.DataFrame) -> tuple[Together, ...]:
    """Return the rank correlation of every pair, with intervals that hold for all pairs at once (Bonferroni).

    Each is Fisher's with the variance of rank correlations of Bonett and Wright (2000), (1 + r^2/2) / (n - 3).
    """
    pairs = list(combinations(numbers.columns, 2))
    sure = float(ndtri(1.0 - (1.0 - CONFIDENCE) / 2.0 / max(1, len(pairs))))
    values = {name: numbers[name].to_numpy() for name in numbers.columns}
    present = {name: ~np.isnan(column) for name, column in values.items()}
    ranks = {name: _ranks(values[name]) for name in numbers.columns if present[name].all()}
    found = []
    for first, second in pairs:
        both = present[first] & present[second]
        n = int(both.sum())
        if n < FEWEST_PAIRED:
            continue
        one, other = (ranks[name] if name in ranks and n == len(both) else _ranks(values[name][both])
                      for name in (first, second))  # fmt: skip
        r = float(np.clip(np.einsum("i,i", one, other), -1.0, 1.0))  # hundreds of them: BLAS would wake its threads
        middle = math.atanh(min(max(r, -1.0 + 1e-12), 1.0 - 1e-12))
        room = sure * math.sqrt((1.0 + r * r / 2.0) / (n - 3))
        if one.any() and other.any():  # a column that never changes goes with none
            found.append(Together(first, second, r, math.tanh(middle - room), math.tanh(middle + room), n))
    return tuple(sorted(found, key=lambda one: -abs(one.correlation)))


def _ranks(values: Array) -> Array:
    """Return ranks about their mean, of length 1, or all 0 where all values are the same."""
    ranks = rankdata(values)
    ranks -= ranks.mean()
    return ranks / (float(np.linalg.norm(ranks)) or 1.0)


def _order(table: pd.DataFrame, columns: Columns) -> tuple[str, Array]:
    """Return the column of dates with the fewest gaps, if there is one, and the rows in its order."""
    dates = {name: read_dates(table[name], kind) for name, kind in columns.kinds.items() if kind in DATES}
    if not dates:
        return "", np.arange(len(table))
    name = min(dates, key=lambda one: int(dates[one].isna().sum()))
    order = np.argsort(dates[name].to_numpy(), kind="stable")
    return name, order[: int(dates[name].notna().sum())]  # without a date, a row has no place


def _drift(rows: pd.DataFrame) -> tuple[Drift, ...]:
    """Return the second half of the rows beside the first."""
    if len(rows) < FEWEST_FOR_DRIFT or rows.shape[1] == 0:
        return ()
    half = len(rows) // 2
    return tuple(find_drift(SeenTable.of(rows.iloc[:half]), rows.iloc[half:]))
