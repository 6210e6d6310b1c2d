"""From a model file and a table to a loaded model and what it takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline

from pellucid.app.cli.errors import CommandError, refuse_missing
from pellucid.app.tables.column_reader import ColumnReader
from pellucid.app.tables.reading import check_has_column, read_table
from pellucid.app.tables.understanding import (
    CLASSIFICATION,
    NUMBER,
    REGRESSION,
    class_labels,
    guess_task,
    has_value,
    known_spellings,
    number_values,
    numbers_if_written,
)
from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator
from pellucid.core.files import load
from pellucid.core.input_rules import NO_TARGET
from pellucid.core.types import Array, Data
from pellucid.core.verification import last_step
from pellucid.proofs.training_data import fingerprint

if TYPE_CHECKING:
    from pellucid.app.table_model import TableModel
    from pellucid.vision.shipped_models import ShippedModels


def load_model(path: Path) -> Any:
    """Return the model in a file, of ours or of ONNX."""
    refuse_missing(path)
    if path.suffix.lower() == ".onnx":
        from pellucid.export import from_onnx

        return from_onnx(path)
    return load(path)


def load_shipped_or_own(given: str, shipped: ShippedModels) -> Any:
    """Return the model of a name that the package brings, or the one in a file."""
    if given in shipped.files:
        return shipped.model(given)
    if not Path(given).exists():
        names = ", ".join(f'"{name}"' for name in shipped.files)
        raise CommandError(f"model must be a file, or one of {names}, got {given}, which does not exist.")
    return load(Path(given))


def load_table_model(path: Path) -> TableModel:
    """Return the model in a file that 'pellucid fit' wrote."""
    from pellucid.app.table_model import TableModel

    model = load_model(path)
    if not isinstance(model, TableModel):
        raise CommandError("model must be written by 'pellucid fit', which keeps what its table looked like.")
    return model


def read_rows(path: Path) -> pd.DataFrame:
    """Return a table that has rows."""
    frame = read_table(path)
    if not len(frame):
        raise CommandError(f"table must have rows, got {path}, which has none.")
    return frame


def features_for(model: Any, frame: pd.DataFrame) -> Any:
    """Return the columns that a model was fitted on; refuse a table that lacks one, or has another kind in it."""
    if isinstance(model, Pipeline) and isinstance(model[0], ColumnReader):
        return frame  # the pipeline reads it, and says what does not fit
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        return read_numbers(frame, list(names))
    if frame.shape[1] != model.n_features_in_:
        raise CommandError(
            f"table must have {model.n_features_in_} columns besides the target, got {frame.shape[1]}: "
            f"{list(frame.columns)}. Keep only the features."
        )
    return read_numbers(frame, list(frame.columns)).to_numpy()


def takes_target(estimator: Any) -> bool:
    """Return whether a method learns from a target."""
    return card_of(type(estimator)).rules_for(estimator).target != NO_TARGET


def finds_clusters(model: Any) -> bool:
    """Return whether a model says which cluster a row belongs to, and knows no target."""
    estimator = model[-1] if isinstance(model, Pipeline) else model
    return isinstance(estimator, CertifiedEstimator) and not takes_target(estimator)


def read_numbers(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return some columns as floats."""
    return ColumnReader(dict.fromkeys(names, NUMBER)).fit(frame).transform(frame)


def unused_columns(model: Any, frame: pd.DataFrame) -> list[str]:
    """Return the columns of a table, the target aside, that a model does not look at."""
    names = getattr(model[0] if isinstance(model, Pipeline) else model, "feature_names_in_", None)
    known = {*(() if names is None else names), getattr(model, "target_", None)}
    return [] if names is None else [name for name in frame.columns if name not in known]


def training_target(model: Any, frame: pd.DataFrame, target: str) -> tuple[Array, Array]:
    """Return which rows of a table a model was fitted on, and their target values.

    Rows without a target, and rows of classes the model does not know, were left out of the fit.
    """
    check_has_column(frame, target)
    whole = numbers_if_written(frame[target])
    rows = has_value(whole).copy()
    column = whole[rows]
    if not is_classifier(model):
        return rows, number_values(column, target)
    if guess_task(column)[0] == REGRESSION and model.classes_.dtype.kind == "f":
        labels = column.to_numpy(dtype=np.float64)
    else:
        labels = known_spellings(class_labels(column, target), model.classes_)
    known = np.isin(labels, model.classes_)
    if not known.any():
        shown = ", ".join(str(label) for label in model.classes_[:5])
        raise CommandError(f"target must hold the classes of the model ({shown}), got a {CLASSIFICATION} of others.")
    rows[rows] = known
    return rows, labels[known]


def training_fingerprint(model: Any) -> str:
    """Return the fingerprint of the data that a model was fitted on."""
    first = model[0] if isinstance(model, Pipeline) else model
    found: str = (
        first.data_fingerprint_
        if isinstance(first, ColumnReader)
        else (model[-1] if isinstance(model, Pipeline) else model).data_fingerprint_
    )
    return found


def fingerprints(model: Any, X: Data, y: Array) -> set[str]:
    """Return the fingerprints that data may have: some estimators take the number of a class for its label."""
    if isinstance(model, Pipeline) and isinstance(model[0], ColumnReader):
        return {model[0].fingerprint_of(X, y)}
    estimator, seen = last_step(model, X)
    found = {fingerprint(seen, y)}
    if is_classifier(estimator):
        found.add(fingerprint(seen, np.searchsorted(estimator.classes_, y)))
    return found
