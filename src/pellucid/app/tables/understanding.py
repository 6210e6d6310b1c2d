"""How a table is understood: the target as a class or a number, the columns by their kinds or better left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pellucid.app.tables.dates import DATE, DATES, date_doubt, date_kind, dates_in, looks_like_date
from pellucid.app.tables.distinct import Distinct, distinct, folded
from pellucid.app.tables.reading import TableError, check_has_column
from pellucid.app.tables.written_numbers import (
    DURATION,
    WITH_COMMA,
    WITH_POINT,
    WRITTEN_NUMBERS,
    is_gap,
    numbers_in,
    read_written,
    written_kind,
)
from pellucid.core.checks import check_one_of
from pellucid.core.types import Array

NUMBER, FLAG, WORDS, TEXT = "number", "yes or no", "words", "text"
JOINED_WORDS = "words, blanks and case aside"
WORD_KINDS = (WORDS, JOINED_WORDS)
KINDS = (NUMBER, *WRITTEN_NUMBERS, FLAG, *WORD_KINDS, TEXT, *DATES)

COERCED = {
    WITH_POINT: "numbers as people write them (currency, percent, thousands apart, gaps in words) were read as numbers",
    WITH_COMMA: "numbers with a decimal comma were read as numbers",
    DURATION: "durations were read as seconds",
    FLAG: "yes or no became 1 or 0",
    JOINED_WORDS: "words that differ by blanks or case only were joined",
    **dict.fromkeys(DATES, "dates became numbers: days, year, month, weekday, and hour if there is one"),
}
"""What is done to columns of each kind, if anything."""
OF_LISTS = "its values are lists"
MOST_SAID = 12
"""Ways to write yes and no in one column, gaps among them."""
YES_AND_NO = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"})
MOST_WORDS = 50
"""Different words that become columns of their own; the rarer ones share one."""
WORDS_OF_A_TEXT = 4
"""Texts have at least this many words on average; labels and names have fewer."""
NEARLY_ALL = 0.95
MOSTLY = 0.5
"""Share of values that could be read as something else: worth a word."""
MOST_LETTERS = 40
FEWEST_FOR_IDS = 20
"""In fewer rows, numbers that all differ and rise by one may well be measurements."""
GAPS_IN_A_COUNT = 1.5
"""Mean step of numbers that count rows, some of which were dropped since."""
LONG_NUMBER = r"\s*[-+]?\d{16,}\s*"
ID_NAME = re.compile(r"(^|[_\W])(id|ids|key|index|uuid|guid|nr|no|number)$|^unnamed: \d+$|[a-z]I[dD]$", re.IGNORECASE)

CLASSIFICATION, REGRESSION, ORDER = "classification", "regression", "order"
TASKS = ("auto", CLASSIFICATION, REGRESSION, ORDER)
MOST_WHOLE_CLASSES = 10
"""Whole numbers with at most this many different values are taken for classes."""
WHOLE = "all whole numbers"
MOST_ORDERED = 30
"""Different whole numbers that are still told apart as steps of an order."""
MOST_CLASSES = 100
FEWEST_PER_CLASS = 5
"""Rows of a class that can be split into learning, validation and test rows."""
MOST_SHOWN = 5
MOST_BYTES = 256
"""Of a label in an array of texts that are all as long as the longest."""


@dataclass(frozen=True)
class Columns:
    """How the columns of a table are understood: the kind of each that is used, the reason for each that is not."""

    kinds: Mapping[str, str]
    """By the name of each column that is used, in the order of the table, how it is read: ``number``, ``words``,
    ``text``, ``yes or no``, a kind of dates or of written numbers."""
    left_out: Mapping[str, str]
    """By the name of each column that is not used, the reason, in words."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """What of a column could have been read otherwise, in a sentence without its name."""

    def of(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some kinds."""
        return [name for name, kind in self.kinds.items() if kind in kinds]

    def without(self, names: Collection[str]) -> Columns:
        """Return the same without some columns."""
        parts = (self.kinds, self.left_out, self.doubts)
        return Columns(*({name: said for name, said in part.items() if name not in names} for part in parts))

    def notes(self) -> list[str]:
        """Return in sentences what was read into the texts of columns."""
        read_as: dict[str, list[str]] = {}
        for name, kind in self.kinds.items():
            if kind in COERCED:
                read_as.setdefault(COERCED[kind], []).append(name)
        for name, doubt in self.doubts.items():
            read_as.setdefault(doubt, []).append(name)
        return [
            f"Column{'s' if names[1:] else ''} {', '.join(names)}: {sentence}." for sentence, names in read_as.items()
        ]


@dataclass(frozen=True)
class Target:
    """The values to predict, why they are taken for classes or numbers, and the rows of the table that have one."""

    name: str
    """The column that is predicted."""
    task: str
    """``classification``, ``regression`` or ``order`` (whole numbers in an order)."""
    reason: str
    """Why, as the end of a sentence."""
    values: Array
    """One for each of the rows used: bools, whole numbers or texts for classes, else floats."""
    rows: Array
    """Which rows of the table are used, of dtype bool."""
    left_out: tuple[str, ...] = ()
    """Which rows are not used and why, in sentences."""
    notes: tuple[str, ...] = ()
    """How the values were read, in sentences, as far as that was unusual."""

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.task == CLASSIFICATION

    @property
    def is_ordered(self) -> bool:
        """Whether the target is one of few whole numbers in an order: predicted as numbers, with a share of each."""
        return self.task == ORDER

    @property
    def could_be_ordered(self) -> bool:
        """Whether whole numbers are taken for classes, though nobody said so: they may be in an order."""
        return self.is_classification and self.reason.endswith(WHOLE) and self.values.dtype.kind == "i"

    @property
    def told(self) -> str:
        """What it is taken for, in a word or two."""
        return "whole numbers in an order" if self.is_ordered else self.task


def choose_target(frame: pd.DataFrame, name: str, task: str = "auto", *, coerce: bool = True) -> Target:
    """Return the target of a table; rows without one, and classes too small to split, are left out and named.

    Parameters
    ----------
    frame : DataFrame
        One row per example, the target among the columns.
    name : str
        The column to predict.
    task : {"auto", "classification", "regression", "order"}, default="auto"
        How to read it; "auto" decides by its values. "order" needs 3 to 30 different whole numbers.
    coerce : bool, default=True
        Whether texts that all write numbers, such as prices, become numbers, and spellings that differ by blanks and
        case only are joined; if not, texts are classes as they stand.

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
    written = frame[name]
    column = numbers_if_written(written) if coerce else written
    notes = [f"{name} was read as numbers, though it is written as texts."] if column is not written else []
    present = has_value(column)
    if not present.any():
        raise TableError(f"target must have values, got {name!r}, which is empty.")
    values = column[present]
    guess, reason = guess_task(values)
    kind, reason = (guess, reason) if task == "auto" else (task, "you said so")
    rows, left_out = present.copy(), []
    missing = column.isna().to_numpy()
    for away, what in ((missing, "without"), (~present & ~missing, "with an infinite")):
        if away.any():
            left_out.append(f"{_rows(int(away.sum()))} {what} {name} {_was(int(away.sum()))} left out.")
    if kind == ORDER:
        n_different = values.nunique()
        if not (is_numeric(values) and _is_whole(values)) or not 2 < n_different <= MOST_ORDERED:
            got = f"{n_different} different values" if is_numeric(values) and _is_whole(values) else "others"
            raise TableError(
                f"target must have 3 to {MOST_ORDERED} different whole numbers to be an order, "
                f"got {name!r} with {got}. Read it as numbers or classes."
            )
    if kind in (REGRESSION, ORDER):
        return Target(name, kind, reason, number_values(values, name), rows, tuple(left_out), tuple(notes))
    if coerce and not is_numeric(values) and not is_flag(values):
        values, joined = _join_spellings(values, name)
        notes += joined
    labels = class_labels(values, name)
    kept, too_small = _large_classes(labels, name)
    rows[rows] = kept
    return Target(name, kind, reason, labels[kept], rows, (*left_out, *too_small), tuple(notes))


def has_value(column: pd.Series) -> Array:
    """Return in which rows a target has a value to learn from: neither a gap nor an infinite number."""
    present = column.notna().to_numpy()
    if is_numeric(column):
        present = present & ~np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return present


def numbers_if_written(column: pd.Series) -> pd.Series:
    """Return a column of texts that all write numbers, such as prices, as numbers; any other as it is."""
    kind = None if is_numeric(column) or is_flag(column) else _written_kind(column, distinct(column))
    return column if kind is None else pd.Series(read_written(column, kind), column.index, name=column.name)


def known_spellings(labels: Array, known: Array) -> Array:
    """Return labels that differ from a known one by blanks and case only as that one, all others as they are."""
    if labels.dtype.kind not in "OU" or np.isin(labels, known).all():
        return labels
    by_key = dict(zip(folded(pd.Series(known).astype(str)), known, strict=True))
    codes, different = pd.factorize(labels)
    keys = folded(pd.Series(different).astype(str))
    joined = [label if label in known else by_key.get(key, label) for label, key in zip(different, keys, strict=True)]
    return np.array(joined, dtype=known.dtype)[codes]


def _join_spellings(values: pd.Series, name: str) -> tuple[pd.Series, list[str]]:
    """Return texts with the most frequent of spellings that differ by blanks and case only, and what was joined."""
    groups = distinct(values).spellings()
    if not groups:
        return values, []
    usual = {text: texts[0] for texts in groups.values() for text in texts}
    said = "; ".join(", ".join(map(repr, texts)) for texts in list(groups.values())[:MOST_SHOWN])
    joined = values.astype(object).map(lambda text: usual.get(str(text), text))
    return joined, [f"Classes of {name} that differ by blanks or case only were joined: {said}."]


def guess_task(present: pd.Series) -> tuple[str, str]:
    """Return the task that suits the values of a target, and why."""
    if is_flag(present):
        return CLASSIFICATION, "its values are yes or no"
    if not is_numeric(present):
        return CLASSIFICATION, "its values are words"
    n_different = present.nunique()
    few = n_different <= min(MOST_WHOLE_CLASSES, len(present) / FEWEST_PER_CLASS)
    if few and _is_whole(present):
        return CLASSIFICATION, f"it has only {n_different} different values, {WHOLE}"
    return REGRESSION, f"its values are numbers, {n_different} different ones"


def class_labels(column: pd.Series, name: str) -> Array:
    """Return the values of a column, none of them missing, as labels: bools, whole numbers or strings."""
    if is_flag(column):
        return column.to_numpy(dtype=bool)
    if is_numeric(column):
        if not _is_whole(column):
            raise TableError(f"target must be words or whole numbers for classes, got {name!r} with fractions.")
        return column.to_numpy(dtype=np.int64)
    codes, different = pd.factorize(column)
    labels = np.array([str(label) for label in different])  # plain texts sort ten times as fast as objects
    return labels.astype(object if labels.itemsize > MOST_BYTES else labels.dtype)[codes]


def number_values(column: pd.Series, name: str) -> Array:
    """Return the values of a column, none of them missing, as floats."""
    if not (is_numeric(column) or is_flag(column)):
        first = int(pd.to_numeric(column, errors="coerce").isna().to_numpy().argmax())
        example, row = str(column.iloc[first])[:40], column.index[first]  # rows without a value are not among these
        place = row + 1 if isinstance(row, (int, np.integer)) else row
        raise TableError(f"target must be numbers for regression, got {name!r} with {example!r} in row {place}.")
    values = column.to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        raise TableError(f"target must be finite in every row, got {name!r} with inf. Drop such rows.")
    if (values == values[0]).all():
        raise TableError(f"target must change from row to row, got {name!r}, which is always {values[0]:g}.")
    return values


def understand(frame: pd.DataFrame, target: str | None, *, coerce: bool = True) -> Columns:
    """Return how every column beside the target, if there is one, is understood.

    Parameters
    ----------
    frame : DataFrame
        One row per example.
    target : str or None
        The column to leave aside; None for a table without a target.
    coerce : bool, default=True
        Whether prices, dates, yes and no are read into texts; if not, they are words, or long texts, as they stand.

    Examples
    --------
    >>> frame = pd.DataFrame({"size": [1.5, 2.0, 3.5], "city": ["Bern", "Basel", "Bern"], "same": 1, "y": 0})
    >>> understand(frame, "y")
    Columns(kinds={'size': 'number', 'city': 'words'}, left_out={'same': 'it never changes'}, doubts={})
    """
    return refuse_useless(all_columns(frame if target is None else frame.drop(columns=target), coerce=coerce), target)


def refuse_useless(found: Columns, target: str | None) -> Columns:
    """Return columns as they were understood; refuse a table without one to learn from."""
    if not found.kinds:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.left_out.items())
        beside = "" if target is None else f" beside {target!r}"
        raise TableError(
            f"table must have a column{beside} to learn from, got none ({reasons or 'there is no other column'})."
        )
    return found


def all_columns(frame: pd.DataFrame, *, coerce: bool = True) -> Columns:
    """Return how every column is understood, even if none is of use."""
    kinds, left_out, doubts = {}, {}, {}
    for name in frame.columns:
        reason, kind = _understand_column(frame[name], coerce)
        if reason:
            left_out[name] = reason
            continue
        kinds[name] = kind
        doubt = _doubt(frame[name], kind)
        if doubt:
            doubts[name] = doubt
    return Columns(kinds, left_out, doubts)


def _doubt(column: pd.Series, kind: str) -> str:
    """Return what could have been read otherwise in a column of a kind, if anything."""
    if kind == NUMBER:
        return doubt_about_infinite(int(np.isinf(column.to_numpy(dtype=np.float64, na_value=np.nan)).sum()))
    return doubt_about_texts(distinct(column).texts, kind) if _is_text(column) else ""


def doubt_about_infinite(count: int) -> str:
    """Return what was done to so many infinite numbers."""
    return f"an infinite number in {_rows(count)} was taken for a gap" if count else ""


def doubt_about_texts(texts: pd.Series, kind: str) -> str:
    """Return what could have been read otherwise in texts of a kind, if anything."""
    if kind in WORD_KINDS and texts.str.fullmatch(LONG_NUMBER).all():
        return "whole numbers of so many digits were taken for words, for as numbers they would lose some"
    return date_doubt(texts) if kind in DATES else ""


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


def _understand_column(column: pd.Series, coerce: bool) -> tuple[str, str]:
    """Return the reason to leave a column out, or nothing and its kind."""
    if is_numeric(column):
        return understand_numbers(column, NumberFacts.of(column), lambda: distinct(column), coerce)
    if column.dtype == object and column.dropna().map(pd.api.types.is_list_like).any():
        return OF_LISTS, ""
    return understand_texts(column, distinct(column), len(column), coerce)


def understand_texts(like: pd.Series, seen: Distinct, n_rows: int, coerce: bool) -> tuple[str, str]:
    """Return the same of a column of so many rows that holds no numbers; ``like`` has its type."""
    if seen.n_different == 0:
        return "it is empty", ""
    if seen.n_different == 1 and seen.n_rows == n_rows:
        return "it never changes", ""
    kind = _kind(like, seen, n_rows, coerce)
    if kind in WORD_KINDS and n_rows >= FEWEST_FOR_IDS and _names_every_row(seen):
        return _like_an_id(seen.n_different, n_rows) + _unless(like, seen, coerce), ""
    return "", kind


def _unless(column: pd.Series, seen: Distinct, coerce: bool) -> str:
    """Return what a column that looks like an id nearly is, and the value that keeps it from being that."""
    if not coerce or not _is_text(column):
        return ""
    nearly = {"dates": dates_in(seen.texts), "numbers": numbers_in(seen.texts)}
    for what, readable in nearly.items():
        if not readable.all() and seen.share(readable) >= MOSTLY:
            example = str(seen.texts[~readable].iloc[0])[:MOST_LETTERS]
            return f"; {100 * seen.share(readable):.0f} % of its values are {what}, but {example!r} is not"
    return ""


@dataclass(frozen=True)
class NumberFacts:
    """What is to be known of a column of numbers to understand it."""

    n_rows: int
    n_gaps: int
    n_infinite: int
    low: float
    high: float
    """Of the finite numbers."""
    first: float
    """Of the finite numbers, the one that stands first; nan if there is none."""
    is_whole: bool
    """Whether all of them are whole numbers."""
    counts_rows: bool
    """Whether they rise or fall with the rows and leave few out."""
    all_differ: Callable[[], bool]
    """Whether no number comes twice: asked only if it matters."""

    @classmethod
    def of(cls, column: pd.Series) -> NumberFacts:
        """Return the facts of a column in memory."""
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        present = values[np.isfinite(values)]
        n_gaps = int(np.isnan(values).sum())
        some = len(present) > 0
        is_whole = some and bool((present == np.round(present)).all())
        return cls(
            len(values),
            n_gaps,
            len(values) - len(present) - n_gaps,
            float(present.min()) if some else np.nan,
            float(present.max()) if some else np.nan,
            float(present[0]) if some else np.nan,
            is_whole,
            is_whole and len(present) == len(values) and _counts_rows(values),
            lambda: column.nunique() == len(column),
        )


def understand_numbers(
    like: pd.Series, facts: NumberFacts, seen: Callable[[], Distinct], coerce: bool
) -> tuple[str, str]:
    """Return the reason to leave a column of numbers out, or nothing and its kind; ``like`` has its name."""
    n_present = facts.n_rows - facts.n_gaps - facts.n_infinite
    if not n_present:
        return "it is empty" if not facts.n_infinite else "all its numbers are infinite", ""
    if n_present == facts.n_rows and facts.low == facts.high:
        return "it never changes", ""
    if coerce and looks_like_date(as_written(facts.first)):
        kind = date_kind(seen().texts)
        if kind is not None:
            return "", kind
    if facts.n_rows >= FEWEST_FOR_IDS and n_present == facts.n_rows and facts.is_whole:
        is_named = ID_NAME.search(str(like.name)) is not None
        if facts.counts_rows or (is_named and facts.all_differ()):
            return _like_an_id(facts.n_rows, facts.n_rows), ""
    return "", NUMBER


def as_written(value: float) -> str:
    """Return a number as a text, a whole one without a point."""
    return str(int(value)) if float(value).is_integer() else str(value)


def _like_an_id(n_different: int, n_rows: int) -> str:
    return f"it looks like an id, with {n_different} different values in {n_rows} rows"


def _names_every_row(seen: Distinct) -> bool:
    return seen.n_different >= NEARLY_ALL * seen.n_rows and seen.mean_words() < WORDS_OF_A_TEXT


def _counts_rows(values: Array) -> bool:
    """Return whether whole numbers rise or fall with the rows and leave few out; then all of them differ."""
    steps = np.diff(values)
    is_ordered = len(steps) > 0 and bool((steps > 0).all() or (steps < 0).all())
    return is_ordered and bool(np.abs(steps).mean() <= GAPS_IN_A_COUNT)


def _kind(column: pd.Series, seen: Distinct, n_rows: int, coerce: bool) -> str:
    """Return the kind of a column that holds no numbers."""
    if pd.api.types.is_datetime64_any_dtype(column):
        return DATE
    if is_flag(column) or (coerce and _is_text(column) and _says_yes_or_no(seen)):
        return FLAG
    if pd.api.types.is_timedelta64_dtype(column):
        return DURATION
    if coerce:
        read_as = _date_kind(column, seen) or _written_kind(column, seen)
        if read_as is not None:
            return read_as
    many = seen.n_different > MOST_WORDS or seen.n_different >= n_rows / 2
    if many and seen.mean_words() >= WORDS_OF_A_TEXT:
        return TEXT
    return JOINED_WORDS if coerce and seen.spellings() else WORDS


def _date_kind(column: pd.Series, seen: Distinct) -> str | None:
    first = next((text for text in seen.texts if not is_gap(text)), "")
    return date_kind(seen.texts) if _is_text(column) and looks_like_date(first) else None


def _written_kind(column: pd.Series, seen: Distinct) -> str | None:
    if pd.api.types.is_timedelta64_dtype(column):
        return DURATION
    return written_kind(seen) if _is_text(column) and len(seen.texts) else None


def _is_text(column: pd.Series) -> bool:
    return column.dtype == object or isinstance(column.dtype, pd.StringDtype | pd.CategoricalDtype)


def _says_yes_or_no(seen: Distinct) -> bool:
    """Return whether texts say nothing but yes and no, or the like, in whatever case, and gaps."""
    if seen.n_different > MOST_SAID:
        return False
    return {text.strip().lower() for text in seen.texts if not is_gap(text)} in YES_AND_NO


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
