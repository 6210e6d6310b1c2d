"""Views of regressions: a curve along one column, or coefficients."""

# ruff: noqa: D102  (the methods of a view are described once, in FitView)

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.app.playing.layers import BandLayer, BarsLayer, Layer, PointsLayer, PolylineLayer, SegmentsLayer, handle
from pellucid.app.playing.stages import FitStage
from pellucid.app.playing.views.scene import CURVE, FitScene, FitView, axes_around, best_columns, range_around
from pellucid.app.playing.views.tree_layers import grown_tree
from pellucid.core.types import Array, Data
from pellucid.plots.feature_slice import feature_slice


class CurveView(FitView):
    """The answers of a regression along one column, with the band of its predictions if it knows one."""

    @cached_property
    def column(self) -> int:
        """The column that varies: the one that goes with the target best."""
        return best_columns(self.scene.numbers, _target(self.scene)[:, np.newaxis])[0]

    @cached_property
    def line(self) -> tuple[Array, Data]:
        """Places along the column, and the rows there."""
        along = feature_slice(self.scene.X, [self.column])
        low, high = range_around(along.values(0))
        x = np.linspace(low, high, CURVE)
        return x, along.rows(x)

    @property
    def axes(self) -> dict[str, Any]:
        places = np.column_stack([self.scene.numbers[:, self.column], _target(self.scene)])
        return axes_around(places, [self.scene.names[self.column], self.scene.target])

    def base(self) -> list[Layer]:
        return [PointsLayer(self.scene.numbers[:, self.column], _target(self.scene), row=True)]

    def layers(self, stage: FitStage) -> list[Layer]:
        x, rows = self.line
        curve = PolylineLayer(x, np.asarray(stage.model.predict(rows)), 0, width=2)
        band: list[Layer] = []
        if stage.model is self.scene.model and hasattr(stage.model, "prediction_interval"):
            low, high = stage.model.prediction_interval(rows)
            band = [BandLayer(x, low, high, 0)]
        return [*band, *self._residuals(stage), curve, *grown_tree(self.scene, stage)]

    def _residuals(self, stage: FitStage) -> list[Layer]:
        """Return the way from each row up or down to the line that a linear model draws through them."""
        if not hasattr(stage.model, "coef_") or self.scene.numbers.shape[1] > 1:
            return []
        rows = self.scene.moving_rows
        x, y = self.scene.numbers[rows, 0], _target(self.scene)[rows]
        return [SegmentsLayer(x, y, x, np.asarray(stage.model.predict(self.scene.X))[rows])]


class CoefficientsView(FitView):
    """The coefficients of a line along the fit, or as bars where it is one step."""

    @cached_property
    def way(self) -> Array:
        """The coefficients at each stage, of shape (n_stages, n_features)."""
        return np.array([np.ravel(stage.model.coef_) for stage in self.scene.stages])

    @property
    def axes(self) -> dict[str, Any]:
        x = np.arange(1, len(self.way) + 1)
        places = np.column_stack([np.repeat(x, self.way.shape[1]), self.way.ravel()])
        return axes_around(places, ["stage", "coefficient"])

    def base(self) -> list[Layer]:
        if len(self.way) == 1:
            return []
        x = np.arange(1, len(self.way) + 1)
        return [PolylineLayer(x, way, j, label=self.scene.names[j]) for j, way in enumerate(self.way.T)]

    def layers(self, stage: FitStage) -> list[Layer]:
        coefficients = np.ravel(stage.model.coef_)
        order = np.arange(len(coefficients))
        bars = BarsLayer(self.scene.names, coefficients, order)
        if len(self.way) == 1:
            return [bars]
        place = next(i for i, other in enumerate(self.scene.stages) if other.label == stage.label) + 1
        marks = PointsLayer(np.full(len(order), place), coefficients, order, movable=handle("coef_"))
        return [marks, bars]


def _target(scene: FitScene) -> Array:
    assert scene.y is not None  # a regressor was fitted to it
    return np.asarray(scene.y, dtype=float)
