"""What looks wrong in a table: columns that say nothing, repeat or follow from others, gaps written as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd

from pellucid.app.tables.understanding import Columns, is_numeric
from pellucid.core.types import Array

MOSTLY = 0.5
"""Share of gaps above which a column says little."""
NEARLY_ALL = 0.99
"""Share of rows with the same value above which a column says little."""
FEWEST_ROWS = 20
"""Below, repeated values and far ones are no news."""
SAID_AS_GAP = {*(float("9" * k) for k in range(2, 8)), *(-float("9" * k) for k in range(1, 8)), -1.0, 0.0}
"""Numbers that people write where they have none."""
LEAST_REPEATED = 3
FAR = 3.0
"""How far such a number is from all others, in units of the distance between their quartiles."""
MANY_DIFFERENT, NEAR, CROWD, LEAST_SHARE = 40, 11, 5.0, 0.01
"""Of numbers with so many different values, one at an end that has so many times the rows of each of those near it, and
this share of all, was cut off."""
N_FIRST = 100
"""Rows by which most columns are told apart."""
MOST_COMPARED, MOST_DIFFERENT, LEAST_ROWS = 30, 50, 5
"""Columns, and different values of each, of which it is asked whether one follows from another; rows for each value, on
average, that make it no accident."""


@dataclass(frozen=True)
class Suspicion:
    """Columns, and in a sentence what is odd about them."""

    columns: tuple[str, ...]
    sentence: str


def suspicions_of(table: pd.DataFrame, read: pd.DataFrame, columns: Columns) -> Iterator[Suspicion]:
    """Yield what a person should look at before using the table, column by column, then pairs of columns."""
    for name, reason in columns.left_out.items():
        yield Suspicion((name,), f"{name} would be left out by a model: {reason}.")
    for name in columns.kinds:
        yield from _alone(name, table[name], read)
    yield from _the_same(table, columns)
    yield from _following(table[list(columns.kinds)])


def _alone(name: str, column: pd.Series, read: pd.DataFrame) -> Iterator[Suspicion]:
    """Yield what is odd about one column."""
    n = len(column)
    share = float((read[name] if name in read and is_numeric(read[name]) else column).isna().mean())
    if share > MOSTLY:
        yield Suspicion((name,), f"{name} is empty in {100 * share:.0f} % of the rows.")
    if n < FEWEST_ROWS:
        return
    counts = column.value_counts()
    if len(counts) > 1 and counts.iloc[0] > NEARLY_ALL * n:
        yield Suspicion((name,), f"{name} is {counts.index[0]} in all rows but {n - int(counts.iloc[0]):,}.")
    if name in read and is_numeric(read[name]):
        different, counts = np.unique(read[name].dropna().to_numpy(dtype=np.float64), return_counts=True)
        gaps = dict(_written_gaps(different, counts))
        for value, count in gaps.items():
            rest = "and far from that in all others: is it a gap, written as a number?"
            yield Suspicion((name,), f"{name} is {value:,.15g} in {count:,} rows {rest}")
        for value, count, end in _cut_off(different, counts):
            if value not in gaps:
                rest = f"rows, its {end} value, and others near it are rare: was it cut off there?"
                yield Suspicion((name,), f"{name} is {value:,.15g} in {count:,} {rest}")


def _written_gaps(different: Array, counts: Array) -> Iterator[tuple[float, int]]:
    """Yield numbers at either end that stand for a gap, as it seems, and how often they occur."""
    if len(different) <= LEAST_REPEATED:
        return
    for end, beside in ((0, 1), (-1, -2)):
        value, count = float(different[end]), int(counts[end])
        if value not in SAID_AS_GAP or count < LEAST_REPEATED:
            continue
        others = np.delete(np.repeat(different, counts), slice(count) if end == 0 else slice(-count, None))
        lower, upper = np.quantile(others, (0.25, 0.75))
        if abs(float(different[beside]) - value) > FAR * (upper - lower) > 0.0:
            yield value, count


def _cut_off(different: Array, counts: Array) -> Iterator[tuple[float, int, str]]:
    """Yield numbers at either end that many rows have, though few have one near it; a 0 is nothing to wonder about."""
    if len(different) < MANY_DIFFERENT:
        return
    for end, beside, word in ((0, counts[1:NEAR], "smallest"), (-1, counts[-NEAR:-1], "largest")):
        value, count = float(different[end]), int(counts[end])
        if value != 0.0 and count > max(CROWD * float(beside.max()), LEAST_SHARE * float(counts.sum()), LEAST_REPEATED):
            yield value, count, word


def _the_same(table: pd.DataFrame, columns: Columns) -> Iterator[Suspicion]:
    """Yield pairs of columns with the same values in every row."""
    alike = [list(columns.kinds)]
    for n_rows in (N_FIRST, len(table)):  # columns that differ in their first rows are not written out whole
        alike = [found for names in alike if len(names) > 1 for found in _groups(table.iloc[:n_rows], names)]
    for names in alike:
        for first, second in combinations(names, 2):
            yield Suspicion((first, second), f"{first} and {second} are the same in every row.")


def _groups(table: pd.DataFrame, names: list[str]) -> list[list[str]]:
    """Return names of columns in groups with the same values."""
    by_values: dict[bytes, list[str]] = {}
    for name in names:
        hashes = pd.util.hash_array(table[name].astype(str).to_numpy(dtype=object))
        by_values.setdefault(hashes.tobytes(), []).append(name)
    return list(by_values.values())


def _following(table: pd.DataFrame) -> Iterator[Suspicion]:
    """Yield pairs of columns with few values each of which one decides the other."""
    codes: dict[str, Array] = {}
    for name in table.columns:
        found, different = pd.factorize(table[name])
        if 2 < len(different) <= min(MOST_DIFFERENT, len(table) // LEAST_ROWS) and len(codes) < MOST_COMPARED:
            codes[name] = found.astype(np.int64)
    for first, second in combinations(codes, 2):
        known = (codes[first] >= 0) & (codes[second] >= 0)
        one, other = codes[first][known], codes[second][known]
        n_pairs = len(np.unique(one * MOST_DIFFERENT + other))
        follows = [n_pairs == len(np.unique(values)) > 2 for values in (one, other)]
        if all(follows):
            if not (table[first].astype(str) == table[second].astype(str)).all():
                sentence = f"{first} and {second} are two names for the same: each value of one has one of the other."
                yield Suspicion((first, second), sentence)
        elif any(follows):
            cause, effect = (first, second) if follows[0] else (second, first)
            sentence = f"{effect} follows from {cause}: rows with the same {cause} have the same {effect}."
            yield Suspicion((cause, effect), sentence)
