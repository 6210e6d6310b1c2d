"""Why a linear method answers as it does: coefficient times value, column by column, against the average row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from pellucid.bake_off.notable_rows import NotableRow
from pellucid.bake_off.tree_story import MOST_REASONS, ExampleRow, Reason, TreeStory, as_text
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.tables.preparation import readable_names
from pellucid.tables.step_features import STEP
from pellucid.tables.understanding import Columns

MOST_ROWS = 2000
"""Of those learned from, that make the average row."""
LONGEST_VALUE = 40


def tell_linear(
    model: Pipeline,
    columns: Columns,
    X: pd.DataFrame,
    y: Array,
    learning: pd.DataFrame,
    parts: dict[str, list[str]],
    notable: Sequence[NotableRow],
) -> TreeStory:
    """Return some rows kept aside with what each column adds; an empty story if the method has no coefficients.

    What a column adds is its coefficients times how far the row is from the average of those learned from. ``parts``
    are the columns of X that stand for each of the table.
    """
    method = model[-1]
    if not hasattr(method, "coef_") or not notable:
        return TreeStory()
    some = some_rows(len(learning), MOST_ROWS)
    average = _dense(model[:-1].transform(learning.iloc[some])).mean(axis=0)
    rows = X.iloc[[one.place for one in notable]]
    distance = _dense(model[:-1].transform(rows)) - average
    owners = _owners(readable_names(model[:-1].get_feature_names_out(), columns), parts)
    coefficients = np.atleast_2d(method.coef_)
    predictions = np.asarray(model.predict(rows))
    examples = []
    for i, one in enumerate(notable):
        weights = coefficients[0]
        if len(coefficients) > 1:  # of several classes, the one that the model says
            weights = coefficients[int(np.searchsorted(method.classes_, predictions[i]))]
        added: dict[str, float] = {}
        for owner, share in zip(owners, distance[i] * weights, strict=True):
            added[owner] = added.get(owner, 0.0) + float(share)
        largest = sorted(added, key=lambda name: -abs(added[name]))[:MOST_REASONS]
        reasons = tuple(Reason(name, shown_value(rows.iloc[i], parts.get(name, [])), added[name]) for name in largest)
        examples.append(ExampleRow(as_text(predictions[i]), as_text(y[one.place]), reasons=reasons, title=one.title))
    return TreeStory((), tuple(examples), event=_event(method))


def _event(method: Any) -> str:
    if not is_classifier(method):
        return "the prediction"
    return f"the score of {method.classes_[-1]}" if len(method.classes_) == 2 else "the score of the predicted class"


def _owners(names: Sequence[str], parts: dict[str, list[str]]) -> list[str]:
    """Return the column of the table that each prepared column belongs to; a product belongs to itself."""
    by_length = sorted(parts, key=len, reverse=True)
    whole = {part: name for name, columns in parts.items() for part in columns}

    def owner(name: str) -> str:
        if " × " in name:
            return name
        plain = name.partition(STEP)[0].removesuffix(" is missing")
        if plain in whole:
            return whole[plain]
        return next((column for column in by_length if plain.startswith((f"{column}:", f"{column} has "))), name)

    return [owner(name) for name in names]


def shown_value(row: pd.Series, columns: Sequence[str]) -> str:
    """Return what a row has in a column of the table, its parts joined."""
    if not len(columns):
        return ""
    value = row[columns[0]]
    if isinstance(value, float):
        if np.isnan(value):
            return "missing"
        if len(columns) > 1:  # a date: its days since 1970
            return str((pd.Timestamp("1970-01-01") + pd.Timedelta(days=value)).date())
        return f"{value:.6g}"
    return str(value)[:LONGEST_VALUE]


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix, dtype=np.float64)
