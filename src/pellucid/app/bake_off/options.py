"""What a user may ask of a bake-off beside the target: columns, rows that belong together, weights, methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pellucid.app.bake_off.contestants import Contestant
from pellucid.app.tables.dates import DATE, date_kind, read_dates
from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import (
    NUMBER,
    WORDS,
    Columns,
    Target,
    all_columns,
    class_labels,
    has_value,
    is_numeric,
    known_spellings,
    number_values,
    numbers_if_written,
    refuse_useless,
)
from pellucid.core.checks import did_you_mean, find_name
from pellucid.core.types import Array
from pellucid.model_selection import TestVault

USER_SAID, NAMES_GROUPS, HOLDS_WEIGHTS = "you said so", "it names the groups", "it holds the weights"
WISHED = (USER_SAID, NAMES_GROUPS, HOLDS_WEIGHTS)
"""Reasons to leave a column out that the user gave."""
TAKES_NO_WEIGHTS = "it takes no weights"
USELESS = ("it is empty", "it never changes", "its values are lists", "all its numbers are infinite")
"""Reasons to leave a column out against which no wish helps."""


@dataclass(frozen=True)
class Options:
    """Wishes about columns, rows and methods; see :func:`bake_off`."""

    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    metric: str | pd.DataFrame | None = None
    group: str | None = None
    time_column: str | None = None
    weights: str | None = None
    test: pd.DataFrame | None = None
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    coerce: bool = True
    simple: bool = False
    also: Mapping[str, Any] = field(default_factory=dict)
    memory: float | None = None

    def check(self, frame: pd.DataFrame, target: str) -> None:
        """Refuse names that the table does not have, and wishes that contradict each other."""
        named = {
            "drop": self.drop,
            "keep": self.keep,
            "group": (self.group,),
            "time-column": (self.time_column,),
            "weights": (self.weights,),
        }
        for option, names in named.items():
            for name in names:
                if name is not None and name not in frame.columns:
                    meant = did_you_mean(name, frame.columns)
                    raise TableError(
                        f"{option} must name one of the columns {list(frame.columns)}, got {name!r}.{meant}"
                    )
                if name == target:
                    raise TableError(f"{option} must name another column than the target, got {name!r}.")
        both = sorted(set(self.drop) & set(self.keep))
        if both:
            raise TableError(f"drop and keep must name different columns, got {both[0]!r} in both.")
        if self.group is not None and self.time_column is not None:
            raise TableError(
                "group and time-column must not be given together: splits keep groups whole or go forward in time. "
                "Leave one of them out."
            )


@dataclass(frozen=True)
class RowFacts:
    """What is known of each row beside its columns: its weight, its group, its time; None where nothing was said."""

    weights: Array | None = None
    groups: Array | None = None
    order: Array | None = None

    def of(self, rows: Array) -> RowFacts:
        """Return the facts of some rows."""
        parts = (self.weights, self.groups, self.order)
        return RowFacts(*(None if part is None else part[rows] for part in parts))


def understood(rows: pd.DataFrame, target: str, options: Options, known: Columns | None = None) -> Columns:
    """Return how the columns are understood, as far as the user does not know better.

    ``known`` is how all rows say that they are to be understood, where ``rows`` are a draw of them.
    """
    aside = dict.fromkeys(options.drop, USER_SAID)
    aside |= {options.group: NAMES_GROUPS} if options.group else {}
    aside |= {options.weights: HOLDS_WEIGHTS} if options.weights else {}
    aside = {name: reason for name, reason in aside.items() if name not in options.keep}
    found = all_columns(rows.drop(columns=[*aside, target]), coerce=options.coerce) if known is None else known
    found = refuse_useless(found.without(aside), target)
    kinds, left_out = dict(found.kinds), dict(found.left_out)
    for name in options.keep:
        if left_out.get(name) in USELESS:
            raise TableError(f"keep must name columns that say something, got {name!r}: {left_out[name]}.")
        if name in left_out:
            del left_out[name]
            kinds[name] = NUMBER if is_numeric(rows[name]) else WORDS
    in_order = {name: kinds[name] for name in rows.columns if name in kinds}
    return Columns(in_order, {**left_out, **aside}, found.doubts)


def row_facts(rows: pd.DataFrame, options: Options) -> RowFacts:
    """Return the weights, groups and times of rows as the named columns give them."""
    weights = None if options.weights is None else weights_in(rows[options.weights])
    groups = None if options.group is None else _groups(rows[options.group])
    order = None if options.time_column is None else _moments(rows[options.time_column])
    return RowFacts(weights, groups, order)


def own_test_rows(options: Options, target: Target) -> tuple[pd.DataFrame, Array, list[str]]:
    """Return the rows of the user's test table that have a known target, their values, and what was left out."""
    table = options.test
    assert table is not None  # asked for
    needed = [target.name, *([options.weights] if options.weights else [])]
    missing = [name for name in needed if name not in table.columns]
    if missing:
        raise TableError(f"test must have the columns of the table, but {missing} {_are(missing)} missing.")
    column = numbers_if_written(table[target.name]) if options.coerce else table[target.name]
    present = has_value(column)
    if not present.any():
        raise TableError(f"test must have values of the target, got {target.name!r}, which is empty there.")
    rows = table[present]
    notes: list[str] = []
    if not target.is_classification:
        return rows, number_values(column[present], target.name), notes
    labels = class_labels(column[present], target.name)
    if options.coerce:
        labels = known_spellings(labels, np.unique(target.values))
    known = np.isin(labels.astype(str), np.unique(target.values).astype(str))
    if not known.any():
        raise TableError(f"test must hold classes of the table, got {sorted({str(one) for one in labels})[:5]}.")
    if not known.all():
        notes.append(f"{(~known).sum():,} rows of the test table were left out: the table has no row of their class.")
    return rows[known], labels[known].astype(target.values.dtype), notes


def check_classes_to_learn(target: Target, vault: TestVault) -> None:
    """Refuse a split by groups or time that leaves less than two classes to learn from."""
    if target.is_classification and len(np.unique(vault.learning[1])) < 2:
        raise TableError(
            f"table cannot be split as asked: all rows to learn from are {vault.learning[1][0]}. "
            "Leave --group or --time-column out."
        )


def chosen_contestants(
    contestants: Sequence[Contestant], options: Options
) -> tuple[list[Contestant], list[tuple[str, str]]]:
    """Return the methods to compare, the baseline always among them, and those that were taken out, with the reason."""
    names = [one.name for one in contestants if not one.is_baseline]
    try:
        only = {find_name(name, names, what="only") for name in options.only}
        without = {find_name(name, names, what="without") for name in options.without}
    except ValueError as error:
        raise TableError(str(error)) from None
    kept, out = [], []
    for one in contestants:
        unwished = not one.is_baseline and ((only and one.name not in only) or one.name in without)
        if unwished:
            out.append((one.name, USER_SAID))
        elif options.weights is not None and not takes_weights(one):
            out.append((one.name, TAKES_NO_WEIGHTS))
        else:
            kept.append(one)
    if all(one.is_baseline for one in kept):
        reason = TAKES_NO_WEIGHTS if any(why == TAKES_NO_WEIGHTS for _, why in out) else "nothing is left"
        raise TableError(f"only and without must leave a method to choose, got none ({reason}). Name others.")
    return kept, out


def takes_weights(contestant: Contestant) -> bool:
    """Return whether a method can be fitted with weights."""
    from sklearn.utils.validation import has_fit_parameter

    return bool(has_fit_parameter(contestant.make(), "sample_weight"))


def weights_in(column: pd.Series) -> Array:
    """Return the weights in a column, or raise a TableError if they are none."""
    values = pd.to_numeric(numbers_if_written(column), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        shown = column.iloc[int(bad.argmax())]
        raise TableError(f"weights must be numbers of at least 0 in every row, got {shown} in {column.name!r}.")
    if not values.any():
        raise TableError(f"weights must not all be 0, got {column.name!r}.")
    return values


def _groups(column: pd.Series) -> Array:
    """Return the number of each row's group; a row without one is a group of its own."""
    codes = pd.factorize(column)[0]
    alone = codes < 0
    codes[alone] = codes.max() + 1 + np.arange(alone.sum())
    if len(np.unique(codes)) == len(codes):
        raise TableError(f"group must name a column whose values repeat, got {column.name!r}, where all differ.")
    return codes


def _moments(column: pd.Series) -> Array:
    """Return when each row was, as numbers."""
    if is_numeric(column) and not pd.api.types.is_datetime64_any_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        present = column.dropna()
        if present.empty:
            raise TableError(f"time-column must have a value in every row, got {column.name!r}, which is empty.")
        is_date = pd.api.types.is_datetime64_any_dtype(column)
        kind = DATE if is_date else date_kind(present.astype(str))
        if kind is None:
            example = str(present.iloc[0])[:40]
            got = f"{column.name!r} with values like {example!r}"
            raise TableError(f"time-column must hold dates or numbers, got {got}.")
        moments = read_dates(column, kind)
        values = np.where(moments.isna(), np.nan, moments.astype("datetime64[us]").astype("int64"))
    if np.isnan(values).any():
        raise TableError(f"time-column must have a value in every row, got {column.name!r} with gaps. Drop such rows.")
    return values


def _are(names: Sequence[str]) -> str:
    return "are" if names[1:] else "is"
