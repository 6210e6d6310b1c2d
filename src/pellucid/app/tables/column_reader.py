"""ColumnReader: the first step of a pipeline that takes tables as they are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.app.tables.dates import DATES, PARTS, date_parts, read_dates
from pellucid.app.tables.distinct import folded
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import FLAG, JOINED_WORDS, KINDS, NUMBER, TEXT, WORDS
from pellucid.app.tables.written_numbers import DURATION, WITH_POINT, WRITTEN_NUMBERS, is_gap, read_written
from pellucid.core.checks import did_you_mean
from pellucid.core.types import Array
from pellucid.proofs.training_data import fingerprint

YES = dict.fromkeys(("true", "yes", "y", "t", "1", "1.0"), 1.0) | dict.fromkeys(
    ("false", "no", "n", "f", "0", "0.0"), 0.0
)
MOST_SHOWN = 40
MOST_KNOWN = 1000
"""Words of a column that are kept, to know new spellings of them."""


class ColumnReader(TransformerMixin, BaseEstimator):
    """Read columns as the kinds they were understood as, and refuse a table whose columns do not fit.

    Numbers become floats, yes or no ones and zeros, dates several numbers, words categories and texts strings; a gap
    stays one (an empty string among texts), and an infinite number becomes one. Columns that are not named are ignored.
    A word that differs from one of the fit by blanks and case only is read as that one.

    Parameters
    ----------
    kinds : dict of str to str
        Name of each column and its kind: one of ``pellucid.app.tables.understanding.KINDS``.

    Attributes
    ----------
    with_hours_ : list of str
        The columns of dates that have a time of day.
    words_ : dict of str to list of str
        The words of each column of words, unless they are very many or differ by blanks and case only.
    n_features_in_, feature_names_in_ : int, ndarray
        The columns named, in their order.
    data_fingerprint_ : str
        A short name for the table and the target it was fitted to.

    Examples
    --------
    >>> reader = ColumnReader({"paid": "yes or no", "when": "date"})
    >>> reader.fit_transform(pd.DataFrame({"when": ["1970-01-02"], "paid": [True]}))
       paid  when days  when year  when month  when weekday
    0   1.0        1.0     1970.0         1.0           4.0
    """

    n_features_in_: int
    feature_names_in_: Array
    with_hours_: list[str]
    words_: dict[str, list[str]]
    data_fingerprint_: str

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.kinds = kinds

    def fit(self, X: pd.DataFrame, y: Any = None) -> Self:
        """Note which dates have a time of day, and the fingerprint of the table and its target."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: pd.DataFrame, y: Any = None) -> pd.DataFrame:
        """Fit and return the columns as floats and words: a large table is read once only."""
        unknown = sorted(set(self.kinds.values()) - set(KINDS))
        if unknown or not self.kinds:
            raise ValueError(f"kinds must be some of {KINDS}, got {unknown or 'none'}.")
        moments = {name: read_dates(X[name], kind) for name, kind in self.kinds.items() if kind in DATES}
        self.with_hours_ = [name for name, column in moments.items() if (column.dt.hour > 0).any()]
        self.feature_names_in_ = np.array(list(self.kinds), dtype=object)
        self.n_features_in_ = len(self.kinds)
        self.words_ = {}
        read = self.transform(X)
        self.words_ = {
            name: words for name, kind in self.kinds.items() if kind == WORDS and (words := _known(read[name]))
        }
        self.data_fingerprint_ = _fingerprint(read, y)
        return read

    def transform(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the columns as floats and strings, or raise a TableError that names every column that does not fit."""
        check_is_fitted(self)
        if not isinstance(X, pd.DataFrame):
            raise TypeError(f"X must be a pandas data frame with named columns, got {type(X).__name__}.")
        X = self.named_as_fitted(X)
        missing = [name for name in self.kinds if name not in X.columns]
        if missing:
            are = "are" if missing[1:] else "is"
            others = [str(name) for name in X.columns if name not in self.kinds]
            meant = "".join(did_you_mean(name, others) for name in missing)
            raise TableError(f"table must have the columns {list(self.kinds)}, but {missing} {are} missing.{meant}")
        columns: dict[str, Any] = {}
        problems = []
        for name, kind in self.kinds.items():
            try:
                columns |= self._read(X[name], name, kind)
            except TableError as problem:
                problems.append(str(problem))
            except TypeError:  # values that cannot be compared
                problems.append(f"column {name!r} must hold numbers, texts, dates or gaps, got lists or other objects.")
        if problems:
            raise TableError(" ".join(problems))
        return pd.DataFrame(columns, index=X.index)

    def named_as_fitted(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a table whose columns have the names of the fit where they differ by blanks around them only."""
        bare = {str(name).strip(): name for name in X.columns}
        other = {bare[n.strip()]: n for n in self.kinds if n not in X.columns and n.strip() in bare}
        return X.rename(columns=other) if other else X

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that come out."""
        return np.array([out for name in self.kinds for out in self.names_of(name)], dtype=object)

    def names_of(self, name: str) -> list[str]:
        """Return the names of the columns that stand for one column of the table."""
        if self.kinds[name] not in DATES:
            return [name]
        return [f"{name} {part}" for part in (*PARTS, *(["hour"] if name in self.with_hours_ else []))]

    def fingerprint_of(self, X: pd.DataFrame, y: Any = None) -> str:
        """Return the fingerprint of a table: equal for the table and the target that the reader was fitted to."""
        return _fingerprint(self.transform(X), y)

    def _read(self, column: pd.Series, name: str, kind: str) -> dict[str, Any]:
        if kind in DATES:
            moments = read_dates(column, kind)
            _refuse(column, moments.isna() & ~_gaps(column), "dates like 2024-12-31")
            parts = date_parts(moments, with_hour=name in self.with_hours_)
            return {f"{name} {part}": values for part, values in parts.items()}
        if kind in WRITTEN_NUMBERS:
            values = read_written(column, kind)
            what = "durations like 1:30:00" if kind == DURATION else "numbers"
            _refuse(column, np.isnan(values) & ~_gaps(column), what)
            return {name: values}
        if kind == WORDS:
            return {name: _read_words(column, known=getattr(self, "words_", {}).get(name, ()))}
        return {name: READERS[kind](column)}


def _fingerprint(read: pd.DataFrame, y: Any) -> str:
    return fingerprint(*(np.asarray(read[name]) for name in read), None if y is None else np.asarray(y))


def _read_numbers(column: pd.Series) -> Array:
    """Return numbers, also those that people write with a currency or thousands apart; what is infinite is a gap."""
    if pd.api.types.is_numeric_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        numbers = pd.to_numeric(column.astype(object), errors="coerce")
        values = np.array(numbers, dtype=np.float64)
        strange = np.isnan(values) & column.notna().to_numpy()
        values[strange] = read_written(column[strange], WITH_POINT)
        _refuse(column, np.isnan(values) & ~_gaps(column), "numbers")
    return np.where(np.isinf(values), np.nan, values)


def _read_flags(column: pd.Series) -> Array:
    codes, different = pd.factorize(column)
    said = [YES.get(str(value).strip().lower(), np.nan) for value in different]
    values = np.array([*said, np.nan])[codes]  # a gap has the code -1
    _refuse(column, np.isnan(values) & ~_gaps(column), "True or False")
    return values


def _read_words(column: pd.Series, join: bool = False, known: Collection[str] = ()) -> pd.Series:
    """Return words as categories, whose codes are all that large tables are prepared from.

    A word that is not known, but is the same as one that is, blanks and case aside, is read as that one.
    """
    codes, different = pd.factorize(column)
    texts = pd.Series([as_word(value) for value in different], dtype=object)
    if join:
        texts = folded(texts.astype("str")).astype(object)
    elif known and not texts.isin(list(known)).all():
        usual = dict(zip(folded(pd.Series(list(known), dtype="str")), known, strict=True))
        keys = zip(texts, folded(texts.astype("str")), strict=True)
        texts = pd.Series(
            [text if text in usual.values() else usual.get(key, text) for text, key in keys], dtype=object
        )
    words, places = np.unique(texts.to_numpy(dtype=object), return_inverse=True)
    places = np.append(places, -1)[codes]
    categories = pd.Categorical.from_codes(places, pd.Index(words, dtype=object))
    return pd.Series(categories, column.index, name=column.name)


def _known(read: pd.Series) -> list[str]:
    """Return the words of a column; none if they are very many, or if two of them differ by blanks and case only."""
    words = [str(word) for word in read.cat.categories]
    if len(words) > MOST_KNOWN or folded(pd.Series(words, dtype="str")).duplicated().any():
        return []
    return words


def _read_texts(column: pd.Series) -> pd.Series:
    return column.astype(object).map(lambda value: "" if pd.isna(value) else str(value)).astype(object)


def _gaps(column: pd.Series) -> Array:
    """Return where a text stands for a gap."""
    if pd.api.types.is_datetime64_any_dtype(column) or pd.api.types.is_numeric_dtype(column):
        return column.isna().to_numpy()
    codes, different = pd.factorize(column)
    return np.array([*map(is_gap, different), True])[codes]


def as_word(value: Any) -> str:
    """Return a value as it is written; a gap elsewhere in the column must not turn 3 into 3.0."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _refuse(column: pd.Series, unreadable: Any, what: str) -> None:
    bad = np.flatnonzero(np.asarray(unreadable) & column.notna().to_numpy())
    if len(bad):
        shown = str(column.iloc[bad[0]])[:MOST_SHOWN]
        raise TableError(f"column {column.name!r} must be {what}, got {shown!r} in row {bad[0] + 1}.")


READERS: dict[str, Callable[[pd.Series], Any]] = {
    NUMBER: _read_numbers,
    FLAG: _read_flags,
    JOINED_WORDS: partial(_read_words, join=True),
    TEXT: _read_texts,
}
