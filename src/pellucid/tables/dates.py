"""Dates: recognize them in texts, read them, take them apart into numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

DATE = "date"
DAY_FIRST = "date, day first"
MONTH_FIRST = "date, month first"
DATES = (DATE, DAY_FIRST, MONTH_FIRST)

TIME = r"(?:[T ]\s*(?P<hour>\d{1,2}):\d{2}(?::\d{2}(?:\.\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR_FIRST_PATTERN = rf"\s*(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){TIME}\s*"
YEAR_LAST_PATTERN = rf"\s*(?P<first>\d{{1,2}})[-/.](?P<second>\d{{1,2}})[-/.](?P<year>\d{{4}}){TIME}\s*"
LAST_MONTH = 12
PARTS = ("days", "year", "month", "weekday")
"""The numbers a date becomes; ``days`` counts from 1970, ``weekday`` from Monday = 0."""


def date_kind(texts: pd.Series) -> str | None:
    """Return how texts, none of them missing, write dates; None if one is not a date."""
    if texts.str.fullmatch(YEAR_FIRST_PATTERN).all():
        return DATE if read_dates(texts, DATE).notna().all() else None
    parts = texts.str.extract(f"^{YEAR_LAST_PATTERN}$")
    if parts["year"].isna().any():
        return None
    has_points = texts.str.contains(r"\d\.\d", regex=True).all()
    kind = DAY_FIRST if has_points or (parts["first"].astype(int) > LAST_MONTH).any() else MONTH_FIRST
    return kind if read_dates(texts, kind).notna().all() else None


def read_dates(column: pd.Series, kind: str) -> pd.Series:
    """Return moments without time zone, NaT where a value is missing or no date of this kind."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.tz_localize(None) if column.dt.tz is not None else column
    texts = column.astype(object).map(lambda value: None if pd.isna(value) else str(value)).astype("str")
    year_first = texts.str.extract(f"^{YEAR_FIRST_PATTERN}$")
    if kind == DATE:
        parts = year_first
    else:
        order = {"first": "day", "second": "month"} if kind == DAY_FIRST else {"first": "month", "second": "day"}
        parts = texts.str.extract(f"^{YEAR_LAST_PATTERN}$").rename(columns=order)
        # a spreadsheet that was saved again may write dates the other way round
        parts = parts.where(parts["year"].notna(), year_first[parts.columns])
    numbers = parts.apply(pd.to_numeric, errors="coerce")
    numbers["hour"] = numbers["hour"].fillna(0.0)
    return pd.to_datetime(numbers[["year", "month", "day", "hour"]], errors="coerce")


def date_parts(moments: pd.Series, *, with_hour: bool) -> dict[str, np.ndarray]:
    """Return the numbers of each date, nan where it is missing."""
    since = moments - pd.Timestamp(0)
    columns = {
        "days": since.dt.days,
        "year": moments.dt.year,
        "month": moments.dt.month,
        "weekday": moments.dt.day_of_week,
    }
    if with_hour:
        columns["hour"] = moments.dt.hour
    return {name: values.to_numpy(dtype=np.float64, na_value=np.nan) for name, values in columns.items()}


def looks_like_date(text: str) -> bool:
    """Return whether one text is written as a date: a cheap look before all are read."""
    return bool(re.fullmatch(YEAR_FIRST_PATTERN, text) or re.fullmatch(YEAR_LAST_PATTERN, text))
