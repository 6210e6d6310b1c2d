"""Small pictures of the columns: how their values spread, and which go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.stats import rankdata

from pellucid.bake_off import BakeOffResult
from pellucid.core.types import Array
from pellucid.tables.dates import DATES, read_dates
from pellucid.tables.understanding import is_flag, is_numeric, numbers_if_written

WIDTH, HEIGHT = 120, 28
N_BINS, MOST_BARS = 20, 10
CENTRAL = (0.005, 0.995)
"""Quantiles between which a histogram is drawn, the rest in its outermost bars: a few far values would squeeze it."""
MOST_ROWS = 20_000
MOST_COLUMNS = 9
"""Of the table of correlations."""
MOST_PAIRS = 5
STRONG = 0.7
"""Rank correlation of two columns that say much the same."""


@dataclass(frozen=True)
class Pair:
    """Two columns and the rank correlation of their values."""

    first: str
    second: str
    correlation: float


@dataclass(frozen=True)
class Correlations:
    """Rank correlations of the columns of numbers that matter the most, the target first if it is one of them."""

    names: list[str]
    values: Array
    strong: list[Pair]


def histogram(column: pd.Series, kind: str) -> Markup:
    """Return how the values of a column spread, as a picture without words; empty where there is nothing to see."""
    present = column.dropna()
    if len(present) > MOST_ROWS:
        present = present.iloc[np.linspace(0, len(present) - 1, MOST_ROWS).astype(int)]
    if present.empty or kind == "text":
        return Markup("")
    numbers = _numbers(present, kind)
    if numbers is not None and not len(numbers):
        return Markup("")
    if numbers is not None and len(np.unique(numbers)) > MOST_BARS:
        low, high = np.quantile(numbers, CENTRAL)
        if not high > low:
            low, high = numbers.min(), numbers.max()
        counts = np.histogram(np.clip(numbers, low, high), bins=N_BINS, range=(low, high))[0]
    elif numbers is not None:
        counts = np.unique(numbers, return_counts=True)[1]
    else:
        counts = present.astype(str).value_counts().to_numpy()[:MOST_BARS]
    return _bars(counts)


def correlations(result: BakeOffResult) -> Correlations | None:
    """Return the rank correlations of the columns of numbers, at most nine of them; None if there are less than two."""
    table = result.table
    if len(table) > MOST_ROWS:
        table = table.iloc[np.linspace(0, len(table) - 1, MOST_ROWS).astype(int)]
    numbers: dict[str, Array] = {}
    names = [result.target.name, *_by_importance(result)]
    for name in names:
        if name not in table or len(numbers) > MOST_COLUMNS or (name == result.target.name and _is_class(result)):
            continue
        read = numbers_if_written(table[name])
        if is_numeric(read) and result.columns.kinds.get(name, "number") not in DATES and read.nunique() > 1:
            values = read.to_numpy(dtype=np.float64, na_value=np.nan)
            numbers[name] = _ranked(np.where(np.isinf(values), np.nan, values))
    if len(numbers) < 2:
        return None
    values = np.corrcoef(np.array(list(numbers.values())))
    shown = list(numbers)
    pairs = [
        Pair(shown[i], shown[j], float(values[i, j]))
        for i in range(len(shown))
        for j in range(i + 1, len(shown))
        if shown[i] != result.target.name and abs(values[i, j]) >= STRONG
    ]
    return Correlations(shown, values, sorted(pairs, key=lambda pair: -abs(pair.correlation))[:MOST_PAIRS])


def _is_class(result: BakeOffResult) -> bool:
    """Return whether the target is classes without an order; two of them may be taken for 0 and 1."""
    return result.target.is_classification


def _by_importance(result: BakeOffResult) -> list[str]:
    if isinstance(result.importances, str):
        return list(result.columns.kinds)
    known = [one.column for one in result.importances if one.column in result.columns.kinds]
    return [*known, *(name for name in result.columns.kinds if name not in known)]


def _ranked(values: Array) -> Array:
    """Return the ranks of numbers, gaps in the middle."""
    present = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ranks[present] = rankdata(values[present])
    return np.where(present, ranks, np.nanmean(ranks))


def _numbers(present: pd.Series, kind: str) -> Array | None:
    if kind in DATES:
        return read_dates(present, kind).dropna().astype("datetime64[us]").astype("int64").to_numpy(dtype=np.float64)
    if is_flag(present):
        return present.to_numpy(dtype=np.float64)
    read = numbers_if_written(present)
    if not is_numeric(read):
        return None
    values = read.to_numpy(dtype=np.float64, na_value=np.nan)
    return values[np.isfinite(values)]


def _bars(counts: Sequence[int] | Array) -> Markup:
    largest = max(float(np.max(counts)), 1.0)
    width = WIDTH / max(len(counts), 4)
    parts = [
        Markup('<rect x="{}" y="{}" width="{}" height="{}"/>').format(
            f"{k * width:.1f}",
            f"{HEIGHT - max(count / largest * HEIGHT, 0.8 if count else 0.0):.1f}",
            f"{width - 1:.1f}",
            f"{max(count / largest * HEIGHT, 0.8 if count else 0.0):.1f}",
        )
        for k, count in enumerate(counts)
    ]
    return Markup('<svg class="spread" viewBox="0 0 {} {}" role="img">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(parts)
    )
