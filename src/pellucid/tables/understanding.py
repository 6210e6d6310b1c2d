"""How a table is understood: the target as a class or a number, the columns by their kinds or better left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.core.checks import check_one_of
from pellucid.core.types import Array
from pellucid.tables.dates import DATE, DATES, date_kind, looks_like_date
from pellucid.tables.reading import TableError, check_has_column
from pellucid.tables.written_numbers import DURATION, WRITTEN_NUMBERS, is_gap, read_written, written_kind

NUMBER, FLAG, WORDS, TEXT = "number", "yes or no", "words", "text"
KINDS = (NUMBER, *WRITTEN_NUMBERS, FLAG, WORDS, TEXT, *DATES)

MOST_SAID = 12
"""Ways to write yes and no in one column, gaps among them."""
YES_AND_NO = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})
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

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = ("auto", CLASSIFICATION, REGRESSION)
MOST_WHOLE_CLASSES = 10
"""Whole numbers with at most this many different values are taken for classes."""
MOST_CLASSES = 100
FEWEST_PER_CLASS = 5
"""Rows of a class that can be split into learning, validation and test rows."""
MOST_SHOWN = 5


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are understood: the kind of each that is used, the reason for each that is not."""

    kinds: Mapping[str, str]
    left_out: Mapping[str, str]

    def of(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]


@dataclass(frozen=True)
class Target:
    """The values to predict, why they are taken for classes or numbers, and the rows of the table that have one."""

    name: str
    task: str
    reason: str
    values: Array
    rows: Array
    """Which rows of the table are used, of dtype bool."""
    left_out: tuple[str, ...] = ()
    """Which rows are not used and why, in sentences."""

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.task == CLASSIFICATION


def choose_target(frame: pd.DataFrame, name: str, task: str = "auto") -> Target:
    """Return the target of a table; rows without one, and classes too small to split, are left out and named.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": ["no", "yes"] * 5 + [None]})
    >>> target = choose_target(frame, "y")
    >>> target.task, target.reason
    ('classification', 'its values are words')
    >>> target.left_out
    ('1 row without y was left out.',)
    """
    check_one_of(TASKS, task=task)
    check_has_column(frame, name)
    column = numbers_if_written(frame[name])
    present = column.notna()
    if not present.any():
        raise TableError(f"target must have values, got {name!r}, which is empty.")
    guess, reason = guess_task(column[present])
    kind, reason = (guess, reason) if task == "auto" else (task, "you said so")
    rows, left_out = present.to_numpy().copy(), []
    if not present.all():
        left_out.append(f"{_rows(int((~present).sum()))} without {name} {_was(int((~present).sum()))} left out.")
    if kind == REGRESSION:
        return Target(name, kind, reason, number_values(column[present], name), rows, tuple(left_out))
    labels = class_labels(column[present], name)
    kept, too_small = _large_classes(labels, name)
    rows[rows] = kept
    return Target(name, kind, reason, labels[kept], rows, (*left_out, *too_small))


def numbers_if_written(column: pd.Series) -> pd.Series:
    """Return a column of texts that all write numbers, such as prices, as numbers; any other as it is."""
    kind = None if is_numeric(column) or is_flag(column) else _written_kind(column)
    return column if kind is None else pd.Series(read_written(column, kind), column.index, name=column.name)


def guess_task(present: pd.Series) -> tuple[str, str]:
    """Return the task that suits the values of a target, and why."""
    if is_flag(present):
        return CLASSIFICATION, "its values are yes or no"
    if not is_numeric(present):
        return CLASSIFICATION, "its values are words"
    n_different = present.nunique()
    few = n_different <= min(MOST_WHOLE_CLASSES, len(present) / FEWEST_PER_CLASS)
    if few and _is_whole(present):
        return CLASSIFICATION, f"it has only {n_different} different values, all whole numbers"
    return REGRESSION, f"its values are numbers, {n_different} different ones"


def class_labels(column: pd.Series, name: str) -> Array:
    """Return the values of a column, none of them missing, as labels: bools, whole numbers or strings."""
    if is_flag(column):
        return column.to_numpy(dtype=bool)
    if is_numeric(column):
        if not _is_whole(column):
            raise TableError(f"target must be words or whole numbers for classes, got {name!r} with fractions.")
        return column.to_numpy(dtype=np.int64)
    return column.astype(str).to_numpy(dtype=object)


def number_values(column: pd.Series, name: str) -> Array:
    """Return the values of a column, none of them missing, as floats."""
    if not (is_numeric(column) or is_flag(column)):
        example = str(column.iloc[0])[:40]
        raise TableError(f"target must be numbers for regression, got {name!r} with values like {example!r}.")
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise TableError(f"target must be finite in every row, got {name!r} with inf. Drop such rows.")
    if (values == values[0]).all():
        raise TableError(f"target must change from row to row, got {name!r}, which is always {values[0]:g}.")
    return values


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
    if pd.api.types.is_timedelta64_dtype(column):
        present = present.dt.total_seconds()
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
        if _is_date(column):
            return False
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        if n_different < len(column) or not np.array_equal(values, np.round(values)):
            return False
        return _counts_rows(values) or ID_NAME.search(str(column.name)) is not None
    if n_different < NEARLY_ALL * column.notna().sum() or _is_date(column) or _written_kind(column):
        return False
    return _mean_words(column) < WORDS_OF_A_TEXT


def _counts_rows(values: Array) -> bool:
    """Return whether whole numbers, all different, rise or fall with the rows and leave few out."""
    steps = np.diff(values)
    return bool((steps > 0).all() or (steps < 0).all()) and bool(np.abs(steps).mean() <= GAPS_IN_A_COUNT)


def _kind(column: pd.Series) -> str:
    if is_flag(column) or _says_yes_or_no(column):
        return FLAG
    if _is_date(column):
        return DATE if pd.api.types.is_datetime64_any_dtype(column) else str(date_kind(_texts(column)))
    if is_numeric(column):
        return NUMBER
    written = _written_kind(column)
    if written is not None:
        return written
    n_different = column.dropna().astype(str).nunique()
    many = n_different > MOST_WORDS or n_different >= len(column) / 2
    return TEXT if many and _mean_words(column) >= WORDS_OF_A_TEXT else WORDS


def _is_date(column: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(column):
        return True
    present = column.notna().to_numpy()
    if not present.any() or not looks_like_date(str(column.iloc[int(present.argmax())])):
        return False
    return date_kind(_texts(column)) is not None


def _written_kind(column: pd.Series) -> str | None:
    if pd.api.types.is_timedelta64_dtype(column):
        return DURATION
    is_text = column.dtype == object or isinstance(column.dtype, pd.StringDtype)
    return written_kind(_texts(column)) if is_text and column.notna().any() else None


def _says_yes_or_no(column: pd.Series) -> bool:
    """Return whether texts say nothing but yes and no, or the like, in whatever case, and gaps."""
    if not (column.dtype == object or isinstance(column.dtype, pd.StringDtype)):
        return False
    said = {str(value).strip().lower() for value in column.dropna().unique()[:MOST_SAID] if not is_gap(value)}
    return column.nunique() <= MOST_SAID and said in YES_AND_NO


def _texts(column: pd.Series) -> pd.Series:
    return column.dropna().astype(str)


def _mean_words(column: pd.Series) -> float:
    return float(_texts(column).str.split().str.len().mean())


def _large_classes(labels: Array, name: str) -> tuple[Array, list[str]]:
    """Return which rows belong to classes that are large enough, and a sentence about the others."""
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    large = counts >= FEWEST_PER_CLASS
    if large.sum() < 2:
        shown = ", ".join(f"{label} ({count})" for label, count in zip(classes[:MOST_SHOWN], counts, strict=False))
        raise TableError(
            f"target must have two classes or more with at least {FEWEST_PER_CLASS} rows each, got {name!r} with "
            f"{len(classes)}: {shown}{', ...' if len(classes) > MOST_SHOWN else ''}. Add rows or merge classes."
        )
    if large.sum() > MOST_CLASSES:
        raise TableError(
            f"target must have at most {MOST_CLASSES} classes, got {name!r} with {large.sum()}. Is it a name or a text?"
        )
    kept = large[codes]
    if large.all():
        return kept, []
    small = ", ".join(str(label) for label in classes[~large][:MOST_SHOWN])
    more = f" and {(~large).sum() - MOST_SHOWN} more" if (~large).sum() > MOST_SHOWN else ""
    n_left = int((~kept).sum())
    return kept, [
        f"{_rows(n_left)} of classes with fewer than {FEWEST_PER_CLASS} rows {_was(n_left)} left out ({small}{more}): "
        "the model never predicts them."
    ]


def _is_whole(column: pd.Series) -> bool:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count:,} rows"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"
