"""Views of classifiers: the class at every place of a plane, or its probability along one column."""

# ruff: noqa: D102  (the methods of a view are described once, in View)

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer, PointsLayer, PolylineLayer
from pellucid.app.playing.scene import CURVE, PlaneView, View, range_around
from pellucid.app.playing.stages import Stage
from pellucid.app.playing.tree_layers import grown_tree
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

    def layers(self, stage: Stage) -> list[Layer]:
        marked = self._weighted(stage) if self.has_weights else self._support(stage)
        return [*self.regions(stage.model), *marked, *grown_tree(self.scene, stage)]

    def _weighted(self, stage: Stage) -> list[Layer]:
        """Return the rows, each with an area as large as its weight."""
        rows, weight = self.scene.moving_rows, stage.known["sample_weight"]
        x, y = self.places[rows].T
        size = np.sqrt(weight[rows] / weight.mean())
        return [PointsLayer(x, y, self.scene.codes_of(rows), size=size, row=self.scene.told_rows)]

    def _support(self, stage: Stage) -> list[Layer]:
        support = getattr(stage.model, "support_", None)
        if not isinstance(support, np.ndarray) or support.dtype.kind not in "iu":
            return []
        x, y = self.places[support].T
        return [PointsLayer(x, y, marker="ring", row=support)]


class ProbabilityView(View):
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

    def layers(self, stage: Stage) -> list[Layer]:
        x, rows = self.line
        model, names = stage.model, [str(label) for label in stage.model.classes_]
        if hasattr(model, "predict_proba"):
            shares = np.asarray(model.predict_proba(rows))
        else:
            shares = (np.asarray(model.predict(rows))[:, np.newaxis] == model.classes_).astype(float)
        return [PolylineLayer(x, share, k, width=2, label=names[k]) for k, share in enumerate(shares.T)]
