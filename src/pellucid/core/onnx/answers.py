"""The answers of a fitted model as a graph: found by its method card, or in the list of what has none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from pellucid.core.cards import card_of
from pellucid.core.onnx.graph import Answers, Graph, NotExportableError, Value
from pellucid.core.types import Array, Data

Rows: TypeAlias = Value | Mapping[str, Value]
"""A matrix, or the columns of a table by name, each of shape (rows, 1)."""
Writer: TypeAlias = Callable[[Any, Any], Any]

ROWS_NAME = "X"
"""Name of the input of a model that takes a matrix."""
ADAPTERS = (
    "pellucid.core.onnx.transformers",
    "pellucid.app.tables.tables_in_onnx",
    "pellucid.app.table_model.table_model_in_onnx",
)
"""Modules with graphs of what has no method card: the transformers that our own pipelines use, and table models."""


def answers(model: Any, X: Rows) -> Answers:
    """Return what a fitted model says about rows, by name: label, probabilities, scores, variable."""
    writer = _adapters().get(type(model).__name__)
    if writer is None and isinstance(model, Pipeline):
        if model[-1] is None or isinstance(model[-1], str):
            return {"variable": joined_columns(through(model, X))}
        return answers(model[-1], through(model[:-1], X))
    return cast("Answers", (writer or _writer_of_card(model))(model, X))


def through(steps: Any, X: Rows) -> Rows:
    """Return rows as they come out of the steps of a pipeline."""
    for _, step in steps.steps:
        if step is not None and not isinstance(step, str):  # such a word lets everything pass
            X = transformed(step, X)
    return X


def transformed(step: Any, X: Rows) -> Rows:
    """Return what a fitted transformer makes of rows."""
    if isinstance(step, str):
        return X
    if isinstance(step, Pipeline):
        return through(step, X)
    given = answers(step, X)
    if not isinstance(given, dict) or "variable" not in given:
        raise NotExportableError(
            f"{type(step).__name__} must be the last step to be exported: its graph says which class or cluster a row "
            "belongs to, not what it becomes."
        )
    return cast("Rows", given["variable"])


def joined_columns(X: Rows) -> Value:
    """Return the columns of a table side by side; all are numbers, or all are words."""
    if isinstance(X, Value):
        return X
    columns = list(X.values())
    if len({column.dtype for column in columns}) > 1:
        raise NotExportableError(
            "columns of words must become numbers before they are put beside numbers, to be exported. Encode them."
        )
    return columns[0].graph.joined(columns)


def inputs_of(model: Any, graph: Graph) -> Rows:
    """Return the inputs of a model's graph: one matrix, or where the first step reads a table, its columns."""
    first = _first_step(model)
    table = _tables().get(type(first).__name__)
    if table is not None:
        return cast("Rows", table[0](first, graph))
    if not hasattr(first, "n_features_in_"):  # of functions on rows of any kind
        raise NotExportableError(
            f"{type(first).__name__} must have a kernel with a name to be exported, got a function."
        )
    return graph.input(ROWS_NAME, n_columns=first.n_features_in_)


def _first_step(model: Any) -> Any:
    """Return what sees the rows as they are given: of a pipeline the first step that does something."""
    if not isinstance(model, Pipeline):
        return model
    return _first_step(next(step for _, step in model.steps if step is not None and not isinstance(step, str)))


def feeds_of(model: Any, X: Data) -> dict[str, Array]:
    """Return rows as the inputs of a model's graph take them."""
    first = _first_step(model)
    table = _tables().get(type(first).__name__)
    if table is not None:
        return cast("dict[str, Array]", table[1](first, X))
    return {ROWS_NAME: np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)}


@cache
def _tables() -> dict[str, tuple[Any, Any]]:
    return {name: own for module in ADAPTERS for name, own in getattr(import_module(module), "TABLES", {}).items()}


@cache
def _adapters() -> dict[str, Writer]:
    return {name: writer for module in ADAPTERS for name, writer in import_module(module).GRAPHS.items()}


def _writer_of_card(model: Any) -> Writer:
    kind = type(model)
    try:
        card = card_of(kind)
    except LookupError:
        raise NotExportableError(
            f"model must be an estimator of pellucid, or a pipeline of such and of the transformers that model files "
            f"know, got {kind.__module__}.{kind.__qualname__}. Of a search export best_estimator_."
        ) from None
    if not card.onnx:
        raise NotExportableError(
            f"{card.name} has no graph: it says something about the rows it was fitted to, and about no others."
        )
    if " " in card.onnx:
        raise NotExportableError(card.onnx)
    module, name = card.onnx.split(":")
    return cast("Writer", getattr(import_module(module), name))
