"""Dates: recognize them in texts, read them, take them apart into numbers."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from pellucid.app.tables.written_numbers import is_gap

DATE = "date"
DAY_FIRST = "date, day first"
MONTH_FIRST = "date, month first"
COMPACT = "date, digits only"
NAMED_MONTH = "date, month by name"
DATES = (DATE, DAY_FIRST, MONTH_FIRST, COMPACT, NAMED_MONTH)

TIME = (
    r"(?:(?:[Tt ]|,\s)\s*(?P<hour>\d{1,2}):\d{2}(?::\d{2}(?:\.\d+)?)?"
    r"(?:\s*(?P<half>[AaPp])\.?[Mm]\.?)?\s*(?:[Zz]|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST_PATTERN = rf"\s*(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){TIME}\s*"
YEAR_LAST_PATTERN = rf"\s*(?P<first>\d{{1,2}})[-/.](?P<second>\d{{1,2}})[-/.](?P<year>\d{{4}}|\d{{2}}){TIME}\s*"
COMPACT_PATTERN = (
    r"\s*(?P<year>(?:19|20)\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?P<hour>)(?P<half>)(?:\.0)?\s*"
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAME = rf"(?P<month>{'|'.join(MONTHS)})[a-z]*\.?"
DAY_NAME = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
NAMED_DAY_FIRST = (
    rf"\s*{DAY_NAME}(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[-\s]+{NAME}[-,\s]+(?P<year>\d{{4}}|\d{{2}}){TIME}\s*"
)
NAMED_MONTH_FIRST = rf"\s*{DAY_NAME}{NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}}){TIME}\s*"
LAST_MONTH = 12
UNMISTAKABLE = (YEAR_FIRST_PATTERN, NAMED_DAY_FIRST, NAMED_MONTH_FIRST)
"""Read in every column of dates: a spreadsheet that was saved again may write them otherwise."""
PATTERNS = {
    DATE: UNMISTAKABLE,
    DAY_FIRST: (YEAR_LAST_PATTERN, *UNMISTAKABLE),
    MONTH_FIRST: (YEAR_LAST_PATTERN, *UNMISTAKABLE),
    COMPACT: (COMPACT_PATTERN, *UNMISTAKABLE),
    NAMED_MONTH: UNMISTAKABLE,
}
"""How each kind is written."""
FIRST_OF_LAST_CENTURY = 69
"""Years of two digits are those from 1969 to 2068."""
PARTS = ("days", "year", "month", "weekday")
"""The numbers a date becomes; ``days`` counts from 1970, ``weekday`` from Monday = 0."""


def date_kind(texts: pd.Series) -> str | None:
    """Return how texts write dates, gaps in words aside; None if one of them is not a date."""
    texts = texts[[not is_gap(text) for text in texts]]
    kind = _likely_kind(texts) if len(texts) else None
    return kind if kind is not None and read_dates(texts, kind).notna().all() else None


def _likely_kind(texts: pd.Series) -> str | None:
    """Return how the texts look like dates, before they are read."""
    if texts.str.fullmatch(YEAR_FIRST_PATTERN).all():
        return DATE
    if texts.str.fullmatch(COMPACT_PATTERN).all():
        return COMPACT
    if not dates_in(texts).all():
        return None
    parts = _day_and_month(texts)
    if parts.empty:
        return NAMED_MONTH
    has_points = texts[parts.index].str.contains(r"\d\.\d", regex=True).all()
    return DAY_FIRST if has_points or (parts["first"] > LAST_MONTH).any() else MONTH_FIRST


def dates_in(texts: pd.Series) -> np.ndarray:
    """Return which texts are written as dates in some way, digits alone aside."""
    small = texts.str.lower()
    return np.any([small.str.fullmatch(pattern) for pattern in PATTERNS[DAY_FIRST]], axis=0)


def date_doubt(texts: pd.Series) -> str:
    """Return what could be read otherwise in texts that are dates: two digits for a year, day and month in any order.

    Examples
    --------
    >>> date_doubt(pd.Series(["03/04/21", "05/06/21"]))
    'whether day or month comes first cannot be seen, and years of two digits were taken for 1969 to 2068'
    """
    parts = _day_and_month(texts)
    doubts = []
    if len(parts) and not (parts[["first", "second"]] > LAST_MONTH).any(axis=None):
        doubts.append("whether day or month comes first cannot be seen")
    years = texts.str.lower().str.extract(f"^(?:{YEAR_LAST_PATTERN})$")["year"].dropna()
    if (years.str.len() == 2).any():
        doubts.append("years of two digits were taken for 1969 to 2068")
    return ", and ".join(doubts)


def _day_and_month(texts: pd.Series) -> pd.DataFrame:
    """Return the first two numbers of dates with the year last."""
    parts = texts.str.lower().str.extract(f"^(?:{YEAR_LAST_PATTERN})$")[["first", "second"]].dropna()
    return parts.astype(int)


def read_dates(column: pd.Series, kind: str) -> pd.Series:
    """Return moments without time zone, NaT where a value is missing or no date of this kind."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return column.dt.tz_localize(None) if column.dt.tz is not None else column
    codes, different = pd.factorize(column)
    moments = np.append(_read_texts(pd.Series(different).astype("str"), kind).to_numpy(), np.datetime64("NaT"))
    return pd.Series(moments[codes], column.index, name=column.name)  # a gap has the code -1


def _read_texts(texts: pd.Series, kind: str) -> pd.Series:
    parts = _first_that_fits(texts, *PATTERNS[kind])
    order = {DAY_FIRST: ["day", "month"], MONTH_FIRST: ["month", "day"]}.get(kind)
    if order is not None:
        parts[order] = parts[order].where(parts["day"].notna(), parts[["first", "second"]].to_numpy())
    parts["month"] = parts["month"].replace({name: str(place) for place, name in enumerate(MONTHS, 1)})
    numbers = parts[["year", "month", "day", "hour"]].apply(pd.to_numeric, errors="coerce")
    in_half = parts["half"].isin(["a", "p"])
    numbers["hour"] = numbers["hour"].where(~in_half, numbers["hour"] % 12 + 12 * (parts["half"] == "p"))
    numbers["hour"] = numbers["hour"].fillna(0.0)
    is_short = numbers["year"] < 100
    century = np.where(numbers["year"] < FIRST_OF_LAST_CENTURY, 2000, 1900)
    numbers["year"] = numbers["year"].where(~is_short, numbers["year"] + century)
    return pd.to_datetime(numbers, errors="coerce")


def _first_that_fits(texts: pd.Series, *patterns: str) -> pd.DataFrame:
    """Return the named parts of each text by the first pattern that it fits."""
    texts = texts.str.lower()
    found = pd.DataFrame(
        index=texts.index, columns=["year", "month", "day", "hour", "half", "first", "second"], dtype=object
    )
    for pattern in patterns:
        parts = texts.str.extract(f"^{pattern}$").astype(object)
        fits = parts["year"].notna() & found["year"].isna()
        found.loc[fits, parts.columns] = parts[fits]
    return found


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
    patterns = {pattern for some in PATTERNS.values() for pattern in some}
    return any(re.fullmatch(pattern, text.lower()) for pattern in patterns)
