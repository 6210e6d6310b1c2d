"""Ask: what would change the prediction of a row, what it depends on, and which row moved the picture most.

Every answer is found by asking the model itself: a change is told only after the model has predicted something else at
the changed row, and the weight of a row is what a fit without it says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.app.playing.layers import ArrowsLayer, Layer, PointsLayer
from pellucid.app.playing.performance import Performance
from pellucid.app.playing.questions.asked_model import MOST_TOLD, AskedModel, told_answer
from pellucid.app.playing.questions.row_influence import influence
from pellucid.app.playing.stages import Report
from pellucid.core.types import Array

FEW_VALUES = 12
ROWS_PER_VALUE = 4
"""A column of few whole numbers, each of them in several rows, has no others: only those are tried."""
TRIED = 200
"""Values tried along one column, over its range and half as much again on both sides."""
ACROSS = 61
"""Values tried along each of two columns."""
HALVINGS = 30
"""By which the place where the prediction changes is found."""


def answers(
    performance: Performance, question: Mapping[str, Any], report: Report | None = None
) -> list[dict[str, Any]]:
    """Return the answers to ``{"row": k}``, ``{"point": [x, y]}`` or ``{"row": None}``, which asks about all rows."""
    asked = AskedModel.of(performance)
    if "point" in question:
        return _about(asked, asked.row_at(question["point"]))
    if question["row"] is None:
        return [influence(asked, report)]
    place = question["row"]
    if type(place) is not int or not 0 <= place < len(asked.X):
        raise ValueError(f"row must be a whole number from 0 to {len(asked.X) - 1}, got {place!r}.")
    return _about(asked, asked.X[place])


def _about(asked: AskedModel, row: Array) -> list[dict[str, Any]]:
    was = asked.predict(row[np.newaxis])[0]
    return [_prediction(asked, row, was), _one_column(asked, row, was), *_two_columns(asked, row, was),
            _dependence(asked, row, was)]  # fmt: skip


def _prediction(asked: AskedModel, row: Array, was: Any) -> dict[str, Any]:
    values = ", ".join(f"{name} = {value:.4g}" for name, value in zip(asked.names[:6], row, strict=False))
    text = f"At {values}{', ...' if len(row) > 6 else ''} the model predicts {asked.says(was)}."
    table = None
    if hasattr(asked.model, "predict_proba") and hasattr(asked.model, "classes_"):
        chances = np.asarray(asked.model.predict_proba(row[np.newaxis]))[0]
        rows = [[str(label), f"{chance:.3f}"] for label, chance in zip(asked.model.classes_, chances, strict=True)]
        table = {"columns": ["class", "probability"], "rows": rows}
    marks = (
        [PointsLayer([row[asked.drawn[0]]], [row[asked.drawn[1]]], marker="ring", size=2)]
        if len(asked.drawn) == 2
        else []
    )
    return told_answer("What does the model say here?", text, marks, table)


def _one_column(asked: AskedModel, row: Array, was: Any) -> dict[str, Any]:
    """Return the smallest change of each column by itself that changes the prediction."""
    question = f"Which change in one column changes the prediction{_by_step(asked)}?"
    found = [(j, value) for j in range(len(row)) if (value := _nearest_value(asked, row, was, j)) is not None]
    if not found:
        return told_answer(question, "None: no value of one column that was tried gives another prediction.")
    found.sort(key=lambda one: abs(one[1] - row[one[0]]) / asked.spread[one[0]])
    rows: list[list[str]] = []
    for j, value in found[:MOST_TOLD]:
        deviations = (value - row[j]) / asked.spread[j]
        then = asked.says(asked.predict(_with(row, [j], [value])[np.newaxis])[0])
        rows.append([asked.names[j], f"{row[j]:.4g}", f"{value:.4g}", f"{deviations:+.3g}", then])
    j, value = found[0]
    share, then = abs(value - row[j]) / asked.spread[j], rows[0][-1]
    change = f"{asked.names[j]} from {row[j]:.4g} to {value:.4g}"
    text = f"The smallest found is {change}, {share:.3g} of its standard deviation: then it predicts {then}."
    layers = [layer for j, value in found for layer in _arrow(asked, row, _with(row, [j], [value])) if j in asked.drawn]
    table = {"columns": ["column", "from", "to", "in deviations", "then predicts"], "rows": rows}
    return told_answer(question, text, layers, table)


def _two_columns(asked: AskedModel, row: Array, was: Any) -> list[dict[str, Any]]:
    """Return the smallest change found of the two drawn columns together."""
    if len(asked.drawn) != 2:
        return []
    question = f"Which change in both drawn columns changes the prediction{_by_step(asked)}?"
    tried = np.array(
        [(x, y) for x in _values(asked, asked.drawn[0], ACROSS) for y in _values(asked, asked.drawn[1], ACROSS)]
    )
    rows = np.repeat(row[np.newaxis], len(tried), axis=0)
    rows[:, asked.drawn] = tried
    other = tried[asked.differs(rows, was)]
    if not len(other):
        return [told_answer(question, "None: no place in the picture gives another prediction.")]
    spread = asked.spread[asked.drawn]
    from_here = np.linalg.norm((other - row[asked.drawn]) / spread, axis=1)
    goal = other[np.argmin(from_here)]
    has_few = any(_is_discrete(asked, j) for j in asked.drawn)
    place = goal if has_few else _closer(asked, row, asked.drawn, goal, was)
    moved = _with(row, asked.drawn, place)
    then = asked.says(asked.predict(moved[np.newaxis])[0])
    distance = float(np.linalg.norm((place - row[asked.drawn]) / spread))
    steps = " and ".join(f"{asked.names[j]} from {row[j]:.4g} to {moved[j]:.4g}" for j in asked.drawn)
    text = f"The smallest found is {steps}, {distance:.3g} standard deviations in all: then it predicts {then}."
    return [told_answer(question, text, _arrow(asked, row, moved))]


def _dependence(asked: AskedModel, row: Array, was: Any) -> dict[str, Any]:
    """Return how much the prediction changes while one column goes through its own values."""
    rows = []
    for j in range(len(row)):
        values = np.quantile(asked.X[:, j], np.linspace(0.0, 1.0, 41), method="nearest")
        tried = np.repeat(row[np.newaxis], len(values), axis=0)
        tried[:, j] = values
        found = asked.predict(tried)
        share = float(np.ptp(found)) if asked.is_regression else float(np.mean(found != was))
        rows.append((share, asked.names[j]))
    rows.sort(key=lambda one: -one[0])
    share, name = rows[0]
    what = "range of predictions" if asked.is_regression else "share that changes it"
    table = {
        "columns": ["column", what],
        "rows": [[n, f"{s:.3g}" if asked.is_regression else f"{s:.0%}"] for s, n in rows[:MOST_TOLD]],
    }
    if not share:
        text = "On no column by itself: whatever value of its own a column takes here, the prediction stays."
    elif asked.is_regression:
        text = f"Most on {name}: over its own values the prediction here goes through {share:.3g}."
    else:
        text = f"Most on {name}: {share:.0%} of its own values, put in here, change the prediction."
    return told_answer("What does this prediction depend on?", text, (), table)


def _by_step(asked: AskedModel) -> str:
    return f" by {asked.step:.3g}, a tenth of the target's range" if asked.is_regression else ""


def _with(row: Array, columns: Sequence[int], values: Any) -> Array:
    found = row.copy()
    found[list(columns)] = values
    return found


def _is_discrete(asked: AskedModel, j: int) -> bool:
    values = np.unique(asked.X[:, j])
    is_few = len(values) <= min(FEW_VALUES, len(asked.X) / ROWS_PER_VALUE)
    return is_few and bool((values % 1 == 0).all())


def _values(asked: AskedModel, j: int, count: int) -> Array:
    """Return the values to try: those of the column if it has few, else its range and half of it on both sides."""
    if _is_discrete(asked, j):
        return np.unique(asked.X[:, j])
    low, high = asked.X[:, j].min(), asked.X[:, j].max()
    reach = (high - low) / 2
    return np.linspace(low - reach, high + reach, count)


def _nearest_value(asked: AskedModel, row: Array, was: Any, j: int) -> float | None:
    """Return the value of a column nearest to that of the row at which the prediction is another one."""
    values = _values(asked, j, TRIED)
    rows = np.repeat(row[np.newaxis], len(values), axis=0)
    rows[:, j] = values
    other = values[asked.differs(rows, was)]
    if not len(other):
        return None
    goal = other[np.argmin(np.abs(other - row[j]))]
    return float(goal) if _is_discrete(asked, j) else float(_closer(asked, row, [j], np.array([goal]), was)[0])


def _closer(asked: AskedModel, row: Array, columns: Sequence[int], goal: Array, was: Any) -> Array:
    """Return the place on the way to the goal, found by halving, at which the prediction has just changed."""
    start = row[list(columns)]
    same, other = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (same + other) / 2
        if asked.differs(_with(row, columns, start + middle * (goal - start))[np.newaxis], was)[0]:
            other = middle
        else:
            same = middle
    return start + other * (goal - start)


def _arrow(asked: AskedModel, row: Array, moved: Array) -> list[Layer]:
    """Return the way from a row to a changed one in the picture, if that shows two columns."""
    if len(asked.drawn) != 2:
        return []
    (x, y), (to_x, to_y) = row[asked.drawn], moved[asked.drawn]
    return [ArrowsLayer([x], [y], [to_x - x], [to_y - y]), PointsLayer([to_x], [to_y], marker="ring")]
