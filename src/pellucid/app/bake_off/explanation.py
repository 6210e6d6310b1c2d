"""Why a saved model answers as it does, row by row: in the way that suits its method."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from pellucid.app.bake_off.tree_story import (
    MOST_REASONS,
    ExampleRow,
    NotableRow,
    Reason,
    TreeStory,
    as_text,
    tell_trees,
)
from pellucid.app.table_model import SeenTable, TableModel
from pellucid.app.table_model.class_scores import LEAST_PROBABILITY
from pellucid.app.tables.preparation import readable_names
from pellucid.app.tables.step_features import STEP
from pellucid.app.tables.understanding import Columns
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array


def explain_rows(model: TableModel, frame: pd.DataFrame) -> TreeStory:
    """Return every row of a table with what the model says about it and why.

    A tree is told as the path through it, an ensemble of trees by its Shapley values, a linear method by what each
    column adds against a typical row; of any other method, by what would change if one column were typical.
    """
    reader, inner = model[0], without_reader(model)
    read, columns = reader.transform(frame), Columns(reader.kinds, {})
    wanted = [NotableRow("", place) for place in range(len(read))]
    unknown = np.full(len(read), "")
    parts = {name: reader.names_of(name) for name in reader.kinds}
    typical = typical_row(model.seen_, read)
    story = tell_trees(inner, columns, read, unknown, notable=wanted)
    if not story.examples:
        story = tell_linear(inner, columns, read, unknown, typical, parts, wanted)
    if not story.examples:
        story = tell_changes(inner, read, typical, parts)
    said = zip(story.examples, model.predict(frame), strict=True)  # costs may decide otherwise than the method
    return replace(story, examples=tuple(replace(one, prediction=as_text(value)) for one, value in said))


def without_reader(model: TableModel) -> TableModel:
    """Return the model of tables that are read already: all its steps but the first, and what it knows beside them."""
    inner = copy(model)
    inner.steps = model.steps[1:]
    return inner


def typical_row(seen: SeenTable, read: pd.DataFrame) -> pd.DataFrame:
    """Return one row like the table that was learned from: medians, the most frequent words.

    What was not kept, dates and texts, is as in the first row asked about.
    """
    row = read.iloc[[0]].copy()
    for name in read.columns:
        if len(seen.numbers.get(name, ())):
            quantiles = seen.numbers[name]
            row[name] = float(quantiles[len(quantiles) // 2])
        elif seen.words.get(name):
            row[name] = pd.Categorical([next(iter(seen.words[name]))])
    return row


def tell_changes(
    model: TableModel, read: pd.DataFrame, typical: pd.DataFrame, parts: dict[str, list[str]]
) -> TreeStory:
    """Return what each column changes: the answer as it is, less the answer if the column were typical."""
    said, predictions = _answers(model, read), np.asarray(model.predict(read))
    places = np.searchsorted(model.classes_, predictions) if is_classifier(model) else np.zeros(len(read), dtype=int)
    own = np.arange(len(read)), places
    added, again = {}, np.zeros(len(read), dtype=int)
    for name, columns in parts.items():
        asked = read.assign(**{column: typical[column].iloc[again].array for column in columns})
        added[name] = said[own] - _answers(model, asked)[own]
    examples = []
    for i in range(len(read)):
        sizes = {name: abs(changes[i]) for name, changes in added.items()}
        largest = sorted(sizes, key=lambda name: -sizes[name])[:MOST_REASONS]
        reasons = tuple(Reason(name, as_text(read[parts[name][0]].iloc[i]), float(added[name][i])) for name in largest)
        examples.append(ExampleRow(as_text(predictions[i]), "", reasons=reasons))
    event = "the log of the probability of the predicted class" if is_classifier(model) else "the prediction"
    return TreeStory((), tuple(examples), event=event)


def _answers(model: TableModel, read: pd.DataFrame) -> Array:
    """Return predictions as one column, or the logarithms of the probabilities of all classes."""
    if is_classifier(model):
        return np.asarray(np.log(np.maximum(model.predict_proba(read), LEAST_PROBABILITY)))
    return np.asarray(model.predict(read), dtype=np.float64)[:, None]


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
