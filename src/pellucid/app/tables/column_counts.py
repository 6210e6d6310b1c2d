"""What one pass over the parts of a table leaves of a column: enough to understand it as if all rows were in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.tables.dates import date_kind, looks_like_date
from pellucid.app.tables.distinct import Distinct, distinct
from pellucid.app.tables.understanding import (
    GAPS_IN_A_COUNT,
    ID_NAME,
    NEARLY_ALL,
    NUMBER,
    OF_LISTS,
    NumberFacts,
    as_written,
    doubt_about_infinite,
    doubt_about_texts,
    is_numeric,
    understand_numbers,
    understand_texts,
)
from pellucid.app.tables.written_numbers import written_kind
from pellucid.core.types import Array

MOST_TEXTS = 10_000
"""Different values of a column that are kept and counted, each; of further ones their number is estimated."""
SMALLEST_KEPT = 4096
"""Smallest hashes that tell how many different values there are: to 1.6 %, one standard error."""
FEW_TEXTS = 50
"""Of the texts kept, so many stand for all when it is asked whether others would be read otherwise."""
LETTERS_OF_A_DAY = 10


@dataclass
class DistinctEstimate:
    """How many different values there are, from the smallest of their hashes (Bar-Yossef et al., 2002).

    Exact up to ``SMALLEST_KEPT``.
    """

    hashes: Array = field(default_factory=lambda: np.empty(0, dtype=np.uint64))

    def add(self, values: Array) -> None:
        """Count values, those among them that came before once."""
        hashes = pd.util.hash_array(values, categorize=False).astype(np.uint64)
        if len(self.hashes) == SMALLEST_KEPT:
            hashes = hashes[hashes < self.hashes[-1]]
        if len(hashes):
            self.hashes = np.unique(np.concatenate([self.hashes, hashes]))[:SMALLEST_KEPT]

    @property
    def count(self) -> float:
        """The number of different values, about."""
        if len(self.hashes) < SMALLEST_KEPT:
            return float(len(self.hashes))
        return (SMALLEST_KEPT - 1) * 2.0**64 / float(self.hashes[-1])


@dataclass
class TextCounts:
    """A column of texts, or of anything that is no number: its different values, and how often each comes.

    Of a column with very many, those are kept that came first, and those that change how all of them are read: one word
    among a million dates is among them, wherever it stands.
    """

    like: pd.Series
    """A few values, of its type and name."""
    n_rows: int = 0
    texts: pd.Index = field(default_factory=lambda: pd.Index([], dtype=object))
    counts: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The texts kept, and how often each came; of those kept as witnesses, which come last, 0."""
    others: DistinctEstimate = field(default_factory=DistinctEstimate)
    n_other_rows: int = 0
    words_of_others: int = 0
    has_lists: bool = False

    def add_gaps(self, count: int) -> None:
        """Count rows without a value."""
        self.n_rows += count

    def add(self, column: pd.Series) -> None:
        """Count the values of one more part."""
        self.n_rows += len(column)
        is_object = column.dtype == object
        self.has_lists = self.has_lists or (is_object and column.dropna().map(pd.api.types.is_list_like).any())
        if self.has_lists:
            return
        if not len(self.like):
            self.like = column.dropna().iloc[:FEW_TEXTS]
        seen = distinct(column)
        texts = seen.texts.to_numpy(dtype=object)
        places = self.texts.get_indexer(texts)
        self.counts[places[places >= 0]] += seen.counts[places >= 0]
        new = np.flatnonzero(places < 0)
        kept, late = np.split(new, [max(0, MOST_TEXTS - len(self.texts))])
        self._keep(texts[kept], seen.counts[kept])
        if len(late):
            self._add_others(Distinct(seen.texts.iloc[late].reset_index(drop=True), seen.counts[late]))

    def _keep(self, texts: Array, counts: Array) -> None:
        if len(texts):
            self.texts = self.texts.append(pd.Index(texts, dtype=object))
            self.counts = np.concatenate([self.counts, counts])

    def _add_others(self, seen: Distinct) -> None:
        known = pd.Series([*self.texts[:FEW_TEXTS], *self.texts[MOST_TEXTS:]], dtype="str")
        usual = _reading(known)
        texts = _one_per_day(seen.texts) if usual[0] is not None else seen.texts
        while any(usual) and _reading(pd.concat([known, texts])) != usual:
            place = _first_that_changes(known, texts, usual)
            self._keep(np.array([texts[place]], dtype=object), np.zeros(1, dtype=np.int64))  # its rows are the others'
            known = pd.concat([known, texts[[place]]])
            usual = _reading(known)
        self.others.add(seen.texts.to_numpy(dtype=object))
        self.n_other_rows += seen.n_rows
        self.words_of_others += int(seen.texts.str.count(r"\S+") @ seen.counts)

    @property
    def n_gaps(self) -> int:
        """Rows without a value."""
        return self.n_rows - self.seen.n_rows

    @property
    def seen(self) -> Distinct:
        """The different values."""
        texts = pd.Series(self.texts, dtype="str")
        return Distinct(texts, self.counts, self.others.count, self.n_other_rows, self.words_of_others)

    def understood(self, *, coerce: bool) -> tuple[str, str, str]:
        """Return the reason to leave the column out, or nothing, its kind, and what could have been read otherwise."""
        if self.has_lists:
            return OF_LISTS, "", ""
        seen = self.seen
        reason, kind = understand_texts(self.like, seen, self.n_rows, coerce)
        is_text = self.like.dtype == object or isinstance(self.like.dtype, pd.StringDtype | pd.CategoricalDtype)
        return reason, kind, doubt_about_texts(seen.texts, kind) if kind and is_text else ""


@dataclass
class NumberCounts:
    """A column of numbers: gaps, range, mean, and whether they count the rows."""

    like: pd.Series
    n_rows: int = 0
    n_gaps: int = 0
    n_infinite: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: float = 0.0
    first: float = np.nan
    last: float = np.nan
    is_whole: bool = True
    rises: bool = True
    falls: bool = True
    way: float = 0.0
    """Sum of all steps from one number to the next, up or down."""
    texts: TextCounts | None = None
    """The same numbers as texts, if the first of them looks like a date."""
    different: DistinctEstimate | None = None
    """How many different ones there are, if the name is that of an id."""

    def add_gaps(self, count: int) -> None:
        """Count rows without a number."""
        self.n_rows += count
        self.n_gaps += count

    def add(self, column: pd.Series) -> None:
        """Count the numbers of one more part."""
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        present = values[np.isfinite(values)]
        n_gaps = int(np.isnan(values).sum())
        self.n_rows += len(values)
        self.n_gaps += n_gaps
        self.n_infinite += len(values) - len(present) - n_gaps
        if len(present):
            self._add_finite(column, present)

    def _add_finite(self, column: pd.Series, present: Array) -> None:
        if np.isnan(self.first):
            self.first = float(present[0])
            self.texts = TextCounts(column.iloc[:0]) if looks_like_date(as_written(self.first)) else None
            self.different = DistinctEstimate() if ID_NAME.search(str(column.name)) else None
        self.low, self.high = min(self.low, float(present.min())), max(self.high, float(present.max()))
        self.total += float(present.sum())
        self.is_whole = self.is_whole and bool((present == np.round(present)).all())
        if self.rises or self.falls:
            steps = np.diff(present) if np.isnan(self.last) else np.diff(present, prepend=self.last)
            self.rises, self.falls = self.rises and bool((steps > 0).all()), self.falls and bool((steps < 0).all())
            self.way += float(np.abs(steps).sum())
        self.last = float(present[-1])
        if self.texts is not None:
            self.texts.add(column)
        if self.different is not None:
            self.different.add(present)

    @property
    def n_present(self) -> int:
        """Rows with a finite number."""
        return self.n_rows - self.n_gaps - self.n_infinite

    @property
    def mean(self) -> float:
        """Of the finite numbers."""
        return self.total / self.n_present if self.n_present else np.nan

    def understood(self, *, coerce: bool) -> tuple[str, str, str]:
        """Return the reason to leave the column out, or nothing, its kind, and what could have been read otherwise."""
        one_way = (self.rises or self.falls) and self.n_present > 1
        facts = NumberFacts(
            self.n_rows,
            self.n_gaps,
            self.n_infinite,
            self.low,
            self.high,
            self.first,
            self.is_whole,
            one_way and self.n_present == self.n_rows and self.way / (self.n_present - 1) <= GAPS_IN_A_COUNT,
            lambda: one_way or (self.different is not None and self.different.count >= NEARLY_ALL * self.n_rows),
        )
        texts = self.texts or TextCounts(self.like)
        reason, kind = understand_numbers(self.like, facts, lambda: texts.seen, coerce)
        return reason, kind, doubt_about_infinite(self.n_infinite) if kind == NUMBER else ""


@dataclass
class MomentCounts:
    """A column whose type says that it holds dates, or durations."""

    like: pd.Series
    n_rows: int = 0
    n_gaps: int = 0
    low: Any = None
    high: Any = None

    def add_gaps(self, count: int) -> None:
        """Count rows without a value."""
        self.n_rows += count
        self.n_gaps += count

    def add(self, column: pd.Series) -> None:
        """Count the values of one more part."""
        self.n_rows += len(column)
        self.n_gaps += int(column.isna().sum())
        low, high = column.min(), column.max()
        self.low = low if self.low is None else min(self.low, low)
        self.high = high if self.high is None else max(self.high, high)

    def understood(self, *, coerce: bool) -> tuple[str, str, str]:
        """Return the reason to leave the column out, or nothing and its kind."""
        different = [] if self.low is None else list(dict.fromkeys([self.low, self.high]))
        values = pd.Series(different, dtype=self.like.dtype, name=self.like.name)
        counts = np.ones(len(different), dtype=np.int64)
        counts[:1] += self.n_rows - self.n_gaps - len(different)
        reason, kind = understand_texts(values, Distinct(values.astype(str), counts), self.n_rows, coerce)
        return reason, kind, ""


ColumnCounts = NumberCounts | TextCounts | MomentCounts


def counts_for(column: pd.Series) -> ColumnCounts:
    """Return what counts a column like this one, nothing counted yet."""
    if is_numeric(column):
        return NumberCounts(column.iloc[:0])
    is_typed = pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_timedelta64_dtype(column)
    return MomentCounts(column.iloc[:0]) if is_typed else TextCounts(column.iloc[:0])


def _reading(texts: pd.Series) -> tuple[str | None, str | None]:
    """Return as what dates and as what numbers texts can be read, all of them."""
    first = str(texts.iloc[0]) if len(texts) else ""
    numbers = written_kind(Distinct(texts.reset_index(drop=True), np.ones(len(texts), dtype=np.int64)))
    return date_kind(texts) if looks_like_date(first) else None, numbers


def _one_per_day(texts: pd.Series) -> pd.Series:
    """Return dates with one time of each day only: how days are written tells the kind, and reading takes long."""
    days = texts.str[:LETTERS_OF_A_DAY] + texts.str[LETTERS_OF_A_DAY:].str.replace(r"\d", "0", regex=True)
    return texts[~days.duplicated()].reset_index(drop=True)


def _first_that_changes(known: pd.Series, texts: pd.Series, usual: tuple[str | None, str | None]) -> int:
    """Return the place of the first text with which all before it are read otherwise, by halving."""
    low, high = 0, len(texts)
    while high - low > 1:
        middle = (low + high) // 2
        changes = _reading(pd.concat([known, texts[:middle]])) != usual
        low, high = (low, middle) if changes else (middle, high)
    return low
