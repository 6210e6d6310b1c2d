"""A table in a text file as training data: rows of numbers or words, and the target as the model knows it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.index import as_seen
from pellucid.proofs.model_file import StoredModel
from pellucid.proofs.training_data import TrainingData

SEPARATORS = ",;\t|"
MISSING = frozenset({"", "na", "nan", "null", "none", "?"})
"""How a cell says that nothing is in it, in small letters."""


class UnfitTableError(ValueError):
    """A table that cannot be the training data of a model."""


def training_data(path: str | Path, targets: list[str], weights: str | None, model: StoredModel) -> TrainingData:
    """Return the table as the fit of a model saw it; columns are found by the names that the model knows."""
    fitted = model.attributes
    columns = read_columns(path)
    for name in (*targets, *([weights] if weights else [])):
        if name not in columns:
            raise UnfitTableError(f"column must be one of {list(columns)}, got {name!r}.")
    known = getattr(fitted, "feature_names_in_", None)
    left = [name for name in columns if name not in targets and name != weights]
    names = left if known is None else [str(name) for name in known]
    absent = [name for name in names if name not in columns]
    width = getattr(fitted, "n_features_in_", len(names))
    if absent or width != len(names):
        raise UnfitTableError(f"table must have the {width} columns of the fit, got {len(left)}; absent: {absent}.")
    X = _matrix([columns[name] for name in names])
    weight = None if weights is None else _numbers(columns[weights], weights)
    y, classes = _target([columns[name] for name in targets], targets, getattr(fitted, "classes_", None))
    data = TrainingData(X, y, weight, classes, given=(X, y if not len(classes) else classes[y], weight))
    if weight is not None and not weight.all():  # a row of weight 0 is not there
        kept = np.flatnonzero(weight)
        data = replace(data, X=X[kept], y=None if y is None else y[kept], weight=weight[kept], kept=kept)
    return as_seen(model.name, model.parameters, data) if len(classes) else data


def read_columns(path: str | Path) -> dict[str, list[str]]:
    """Return the cells of each column as they are written."""
    text = Path(path).read_text(encoding="utf-8-sig")
    first = text.partition("\n")[0]
    rows = list(csv.reader(text.splitlines(), delimiter=max(SEPARATORS, key=first.count)))
    head, *body = [row for row in rows if row]
    if not body or any(len(row) != len(head) for row in body) or len(set(head)) != len(head):
        raise UnfitTableError(f"{path} must have a first row of different names and rows as long as it.")
    return {name: [row[place] for row in body] for place, name in enumerate(head)}


def _matrix(columns: list[list[str]]) -> Array:
    """Return columns side by side: as numbers if all are, else as what each cell is."""
    read = [_as_numbers(cells) for cells in columns]
    if all(column is not None for column in read):
        return np.column_stack(read)  # type: ignore[arg-type]  # none is None
    mixed = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, (cells, numbers) in enumerate(zip(columns, read, strict=True)):
        mixed[:, place] = cells if numbers is None else numbers
    return mixed


def _as_numbers(cells: list[str]) -> Array | None:
    try:
        return np.array([np.nan if cell.strip().lower() in MISSING else float(cell) for cell in cells])
    except ValueError:
        return None


def _numbers(cells: list[str], name: str) -> Array:
    found = _as_numbers(cells)
    if found is None or not np.isfinite(found).all():
        raise UnfitTableError(f"column {name!r} must hold numbers in every row, but it does not.")
    return found


def _target(columns: list[list[str]], names: list[str], labels: Any) -> tuple[Array | None, Array]:
    """Return the target as numbers, or as codes of the labels that the model knows, with those labels."""
    nothing = np.empty(0)
    if not columns:
        return None, nothing
    if labels is None:
        numbers = [_numbers(cells, name) for cells, name in zip(columns, names, strict=True)]
        return (numbers[0] if len(numbers) == 1 else np.column_stack(numbers)), nothing
    classes = np.asarray(labels)
    cells = columns[0]
    if classes.dtype.kind in "OSU":
        words = np.array(cells, dtype=object)
    elif classes.dtype.kind == "b":
        words = np.array([cell.strip().lower() in ("true", "1", "1.0") for cell in cells])
    else:
        words = _numbers(cells, names[0]).astype(classes.dtype)
    code = {label: place for place, label in enumerate(classes.tolist())}
    unknown = sorted({str(word) for word in words.tolist() if word not in code})
    if unknown:
        raise UnfitTableError(f"target must have the labels {list(code)} only, got {unknown[:5]}.")
    return np.array([code[word] for word in words.tolist()]), classes
