"""Tables as they are, and what our own steps make of them, as ONNX operators.

Each column is an input of its own: numbers as double, with nan for a gap; words, and yes or no, as strings, with an
empty one for a gap; dates as days since 1970, with the time of day as a fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.tables.column_reader import YES, as_word
from pellucid.app.tables.dates import DATES, read_dates
from pellucid.app.tables.preparation import MOST_CODES
from pellucid.app.tables.understanding import FLAG, JOINED_WORDS, TEXT, WORD_KINDS
from pellucid.app.tables.word_encoder import GAP
from pellucid.core.onnx.answers import joined_columns
from pellucid.core.onnx.graph import DOUBLE, WHOLE, WORDS, Answers, Graph, NotExportableError, Value
from pellucid.core.types import Array

Table = Mapping[str, Value]
DAY = np.timedelta64(1, "D")


def inputs_of_table(reader: Any, graph: Graph) -> dict[str, Value]:
    """Return an input for each column that a reader was fitted to."""
    is_words = {name: kind in (FLAG, *WORD_KINDS) for name, kind in reader.kinds.items()}
    return {name: graph.input(name, WORDS if is_words[name] else DOUBLE) for name in reader.kinds}


def fed_columns(reader: Any, table: pd.DataFrame) -> dict[str, Array]:
    """Return the columns of a table as the inputs of a graph take them, each of shape (rows, 1)."""
    found, read = {}, reader.transform(table)
    for name, kind in reader.kinds.items():
        column = table[name]
        if kind in (FLAG, *WORD_KINDS):
            values = [("" if pd.isna(value) else as_word(value)) for value in column]
            found[name] = np.array(values, dtype=object)[:, None]
        elif kind in DATES:
            moments = read_dates(column, kind)
            found[name] = ((moments - pd.Timestamp(0)) / DAY).to_numpy(dtype=np.float64)[:, None]
        else:
            found[name] = np.asarray(read[name], dtype=np.float64)[:, None]
    return found


def column_reader(reader: Any, X: Table) -> Answers:
    """Return numbers without infinite ones, yes or no as ones and zeros, words as those of the fit, parts of dates."""
    found: dict[str, Value] = {}
    for name, kind in reader.kinds.items():
        column = X[name]
        if kind == TEXT:
            raise NotExportableError(
                f"column {name!r} must not hold texts to be exported: a graph has no words of them. Leave it out by "
                "--drop."
            )
        if kind in DATES:
            found |= _parts_of_dates(column, name, with_hour=name in reader.with_hours_)
        elif kind == FLAG:
            written = {spelling: value for word, value in YES.items() for spelling in _spellings(word)}
            said = np.append(list(written.values()), np.nan)
            found[name] = column.places_in(np.array(list(written), dtype=object), len(written)).entries_of(said)
        elif kind in WORD_KINDS:
            found[name] = _known_word(column, reader.words_.get(name, ()) if kind != JOINED_WORDS else None)
        else:
            found[name] = column.apply("IsInf", dtype=np.dtype(bool)).where(np.nan, column)
    return {"variable": found}  # type: ignore[dict-item]  # a table


def _known_word(column: Value, known: Any) -> Value:
    """Return words in the spelling of the fit where they differ by the case of letters only, others as they are."""
    if known is None:
        raise NotExportableError(
            "words that differ by blanks and case only must be joined in the table to be exported: a graph cannot. "
            "Write them alike and fit again."
        )
    usual = {spelling: word for word in known for spelling in _spellings(word) if spelling not in known}
    if not usual:
        return column
    place = column.places_in(np.array(list(usual), dtype=object), len(usual))
    return (place < len(usual)).where(place.entries_of(np.array([*usual.values(), ""], dtype=object)), column)


def _spellings(word: str) -> list[str]:
    return list(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize(), word.title())))


def _parts_of_dates(days: Value, name: str, *, with_hour: bool) -> dict[str, Value]:
    """Return days, year, month and weekday, and the hour: the Gregorian calendar counted from the first of March 0000.

    A year of that calendar ends with February, so that the leap day is its last (Howard Hinnant, "chrono-compatible
    low-level date algorithms", 2013).
    """
    whole = days.apply("Floor")
    since = whole + 719468.0
    era = (since / 146097.0).apply("Floor")
    of_era = since - era * 146097.0
    years = (
        of_era
        - (of_era / 1460.0).apply("Floor")
        + (of_era / 36524.0).apply("Floor")
        - (of_era / 146096.0).apply("Floor")
    )
    years = (years / 365.0).apply("Floor")
    of_year = of_era - (years * 365.0 + (years / 4.0).apply("Floor") - (years / 100.0).apply("Floor"))
    march = ((of_year * 5.0 + 2.0) / 153.0).apply("Floor")
    month = (march < 10.0).where(march + 3.0, march - 9.0)
    year = years + era * 400.0 + (month <= 2.0).cast(DOUBLE)
    weekday = (whole + 3.0) - ((whole + 3.0) / 7.0).apply("Floor") * 7.0
    parts = {"days": whole, "year": year, "month": month, "weekday": weekday}
    if with_hour:
        # a moment is a fraction of a day, rounded: a thousandth of a second decides between two hours
        parts["hour"] = ((days - whole) * 24.0 + 1e-6 / 3.6).apply("Floor")
    return {f"{name} {part}": values for part, values in parts.items()}


def word_encoder(step: Any, X: Table) -> Answers:
    """Return codes of words, or an indicator for each."""
    parts = []
    for name, words, has_rare in zip(step.feature_names_in_, step.words_, step.has_rare_, strict=True):
        place, n = _place(X[name], words), len(words)
        if step.indicators:
            parts.append(place.equals(np.arange(n + int(has_rare))).cast(DOUBLE))
        else:
            code = place.cast(DOUBLE)
            parts.append(code if has_rare else (code >= float(n)).where(np.nan, code))
    return {"variable": parts[0].graph.joined(parts)}


def _place(column: Value, words: Any) -> Value:
    """Return the place of each word among those known, behind them for others; a gap is the word for one."""
    known = [str(word) for word in words]
    if not known:
        return column.places_in(np.array([""], dtype=object), 0) * 0
    keys, places = [*known], list(range(len(known)))
    if GAP in known:
        keys, places = [*keys, ""], [*places, known.index(GAP)]
    found = column.places_in(np.array(keys, dtype=object), len(keys))
    return found.entries_of(np.array([*places, len(known)]))


def target_means(step: Any, X: Table) -> Answers:
    """Return the mean of the target for each word."""
    parts = []
    for name, words, means in zip(step.feature_names_in_, step.words_, step.means_, strict=True):
        place = _place(X[name], words).reshape(-1)
        parts.append(place.entries_of(np.vstack([means, step.mean_[None]])))
    return {"variable": parts[0].graph.joined(parts)}


def step_features(step: Any, X: Any) -> Answers:
    """Return numbers and the indicators of exceeding their thresholds."""
    rows = joined_columns(X)
    pairs = enumerate(step.thresholds_)
    steps = [(rows.column(j) > edges[None]).cast(DOUBLE) for j, edges in pairs if len(edges)]
    return {"variable": rows.graph.joined([rows, *steps])}


def comparable_numbers(step: Any, X: Any) -> Answers:
    """Return numbers in one unit, without gaps."""
    unit = ((joined_columns(X) - step.center_) / step.scale_).clip(-float(step.limit), float(step.limit))
    return {"variable": unit.is_nan().where(0.0, unit)}


def table_of_codes(step: Any, X: Value) -> Answers:
    """Return the columns of a matrix by name, codes as words."""
    found: dict[str, Value] = {}
    for j, name in enumerate((*step.words, *step.numbers)):
        column = X.column(j)
        if j < len(step.words):
            place = column.is_nan().where(float(MOST_CODES), column).cast(WHOLE)
            column = place.entries_of(np.array([*map(str, range(MOST_CODES)), ""], dtype=object))
        found[name] = column
    return {"variable": found}  # type: ignore[dict-item]  # a table


GRAPHS = {
    "ColumnReader": column_reader,
    "ComparableNumbers": comparable_numbers,
    "StepFeatures": step_features,
    "TableOfCodes": table_of_codes,
    "TargetMeans": target_means,
    "WordEncoder": word_encoder,
}
"""By the name of the class."""

TABLES = {"ColumnReader": (inputs_of_table, fed_columns)}
"""First steps that take tables -> the inputs of their graph, and what to feed them for a table."""
