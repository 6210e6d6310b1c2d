"""Why a saved model answers as it does, row by row: in the way that suits its method."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.base import is_classifier

from pellucid.bake_off.linear_story import tell_linear
from pellucid.bake_off.notable_rows import NotableRow
from pellucid.bake_off.tree_story import MOST_REASONS, ExampleRow, Reason, TreeStory, as_text, tell_trees
from pellucid.core.types import Array
from pellucid.table_model import SeenTable, TableModel
from pellucid.table_model.class_scores import LEAST_PROBABILITY
from pellucid.tables.understanding import Columns


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
