"""Views of classifiers: the class at every place of a plane, or its probability along one column."""

# ruff: noqa: D102  (the methods of a view are described once, in FitView)

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer, PointsLayer, PolylineLayer, SegmentsLayer
from pellucid.app.playing.stages import FitStage
from pellucid.app.playing.views.class_layers import (
    UNIT_CELLS,
    class_densities,
    hidden_units,
    kernel_matrix,
    level_lines,
    network_graph,
    vote_shares,
)
from pellucid.app.playing.views.scene import CURVE, FitView, PlaneView, range_around
from pellucid.app.playing.views.tree_layers import grown_tree
from pellucid.core.types import Array, Data
from pellucid.plots.feature_slice import feature_slice


class ClassesView(PlaneView):
    """The class that a model answers at every place of a plane; support vectors and weights of rows, if it has some."""

    @cached_property
    def has_weights(self) -> bool:
        """Whether the rows weigh something else at each stage."""
        return len(self.scene.stages[-1].known.get("sample_weight", ())) == len(self.places)

    def base(self) -> list[Layer]:
        x, y = self.places.T
        return [] if self.has_weights else [PointsLayer(x, y, self.scene.codes, row=True)]

    def layers(self, stage: FitStage) -> list[Layer]:
        model, (rows, (side, _), extent) = stage.model, self.grid
        marked = self._weighted(stage) if self.has_weights else self._support(stage)
        return [
            *self.regions(model),
            *self._levels(model, rows, side, extent),
            *class_densities(model, self.pair),
            *marked,
            *self._pair(stage),
            *grown_tree(self.scene, stage),
            *(kernel_matrix(self.scene, model) if hasattr(model, "dual_coef_") else []),
            *network_graph(self.scene, model),
            *hidden_units(model, *self._coarse_plane),
            *vote_shares(model, *self._coarse_plane),
        ]

    @cached_property
    def _coarse_plane(self) -> tuple[Array, int]:
        (x0, x1), (y0, y1) = (self.axes[axis]["range"] for axis in "xy")
        middle = (np.arange(UNIT_CELLS) + 0.5) / UNIT_CELLS
        across, up = np.meshgrid(x0 + (x1 - x0) * middle, y0 + (y1 - y0) * middle)
        return np.asarray(self.plane.rows(across.ravel(), up.ravel()), dtype=float), UNIT_CELLS

    def _levels(self, model: Any, rows: Data, side: int, extent: tuple[float, float, float, float]) -> list[Layer]:
        """Return the margins of a machine of two classes, or where one class is thrice as likely as the other."""
        if len(model.classes_) != 2:
            return []
        if hasattr(model, "C") and not hasattr(model, "predict_proba"):
            scores = np.asarray(model.decision_function(rows), dtype=float).reshape(side, side)
            return level_lines(scores, extent, (-1.0, 1.0), (0, 1))
        if hasattr(model, "predict_proba") and hasattr(model, "coef_"):
            likely = np.asarray(model.predict_proba(rows))[:, 1].reshape(side, side)
            return level_lines(likely, extent, (0.25, 0.75), (0, 1))
        return []

    def _pair(self, stage: FitStage) -> list[Layer]:
        """Return the two rows whose multipliers moved."""
        pair = stage.known.get("pair", ())
        if len(pair) != 2:
            return []
        x, y = self.places[pair].T
        line = SegmentsLayer(x[:1], y[:1], x[1:], y[1:], dash=True)
        return [line, PointsLayer(x, y, None if self.scene.codes is None else self.scene.codes[pair], marker="star")]

    def _weighted(self, stage: FitStage) -> list[Layer]:
        """Return the rows, each with an area as large as its weight."""
        rows, weight = self.scene.moving_rows, stage.known["sample_weight"]
        x, y = self.places[rows].T
        size = np.sqrt(weight[rows] / weight.mean())
        return [PointsLayer(x, y, self.scene.codes_of(rows), size=size, row=self.scene.told_rows)]

    def _support(self, stage: FitStage) -> list[Layer]:
        support = getattr(stage.model, "support_", None)
        if not isinstance(support, np.ndarray) or support.dtype.kind not in "iu":
            return []
        x, y = self.places[support].T
        return [PointsLayer(x, y, marker="ring", row=support)]


class ProbabilityView(FitView):
    """Classes told by one column: the probability of each along it, or which one is answered; rows as marks."""

    @cached_property
    def line(self) -> tuple[Array, Data]:
        """Places along the column, and the rows there."""
        along = feature_slice(self.scene.X, [0])
        low, high = range_around(along.values(0))
        x = np.linspace(low, high, CURVE)
        return x, along.rows(x)

    @property
    def axes(self) -> dict[str, Any]:
        return {
            "x": {"label": self.scene.names[0], "range": list(range_around(self.scene.numbers[:, 0]))},
            "y": {"label": "probability", "range": [-0.12, 1.12]},
            "equal": False,
        }

    def base(self) -> list[Layer]:
        """Return the rows: those of the first class at the bottom, the others above."""
        assert self.scene.codes is not None  # a classifier was fitted to them
        last = max(1, int(self.scene.codes.max()))
        return [PointsLayer(self.scene.numbers[:, 0], self.scene.codes / last, self.scene.codes, row=True)]

    def layers(self, stage: FitStage) -> list[Layer]:
        x, rows = self.line
        model, names = stage.model, [str(label) for label in stage.model.classes_]
        if hasattr(model, "predict_proba"):
            shares = np.asarray(model.predict_proba(rows))
        else:
            shares = (np.asarray(model.predict(rows))[:, np.newaxis] == model.classes_).astype(float)
        return [PolylineLayer(x, share, k, width=2, label=names[k]) for k, share in enumerate(shares.T)]
