"""From the body of a request to a table, from predictions to an answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import pandas as pd
from sklearn.base import is_classifier

from pellucid.table_model import TableModel
from pellucid.tables import read_table

MOST_ROWS = 10_000
MOST_NAMED = 5
MOST_SHOWN = 100
"""Rows of a pasted table whose answers are shown; all are in the file."""
PASTED = "pasted.csv"
LEVEL = 0.9
"""Of intervals, if the request names none."""
LARGEST = 1e300
PLAIN = (str, int, float, bool, type(None))


class RequestError(ValueError):
    """The request cannot be answered as it is; the message says why."""


def rows_and_level(body: bytes, columns: list[str]) -> tuple[pd.DataFrame, float]:
    """Return the table that a request asks about, and the level of its intervals."""
    asked = _object(body, {"rows"}, '{"rows": [{...}], "level": 0.9}')
    rows = asked["rows"]
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise RequestError(f"rows must be a list of 1 to {MOST_ROWS:,} objects.")
    for number, row in enumerate(rows):
        _check_row(row, columns, number)
    return pd.DataFrame(rows, columns=columns, dtype=object), asked["level"]


def _object(body: bytes, needed: set[str], example: str) -> dict[str, Any]:
    """Return the object in a body, with its level; refuse one with other parts than those needed."""
    try:
        asked = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"body must be JSON: {error}.") from None
    if not isinstance(asked, dict) or not needed <= set(asked) <= needed | {"level"}:
        raise RequestError(f"body must be an object like {example}; level may be missing.")
    level = asked.get("level", LEVEL)
    if type(level) not in (int, float) or not 0.0 < level < 1.0:
        raise RequestError("level must be a number between 0 and 1.")
    return {**asked, "level": float(level)}


def table_and_level(body: bytes) -> tuple[pd.DataFrame, float]:
    """Return the table that was pasted as text, CSV or what a spreadsheet copies, and the level of its intervals."""
    asked = _object(body, {"csv"}, '{"csv": "size,town\\n1.5,Oslo", "level": 0.9}')
    text = asked["csv"]
    if not isinstance(text, str) or not text.strip():
        raise RequestError("csv must be a text with a line of names and a line for every row, got nothing to read.")
    with TemporaryDirectory() as folder:  # as a file, it is read as every other table is
        path = Path(folder) / PASTED
        path.write_text(text, encoding="utf-8")
        frame = read_table(path)
    if len(frame) > MOST_ROWS:
        raise RequestError(f"csv must have at most {MOST_ROWS:,} rows, got {len(frame):,}. Use 'pellucid predict'.")
    return frame, asked["level"]


def table_answers(model: TableModel, frame: pd.DataFrame, level: float) -> Mapping[str, Any]:
    """Return the answers for a table: their columns, the first rows, and the whole table with them as CSV."""
    flat = [
        {
            "prediction": one["prediction"],
            **{name: one[name] for name in ("low", "high") if name in one},
            **{f"probability {label}": chance for label, chance in one.get("probabilities", {}).items()},
            "notes": "; ".join(one["notes"]),
        }
        for one in answers(model, frame, level)
    ]
    found = pd.DataFrame(flat, index=frame.index)
    shown = json.loads(found.head(MOST_SHOWN).to_json(orient="values", double_precision=10))
    taken = {name: _free(name, frame) for name in found.columns}
    whole = pd.concat([frame, found.rename(columns=taken)], axis=1).to_csv(index=False)
    return {"columns": list(found.columns), "rows": shown, "n_rows": len(frame), "csv": whole}


def _free(name: str, frame: pd.DataFrame) -> str:
    """Return a name that no column of a table has."""
    while name in frame.columns:
        name = f"{name} (new)"
    return name


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
