"""How the columns of a table are understood: numbers, yes or no, words, dates, texts, or better left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.core.types import Array
from pellucid.tables.dates import DATE, DATES, date_kind, looks_like_date
from pellucid.tables.errors import TableError

NUMBER, FLAG, WORDS, TEXT = "number", "yes or no", "words", "text"
KINDS = (NUMBER, FLAG, WORDS, TEXT, *DATES)

MOST_WORDS = 50
"""Different words that become columns of their own; the rarer ones share one."""
WORDS_OF_A_TEXT = 4
"""Texts have at least this many words on average; labels and names have fewer."""
NEARLY_ALL = 0.95
FEWEST_FOR_IDS = 20
"""In fewer rows, numbers that all differ and rise by one may well be measurements."""
GAPS_IN_A_COUNT = 1.5
"""Mean step of numbers that count rows, some of which were dropped since."""
ID_NAME = re.compile(r"(^|[_\W])(id|ids|key|index|uuid|guid|nr|no|number)$|^unnamed: \d+$|[a-z]I[dD]$", re.IGNORECASE)


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are understood: the kind of each that is used, the reason for each that is not."""

    kinds: Mapping[str, str]
    left_out: Mapping[str, str]

    def of(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]


def understand(frame: pd.DataFrame, target: str) -> Columns:
    """Return how every column beside the target is understood.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.5, 2.0, 3.5], "city": ["Bern", "Basel", "Bern"], "same": 1, "y": 0})
    >>> understand(frame, "y")
    Columns(kinds={'size': 'number', 'city': 'words'}, left_out={'same': 'it never changes'})
    """
    kinds, left_out = {}, {}
    for name in frame.columns.drop(target):
        column = frame[name]
        reason = _reason_to_leave_out(column)
        if reason:
            left_out[name] = reason
        else:
            kinds[name] = _kind(column)
    if not kinds:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items()) or "there is no other column"
        raise TableError(f"table must have a column beside {target!r} to learn from, got none ({reasons}).")
    return Columns(kinds, left_out)


def is_numeric(column: pd.Series) -> bool:
    """Return whether a column holds real numbers; booleans are none."""
    kinds = pd.api.types
    return bool(
        kinds.is_numeric_dtype(column) and not kinds.is_complex_dtype(column) and not kinds.is_bool_dtype(column)
    )


def is_flag(column: pd.Series) -> bool:
    """Return whether a column holds only True, False and gaps."""
    if pd.api.types.is_bool_dtype(column):
        return True
    return column.dtype == object and bool(column.dropna().map(lambda value: isinstance(value, bool)).all())


def _reason_to_leave_out(column: pd.Series) -> str:
    present = column.dropna()
    if column.dtype == object and present.map(pd.api.types.is_list_like).any():
        return "its values are lists"
    n_different = present.astype(str).nunique() if column.dtype == object else present.nunique()
    if n_different == 0:
        return "it is empty"
    if n_different == 1 and len(present) == len(column):
        return "it never changes"
    if len(column) >= FEWEST_FOR_IDS and _looks_like_id(column, n_different):
        return f"it looks like an id, with {n_different} different values in {len(column)} rows"
    return ""


def _looks_like_id(column: pd.Series, n_different: int) -> bool:
    if is_numeric(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if n_different < len(column) or not np.array_equal(values, np.round(values)):
            return False
        return _counts_rows(values) or ID_NAME.search(str(column.name)) is not None
    if n_different < NEARLY_ALL * column.notna().sum() or _is_date(column):
        return False
    return _mean_words(column) < WORDS_OF_A_TEXT


def _counts_rows(values: Array) -> bool:
    """Return whether whole numbers, all different, rise or fall with the rows and leave few out."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all()) and bool(np.abs(steps).mean() <= GAPS_IN_A_COUNT)


def _kind(column: pd.Series) -> str:
    if is_flag(column):
        return FLAG
    if is_numeric(column):
        return NUMBER
    if _is_date(column):
        return DATE if pd.api.types.is_datetime64_any_dtype(column) else str(date_kind(_texts(column)))
    n_different = column.dropna().astype(str).nunique()
    many = n_different > MOST_WORDS or n_different >= len(column) / 2
    return TEXT if many and _mean_words(column) >= WORDS_OF_A_TEXT else WORDS


def _is_date(column: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    texts = _texts(column)
    return bool(looks_like_date(texts.iloc[0])) and date_kind(texts) is not None


def _texts(column: pd.Series) -> pd.Series:
    return column.dropna().astype(str)


def _mean_words(column: pd.Series) -> float:
    return float(_texts(column).str.split().str.len().mean())
