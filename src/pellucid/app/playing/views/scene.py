"""What all views draw from, and what a view is: axes, what every frame shows, what one stage shows.

Which view a model has is found by what it has, not by its name.
"""

# ruff: noqa: D102  (the methods of a view are described once, in FitView)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from pellucid.app.playing.layers import Layer, PointsLayer, regions
from pellucid.app.playing.stages import FitStage
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.plots.feature_slice import FeatureSlice, feature_slice

MARGIN = 0.06
"""Room around the points, as a share of their range."""
CURVE = 160
"""Places along a curve."""
SHADES = 6
"""Classes by which numbers are colored: sixths of their order."""
FINEST = 120
"""Most cells of regions along one axis."""
BYTES_PER_POINT = 16
"""Of a point that moves: two numbers and a class."""
SHARE_OF_REGIONS = 0.6
"""Of the room of a frame; the rest is for what else moves."""
MOST_LEAVES = 40
"""A larger tree cannot be read."""
DEVIATIONS = 2.0
"""An ellipse holds the places within so many deviations, an arrow is as long."""


@dataclass(frozen=True)
class FitScene:
    """What all views draw from: the rows, the target, names, the stages, and the bytes that one frame may take."""

    X: Data
    y: Array | None
    names: list[str]
    stages: Sequence[FitStage]
    room: float
    target: str = "target"
    """What the target is called."""

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self.stages[-1].model

    @cached_property
    def numbers(self) -> Array:
        """The rows as numbers."""
        return np.asarray(self.X, dtype=float)

    @cached_property
    def classes(self) -> list[str] | None:
        """The labels of the target, if it has classes."""
        if self.y is None or (is_regressor(self.model) or len(np.unique(self.y)) > len(self.y) / 2):
            return None
        return [str(label) for label in np.unique(self.y)]

    @cached_property
    def codes(self) -> Array | None:
        """The class of each row; of numbers, which sixth of their order they are in."""
        if self.y is None:
            return None
        order = np.unique(self.y, return_inverse=True)[1]
        if self.classes is not None:
            return order
        return order * SHADES // (order.max() + 1)

    @cached_property
    def moving_rows(self) -> Array:
        """Rows that are drawn anew in every frame: all, or as many as there is room for."""
        return some_rows(len(self.numbers), max(20, int((1 - SHARE_OF_REGIONS) * self.room / BYTES_PER_POINT)))

    @property
    def told_rows(self) -> Any:
        """What a layer of the moving rows says of their numbers."""
        return True if len(self.moving_rows) == len(self.numbers) else self.moving_rows

    def codes_of(self, rows: Array) -> Array | None:
        """Return the classes of some rows."""
        return None if self.codes is None else self.codes[rows]


class FitView(ABC):
    """One way to draw a fit."""

    fewest_columns = 1
    colors_rows_by_class = True
    """Whether colors are the classes of the target; in pictures of clusters they are the clusters."""

    def __init__(self, scene: FitScene) -> None:
        self.scene = scene

    @property
    @abstractmethod
    def axes(self) -> dict[str, Any]:
        """Labels and ranges, and whether a unit is as long on both axes."""

    def base(self) -> list[Layer]:
        """Return what every frame shows."""
        return []

    @abstractmethod
    def layers(self, stage: FitStage) -> list[Layer]:
        """Return what one stage shows."""


class PlaneView(FitView):
    """Two columns of the data; the others, if there are any, are held at their medians."""

    fewest_columns = 2

    @cached_property
    def plane(self) -> FeatureSlice:
        """The two columns."""
        return feature_slice(self.scene.X, chosen_columns(self.scene))

    @cached_property
    def pair(self) -> list[int]:
        """The positions of the two columns."""
        return list(self.plane.varying)

    @cached_property
    def places(self) -> Array:
        """Where the rows are."""
        return np.column_stack([self.plane.values(0), self.plane.values(1)])

    @property
    def axes(self) -> dict[str, Any]:
        labels = [self.scene.names[j] for j in self.pair]
        return axes_around(self.places, labels, equal=is_equal(self.places))

    @cached_property
    def grid(self) -> tuple[Data, tuple[int, int], tuple[float, float, float, float]]:
        """The rows at the middle of each cell, how many cells there are up and across, and their extent."""
        side = int(np.clip(np.sqrt(SHARE_OF_REGIONS * self.scene.room * 3 / 4), 8, FINEST))
        (x0, x1), (y0, y1) = (self.axes[axis]["range"] for axis in "xy")
        middle = (np.arange(side) + 0.5) / side
        across, up = np.meshgrid(x0 + (x1 - x0) * middle, y0 + (y1 - y0) * middle)
        return self.plane.rows(across.ravel(), up.ravel()), (side, side), (x0, x1, y0, y1)

    def regions(self, model: Any) -> list[Layer]:
        """Return the answers of a model over the plane, if it answers about new rows."""
        if not hasattr(model, "predict"):
            return []
        rows, shape, extent = self.grid
        answers = np.asarray(model.predict(rows))
        codes = np.searchsorted(model.classes_, answers) if hasattr(model, "classes_") else answers
        return [regions(codes.reshape(shape), extent)]

    def colored_rows(self, codes: Array) -> PointsLayer:
        """Return the rows in the colors of one stage."""
        x, y = self.places[self.scene.moving_rows].T
        return PointsLayer(x, y, codes[self.scene.moving_rows], row=self.scene.told_rows)


def chosen_columns(scene: FitScene) -> list[int]:
    """Return the two columns to draw: those that tell the target best, or those that vary most."""
    X = scene.numbers
    if X.shape[1] <= 2 or scene.y is None:
        return sorted(np.argsort(-X.var(axis=0), kind="stable")[:2].tolist())
    told = np.eye(int(scene.codes.max()) + 1)[scene.codes] if scene.codes is not None else X
    return sorted(best_columns(X, told)[:2])


def best_columns(X: Array, told: Array) -> list[int]:
    """Return the columns, the one with the largest sum of squared correlations with what is told first."""
    deviations = [(part - part.mean(axis=0)) for part in (X, told)]
    lengths = [np.maximum(np.linalg.norm(part, axis=0), np.finfo(float).tiny) for part in deviations]
    one, other = (part / length for part, length in zip(deviations, lengths, strict=True))
    return list(np.argsort(-((one.T @ other) ** 2).sum(axis=1), kind="stable").tolist())


def axes_around(places: Array, labels: Sequence[str], *, equal: bool = False) -> dict[str, Any]:
    """Return axes with room around all places."""
    x, y = ({"label": label, "range": list(range_around(places[:, k]))} for k, label in enumerate(labels))
    return {"x": x, "y": y, "equal": equal}


def is_equal(places: Array) -> bool:
    """Return whether two columns reach about as far, so that a unit may be as long on both axes."""
    across, up = np.ptp(places, axis=0)
    return bool(max(across, up) <= 3 * min(across, up))


def range_around(values: Array) -> tuple[float, float]:
    """Return a range with room around all values."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * (high - low) if high > low else 1.0
    return low - margin, high + margin
