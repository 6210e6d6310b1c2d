"""What a worker can be asked to do. What a job returns goes to the server's process: texts, numbers, tables.

A performance stays in the worker that made it. Another worker that is asked about it makes it again: the same request
on the same data is the same fit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pellucid.app.playing.given.play_table import PlayTable, read_play_table
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.performing import perform_request
from pellucid.app.playing.stages import Report

MOST_PERFORMANCES = 6
"""Performances that a worker keeps; the oldest goes first."""
MOST_CLASSES = 20
"""Whole numbers that have more values than that are no classes."""
_performances: dict[str, Performance] = {}


def warm_up() -> None:
    """Import what a fit needs, and make a few, so that the first request finds everything loaded."""
    from pellucid.app.playing.given.given_data import read_data
    from pellucid.app.playing.plays import find_play

    for name, data in (("KMeans", "moons"), ("LogisticRegression", "moons"), ("LinearRegression", "line")):
        find_play(name).record(read_data({"set": data, "rows": 12}))


def catalogue() -> dict[str, Any]:
    """Return all plays, and the data that come with the library."""
    from pellucid.app.playing.descents import FORMULAS
    from pellucid.app.playing.given.images import image_names
    from pellucid.app.playing.plays import play_names

    plays = [
        {name: getattr(play, name) for name in ("name", "title", "group", "data", "wants", "first")}
        for play in play_names()
    ]
    formulas = [{"name": name, "formula": text, "start": start} for name, (text, start) in FORMULAS.items()]
    return {
        "plays": plays,
        "sets": told_sets(),
        "formulas": formulas,
        "images": [{"name": name} for name in image_names()],
    }


def told_sets() -> list[dict[str, Any]]:
    """Return the sets by name, with their sizes and what their target is."""
    from pellucid.app.playing.given.sets import MADE, load_set, set_names

    found = []
    for name in set_names():
        X, y, names = load_set(name)
        kind = "made" if name in MADE else "bundled"
        found.append({"name": name, "kind": kind, "rows": len(X), "columns": names, "target": target_kind(y)})
    return found


def target_kind(y: Any) -> str | None:
    """Return whether a target is classes or numbers; None if there is none.

    Examples
    --------
    >>> target_kind(["a", "b"]), target_kind([0.5, 1.25])
    ('classes', 'numbers')
    """
    if y is None:
        return None
    values = np.unique(np.asarray(y))
    is_number = values.dtype.kind in "iuf" and (len(values) > MOST_CLASSES or bool((values % 1 != 0).any()))
    return "numbers" if is_number else "classes"


def controls(name: str) -> list[dict[str, Any]]:
    """Return the controls of a play."""
    from pellucid.app.playing.plays import find_play

    return find_play(name).controls()


def record(run: str, asked: Mapping[str, Any], table: PlayTable | None, *, report: Report) -> str:
    """Perform what is asked, keep it under the id of the run, and return the recording as JSON."""
    return _perform(run, asked, table, report).recording.text()


def break_it(run: str, asked: Mapping[str, Any], table: PlayTable | None, changes: Any, *, report: Report) -> str:
    """Return the certificate and the picture of a fit with some of its numbers changed, as JSON."""
    from pellucid.app.playing.questions.breaking import broken

    return json.dumps(broken(_perform(run, asked, table, report), changes), allow_nan=False)


def ask(run: str, asked: Mapping[str, Any], table: PlayTable | None, question: Any, *, report: Report) -> str:
    """Return answers about a row, a place, or all rows, as JSON."""
    from pellucid.app.playing.questions.asking import answers

    return json.dumps({"answers": answers(_perform(run, asked, table, report), question, report)}, allow_nan=False)


def _perform(run: str, asked: Mapping[str, Any], table: PlayTable | None, report: Report) -> Performance:
    """Return the performance of a run: that which is kept, or made again."""
    if run in _performances:
        return _performances[run]
    found = perform_request(asked, table, report)
    for old in list(_performances)[: 1 - MOST_PERFORMANCES]:
        del _performances[old]
    _performances[run] = found
    return found


def exercises() -> list[dict[str, str]]:
    """Return the exercises by name."""
    from pellucid.app.playing.practice import exercise_list

    return exercise_list()


def exercise(step: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of an exercise, the marks of answers, or a hint."""
    from pellucid.app.playing import practice

    does: dict[str, Callable[..., dict[str, Any]]] = {
        "question": practice.question,
        "mark": practice.marked,
        "hint": practice.hint,
    }
    return does[step](**arguments)


def read_table(body: bytes, name: str) -> PlayTable:
    """Return the table in the body of a request."""
    return read_play_table(body, name)


JOBS: dict[str, Callable[..., Any]] = {
    one.__name__: one for one in (catalogue, controls, record, break_it, ask, exercises, exercise, read_table)
}
REPORTING = frozenset({"record", "break_it", "ask"})
"""Jobs that tell how far they are."""
