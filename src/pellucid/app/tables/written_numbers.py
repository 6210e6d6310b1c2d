"""Numbers as people write them: with currencies, percent signs, thousands apart, gaps in words, durations."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from pellucid.app.tables.distinct import Distinct
from pellucid.core.types import Array

WITH_POINT = "number, as written"
WITH_COMMA = "number, written with a decimal comma"
DURATION = "duration"
WRITTEN_NUMBERS = (WITH_POINT, WITH_COMMA, DURATION)

GAPS = frozenset({"", "?", "-", "--", ".", "n/a", "na", "nan", "none", "null", "nil", "unknown", "missing", "#n/a"})
"""What stands for a missing number."""
FEWEST_NUMBERS = 0.5
"""Share of the values that must be numbers, the others being gaps."""

SIGNS = r"[$€£¥₹₽₩₺฿%‰]"
CODES = r"(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL|MXN|ZAR|Fr\.)"
AROUND = re.compile(rf"\s*(?:{SIGNS}|{CODES})\s*", re.IGNORECASE)
BLANKS = re.compile(r"[\s\u00a0\u2009\u202f'’_](?=\d{3}(?!\d))")
"""What parts thousands beside points and commas."""
POINT_PATTERN = re.compile(r"(?:(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
COMMA_PATTERN = re.compile(r"(?:(?:\d+|\d{1,3}(?:\.\d{3})+)(?:,\d*)?|,\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
CODE_PATTERN = re.compile(r"0\d+|\d{16,}")
"""A number that begins with 0 is a code, such as that of a town; one with more digits than a float holds is an id."""
CLOCK = re.compile(r"(-?)(?:(\d+) days?,? )?(\d+):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?")
UNITS = re.compile(
    r"(-?)(?=\d)(?:(\d+(?:\.\d+)?)\s*d(?:ays?)?)?\s*(?:(\d+(?:\.\d+)?)\s*h(?:ours?|rs?)?)?"
    r"\s*(?:(\d+(?:\.\d+)?)\s*m(?:in(?:utes?)?)?)?\s*(?:(\d+(?:\.\d+)?)\s*s(?:ec(?:onds?)?)?)?",
    re.IGNORECASE,
)
SECONDS = (86400.0, 3600.0, 60.0, 1.0)


def written_kind(seen: Distinct) -> str | None:
    """Return how texts write numbers; None if they write something else as well."""
    different = seen.texts.str.strip()
    is_value = ~different.str.lower().isin(GAPS).to_numpy()
    values = different[is_value]
    if values.empty or seen.share(is_value) < FEWEST_NUMBERS:
        return None
    first = str(values.iloc[0])
    for kind, read in READERS.items():
        if np.isnan(read(first)):  # a cheap look before all are read
            continue
        if not values.str.fullmatch(CODE_PATTERN).any() and not np.isnan([read(value) for value in values]).any():
            return kind
    return None


def read_written(column: pd.Series, kind: str) -> Array:
    """Return the numbers of a column, nan where there is none."""
    if pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_numeric_dtype(column):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    codes, different = pd.factorize(column)
    numbers = np.array([*(READERS[kind](str(value).strip()) for value in different), np.nan])
    return np.asarray(numbers[codes])  # a gap has the code -1, and the last number is none


def numbers_in(texts: pd.Series) -> Array:
    """Return which texts write a number with a decimal point, or a gap."""
    return np.array([is_gap(text) or not np.isnan(_read_with_point(text.strip())) for text in texts], dtype=bool)


def is_gap(value: object) -> bool:
    """Return whether a text stands for a missing number."""
    return isinstance(value, str) and value.strip().lower() in GAPS


def _read_with_point(text: str) -> float:
    return _read_number(text, POINT_PATTERN, thousands=",", decimal=".")


def _read_with_comma(text: str) -> float:
    return _read_number(text, COMMA_PATTERN, thousands=".", decimal=",")


def _read_number(text: str, pattern: re.Pattern[str], *, thousands: str, decimal: str) -> float:
    bare = AROUND.sub("", text).removesuffix(".-")  # a round price
    in_brackets = bare.startswith("(") and bare.endswith(")")  # an accountant's minus
    bare = bare[1:-1] if in_brackets else bare
    bare = bare.replace("\N{MINUS SIGN}", "-").strip()
    sign = -1.0 if in_brackets or bare.startswith("-") or bare.endswith("-") else 1.0
    bare = BLANKS.sub("", bare.strip("+-").strip())
    if not pattern.fullmatch(bare):
        return np.nan
    return sign * float(bare.replace(thousands, "").replace(decimal, "."))


def _read_duration(text: str) -> float:
    """Return the seconds of 1:30:00, 2 days, 3:00:00 or 1h 30m."""
    clock = CLOCK.fullmatch(text)
    if clock:
        sign, days, hours, minutes, seconds = clock.groups()
    else:
        units = UNITS.fullmatch(text)
        if units is None or not any(units.groups()[1:]):
            return np.nan
        sign, days, hours, minutes, seconds = units.groups()
    parts = (days, hours, minutes, seconds)
    total = sum(float(part or 0) * size for part, size in zip(parts, SECONDS, strict=True))
    return -total if sign else total


READERS = {WITH_POINT: _read_with_point, WITH_COMMA: _read_with_comma, DURATION: _read_duration}
