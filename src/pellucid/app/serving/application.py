"""The application: what each address answers, and what it refuses."""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
from jinja2 import Environment, StrictUndefined
from sklearn.base import is_classifier
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

import pellucid
from pellucid.app.serving.local_requests import LOCAL_ONLY, RequestError, read_body, read_object
from pellucid.app.table_model import SeenTable, TableModel
from pellucid.app.tables import read_table
from pellucid.app.tables.dates import DATES
from pellucid.app.tables.understanding import FLAG, NUMBER, TEXT, WORD_KINDS
from pellucid.app.tables.written_numbers import DURATION, WITH_COMMA
from pellucid.core.types import Array

MOST_ROWS = 10_000
MOST_NAMED = 5
MOST_SHOWN = 100
"""Rows of a pasted table whose answers are shown; all are in the file."""
PASTED = "pasted.csv"
LEVEL = 0.9
"""Of intervals, if the request names none."""
LARGEST = 1e300
PLAIN = (str, int, float, bool, type(None))


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
    asked = read_object(body, needed, {"level"}, example)
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


def _some(names: list[str]) -> str:
    shown = ", ".join(name[:60] for name in names[:MOST_NAMED])
    return shown if len(names) <= MOST_NAMED else f"{shown} and {len(names) - MOST_NAMED} more"


MOST_BYTES = 2_000_000
PAGE = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True).from_string(
    files("pellucid.app.serving").joinpath("page.html").read_text(encoding="utf-8")
)


def serving_application(model: TableModel) -> Starlette:
    """Return the application that answers for one model: ``GET /``, ``/model``, ``POST /predict``, ``/table``.

    Parameters
    ----------
    model : TableModel
        What ``pellucid fit`` or ``pellucid cluster`` saved, as ``pellucid.load`` returns it.
    """
    columns = list(model[0].kinds)
    fields = fields_of(model)
    about = {
        "target": model.target_,
        "method": type(model[-1]).__name__,
        "certificate": model[-1].certificate_.verdict,
        "columns": [{"name": one.name, "kind": one.kind, "example": one.example} for one in fields],
        "pellucid": pellucid.__version__,
    }

    async def page(_request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        text = PAGE.render(fields=fields, about=about, nonce=nonce)
        policy = f"default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src 'self'"
        return HTMLResponse(text, headers={"Content-Security-Policy": f"{policy}; base-uri 'none'; form-action 'none'"})

    async def describe(_request: Request) -> Response:
        return JSONResponse(about)

    def of_rows(body: bytes) -> dict[str, Any]:
        return {"predictions": answers(model, *rows_and_level(body, columns))}

    def of_table(body: bytes) -> Mapping[str, Any]:
        return table_answers(model, *table_and_level(body))

    def answering(answer: Callable[[bytes], Mapping[str, Any]]) -> Callable[[Request], Awaitable[Response]]:
        async def respond(request: Request) -> Response:
            try:
                body = await read_body(request, MOST_BYTES, remedy="Send fewer rows at a time.")
                found = await run_in_threadpool(answer, body)
            except ValueError as error:  # the library's own sentences, too
                return JSONResponse({"error": " ".join(str(error).split())}, getattr(error, "status", 400))
            return JSONResponse({"target": model.target_, **found})

        return respond

    routes = [
        Route("/", page),
        Route("/model", describe),
        Route("/predict", answering(of_rows), methods=["POST"]),
        Route("/table", answering(of_table), methods=["POST"]),
    ]
    return Starlette(routes=routes, middleware=[LOCAL_ONLY])


MOST_CHOICES = 40
"""Words that are chosen from a list; more are typed, with those as suggestions."""
MOST_SUGGESTED = 200
USUAL = (0.1, 0.9)
"""Shares of the rows below the ends of the range that is called usual."""
SELECT, SUGGEST, NUMBERS, DAY, MOMENT, WRITTEN, LINES = "select", "suggest", "number", "date", "moment", "text", "lines"
"""Ways to ask."""


@dataclass(frozen=True)
class Field:
    """One column: its kind, a typical value, how it is asked for, what may be chosen, and a hint."""

    name: str
    kind: str
    example: str | float
    way: str
    choices: tuple[str, ...] = ()
    hint: str = ""


def fields_of(model: TableModel) -> list[Field]:
    """Return a field for every column that the model reads."""
    reader = model[0]
    return [_field(name, kind, model.seen_, name in reader.with_hours_) for name, kind in reader.kinds.items()]


def _field(name: str, kind: str, seen: SeenTable, with_hours: bool) -> Field:
    gaps = _gaps(seen.gaps.get(name, 0.0))
    if kind == FLAG:
        return Field(name, kind, "yes", SELECT, ("yes", "no"), gaps)
    if kind in WORD_KINDS:
        words = tuple(seen.words.get(name, {}))
        way = SELECT if words and len(words) <= MOST_CHOICES else SUGGEST
        hint = gaps if way == SELECT else _joined(f"{len(words):,} words are known", gaps)
        return Field(name, kind, words[0] if words else "", way, tuple(sorted(words[:MOST_SUGGESTED], key=_rank)), hint)
    if kind == TEXT:
        return Field(name, kind, "", LINES)
    if kind in DATES:
        return Field(name, kind, "2024-12-31", MOMENT if with_hours else DAY)
    quantiles = seen.numbers.get(name)
    if quantiles is None or not len(quantiles):
        return Field(name, kind, 0.0 if kind == NUMBER else "", NUMBERS if kind == NUMBER else WRITTEN)
    typical = float(f"{quantiles[len(quantiles) // 2]:.4g}")
    hint = _joined(_usual(quantiles, kind), gaps)
    return Field(name, kind, typical if kind == NUMBER else _written(typical, kind),
                 NUMBERS if kind == NUMBER else WRITTEN, hint=hint)  # fmt: skip


def _usual(quantiles: Array, kind: str) -> str:
    low, high = (_written(float(quantiles[round(share * (len(quantiles) - 1))]), kind) for share in USUAL)
    return f"usually {low} to {high}" if low != high else f"usually {low}"


def _gaps(share: float) -> str:
    return f"empty in {100 * share:.0f} % of the rows" if share >= 0.005 else ""


def _joined(*hints: str) -> str:
    return "; ".join(filter(None, hints))


def _written(value: float, kind: str) -> str:
    """Return a number as the column writes it, so that it can be read again."""
    if kind == DURATION:
        sign, whole = "-" if value < 0 else "", round(abs(value))
        return f"{sign}{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    text = f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
    return text.replace(".", ",") if kind == WITH_COMMA else text


def _rank(word: str) -> tuple[float, str]:
    """Return where a word stands in a list: numbers by their size, before words by their letters."""
    try:
        return float(word), word
    except ValueError:
        return float("inf"), word
