"""A fitted model as it is asked about: its rows, the columns that the picture shows, what counts as another answer."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pellucid.app.playing.layers import Layer
from pellucid.app.playing.performance import Performance
from pellucid.core.checks import is_number
from pellucid.core.types import Array

NOTABLE = 0.1
"""The prediction of a number has changed if it is so much of the target's range away."""
MOST_TOLD = 10
"""Rows of a table of answers."""


@dataclass(frozen=True)
class AskedModel:
    """A model that can be asked, its rows, and the columns that the picture shows."""

    model: Any
    X: Array
    y: Any
    names: list[str]
    drawn: list[int]

    @classmethod
    def of(cls, performance: Performance) -> AskedModel:
        """Return the model of a performance, or say why nothing can be asked of it."""
        model, recording = performance.model, performance.recording
        if not hasattr(model, "predict") or performance.X is None:
            reason = "must have a fitted model that predicts new rows to be asked"
            raise ValueError(f"play {reason}, got {recording.title!r}, which has none.")
        try:
            X = np.asarray(performance.X, dtype=float)
        except (TypeError, ValueError):
            raise ValueError("rows must be numbers to be asked about, got words.") from None
        names = [str(name) for name in recording.data["columns"]]
        labels = [recording.axes[axis]["label"] for axis in "xy"]
        return cls(model, X, performance.y, names, [names.index(label) for label in labels if label in names])

    def row_at(self, point: Any) -> Array:
        """Return the row at a place in the picture; columns that it does not show are at their medians."""
        if not isinstance(point, Sequence) or len(point) != 2 or not all(map(is_number, point)):
            raise ValueError(f"point must be two numbers, got {point!r}.")
        if not self.drawn:
            raise ValueError("point must be a place in a picture of columns, got a picture of something else.")
        row = np.median(self.X, axis=0)
        for j, value in zip(self.drawn, point, strict=False):
            row[j] = value
        return row

    def predict(self, rows: Array) -> Array:
        """Return what the model says of some rows."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return np.asarray(self.model.predict(rows))

    def differs(self, rows: Array, was: Any) -> Array:
        """Return at which rows the prediction is another one."""
        found = self.predict(rows)
        return np.abs(found - was) >= self.step if self.is_regression else found != was

    @cached_property
    def is_regression(self) -> bool:
        """Whether it predicts numbers."""
        return is_regressor(self.model)

    @cached_property
    def step(self) -> float:
        """How far a predicted number must go to count as changed."""
        return NOTABLE * float(np.ptp(np.asarray(self.y, dtype=float))) or 1.0

    @cached_property
    def spread(self) -> Array:
        """The standard deviation of each column, in which changes are measured; 1 where a column is constant."""
        found = self.X.std(axis=0)
        return np.where(found > 0, found, 1.0)

    def says(self, value: Any) -> str:
        """Return a prediction in words."""
        if self.is_regression:
            return f"{float(value):.4g}"
        return f"class {value}" if is_classifier(self.model) else f"cluster {value}"


def told_answer(
    question: str, text: str, layers: Sequence[Layer] = (), table: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return an answer as the page shows it."""
    told = {"question": question, "answer": text, "layers": [layer.to_json() for layer in layers]}
    return told | ({} if table is None else {"table": table})
