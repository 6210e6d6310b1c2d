"""The column to predict: whether it is a class or a number, and which rows have it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.core.checks import check_one_of
from pellucid.core.types import Array
from pellucid.tables.errors import TableError
from pellucid.tables.reading import check_has_column
from pellucid.tables.understanding import is_flag, is_numeric

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = ("auto", CLASSIFICATION, REGRESSION)
MOST_WHOLE_CLASSES = 10
"""Whole numbers with at most this many different values are taken for classes."""
MOST_CLASSES = 100
FEWEST_PER_CLASS = 5
"""Rows of a class that can be split into learning, validation and test rows."""
MOST_SHOWN = 5


@dataclass(frozen=True)
class Target:
    """The values to predict, the rows of the table that have one, and what is said about them."""

    name: str
    task: str
    reason: str
    values: Array
    rows: Array
    """Which rows of the table are used, of dtype bool."""
    notes: tuple[str, ...] = ()

    @property
    def is_classification(self) -> bool:
        """Whether the target is a class."""
        return self.task == CLASSIFICATION


def choose_target(frame: pd.DataFrame, name: str, task: str = "auto") -> Target:
    """Return the target of a table; rows without one, and classes too small to split, are left out with a note.

    Examples
    --------
    >>> frame = pd.DataFrame({"y": ["no", "yes"] * 5 + [None]})
    >>> target = choose_target(frame, "y")
    >>> target.task, target.reason
    ('classification', 'its values are words')
    >>> target.notes
    ('1 row without y was left out.',)
    """
    check_one_of(TASKS, task=task)
    check_has_column(frame, name)
    column = frame[name]
    present = column.notna()
    if not present.any():
        raise TableError(f"target must have values, got {name!r}, which is empty.")
    guess, reason = guess_task(column[present])
    kind, reason = (guess, reason) if task == "auto" else (task, "you said so")
    rows, notes = present.to_numpy().copy(), []
    if not present.all():
        notes.append(f"{_rows(int((~present).sum()))} without {name} {_was(int((~present).sum()))} left out.")
    if kind == REGRESSION:
        return Target(name, kind, reason, number_values(column[present], name), rows, tuple(notes))
    labels = class_labels(column[present], name)
    kept, note = _large_classes(labels, name)
    rows[rows] = kept
    return Target(name, kind, reason, labels[kept], rows, (*notes, *note))


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


def _large_classes(labels: Array, name: str) -> tuple[Array, list[str]]:
    """Return which rows belong to classes that are large enough, and a note about the others."""
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
