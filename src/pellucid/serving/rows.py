"""From the body of a request to a table, from predictions to an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import pandas as pd
from sklearn.base import is_classifier

from pellucid.table_model import TableModel

MOST_ROWS = 10_000
MOST_NAMED = 5
LEVEL = 0.9
"""Of intervals, if the request names none."""
PARTS = {"rows", "level"}
LARGEST = 1e300
PLAIN = (str, int, float, bool, type(None))


class RequestError(ValueError):
    """The request cannot be answered as it is; the message says why."""


def rows_and_level(body: bytes, columns: list[str]) -> tuple[pd.DataFrame, float]:
    """Return the table that a request asks about, and the level of its intervals."""
    try:
        asked = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"body must be JSON: {error}.") from None
    if not isinstance(asked, dict) or not {"rows"} <= set(asked) <= PARTS:
        raise RequestError('body must be an object like {"rows": [{...}], "level": 0.9}; level may be missing.')
    rows, level = asked["rows"], asked.get("level", LEVEL)
    if type(level) not in (int, float) or not 0.0 < level < 1.0:
        raise RequestError("level must be a number between 0 and 1.")
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise RequestError(f"rows must be a list of 1 to {MOST_ROWS:,} objects.")
    for number, row in enumerate(rows):
        _check_row(row, columns, number)
    return pd.DataFrame(rows, columns=columns, dtype=object), float(level)


def _check_row(row: Any, columns: list[str], number: int) -> None:
    if not isinstance(row, dict):
        raise RequestError(f"row {number} must be an object with a value for every column.")
    missing, unknown = [name for name in columns if name not in row], [name for name in row if name not in columns]
    if missing:
        raise RequestError(f"row {number} must have the columns {_some(missing)}; a value that is not known is null.")
    if unknown:
        raise RequestError(f"row {number} must have the columns of the model only, got {_some(unknown)}.")
    for name, value in row.items():
        if not isinstance(value, PLAIN) or (isinstance(value, int | float) and not abs(value) < LARGEST):
            raise RequestError(f"{name} in row {number} must be a finite number, a text, true, false or null.")


def answers(model: TableModel, frame: pd.DataFrame, level: float) -> list[Mapping[str, Any]]:
    """Return for every row a prediction, the interval of a number or the probabilities of classes, and its notes."""
    pairs = zip(_answers(model, frame, level), model.notes(frame), strict=True)
    return [{**answer, "notes": notes} for answer, notes in pairs]


def _answers(model: TableModel, frame: pd.DataFrame, level: float) -> list[Mapping[str, Any]]:
    predicted = model.predict(frame).tolist()
    if is_classifier(model):
        labels = [str(label) for label in model.classes_]
        chances = model.predict_proba(frame).tolist()
        pairs = zip(predicted, chances, strict=True)
        return [{"prediction": said, "probabilities": dict(zip(labels, row, strict=True))} for said, row in pairs]
    if model.errors_ is None:  # clusters have no truth to be off from
        return [{"prediction": said} for said in predicted]
    low, high = (ends.tolist() for ends in model.predict_interval(frame, level))
    triples = zip(predicted, low, high, strict=True)
    return [{"prediction": said, "low": least, "high": most, "level": level} for said, least, most in triples]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _some(names: list[str]) -> str:
    shown = ", ".join(name[:60] for name in names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"
