"""Views of maps: directions through two columns, or the places that a method gives to the rows."""

# ruff: noqa: D102  (the methods of a view are described once, in View)

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.app.playing.cluster_views import DEVIATIONS
from pellucid.app.playing.layers import ArrowsLayer, Layer, PointsLayer, SegmentsLayer
from pellucid.app.playing.scene import PlaneView, View, axes_around
from pellucid.app.playing.stages import Stage
from pellucid.app.playing.tree_layers import MOST_LEAVES
from pellucid.core.types import Array


class PrincipalView(PlaneView):
    """Directions through the mean of two columns, as long as two deviations, and the way of each row to its image."""

    def base(self) -> list[Layer]:
        x, y = self.places.T
        return [PointsLayer(x, y, self.scene.codes, row=True)]

    def layers(self, stage: Stage) -> list[Layer]:
        model = stage.model
        (x, y), one = model.mean_, np.ones(len(model.components_))
        ways = DEVIATIONS * np.sqrt(model.explained_variance_)[:, np.newaxis] * model.components_
        images = np.asarray(model.inverse_transform(model.transform(self.scene.X)))[self.scene.moving_rows]
        rows = self.places[self.scene.moving_rows]
        names = [f"direction {k + 1}" for k in range(len(ways))]
        return [
            SegmentsLayer(rows[:, 0], rows[:, 1], images[:, 0], images[:, 1], dash=True),
            ArrowsLayer(x * one, y * one, ways[:, 0], ways[:, 1], names),
        ]


class MapView(View):
    """Rows at the places that a method gives them: an embedding, or the first two columns of ``transform``."""

    @cached_property
    def maps(self) -> dict[int, Array]:
        """The places of the rows by each model."""
        return {id(stage.model): self._map(stage.model) for stage in self.scene.stages}

    def _map(self, model: Any) -> Array:
        own = vars(model).get("embedding_")
        return _two_columns(np.asarray(model.transform(self.scene.X) if own is None else own, dtype=float))

    @property
    def axes(self) -> dict[str, Any]:
        return axes_around(np.vstack(list(self.maps.values())), ["coordinate 1", "coordinate 2"], equal=True)

    def layers(self, stage: Stage) -> list[Layer]:
        rows, places = self.scene.moving_rows, self.maps.get(id(stage.model))
        x, y = (self._map(stage.model) if places is None else places)[rows].T
        points = PointsLayer(x, y, self.scene.codes_of(rows), row=self.scene.told_rows)
        return [points, *self._loadings(stage)]

    def _loadings(self, stage: Stage) -> list[Layer]:
        """Return the columns of the data as arrows that reach as far as the rows do."""
        directions = getattr(stage.model, "components_", None)
        if directions is None or directions.shape[1] > MOST_LEAVES or "embedding_" in vars(stage.model):
            return []
        ways = _two_columns(np.asarray(directions, dtype=float).T)
        reach, longest = (np.abs(part).max(axis=0) for part in (self._map(stage.model), ways))
        scale = np.min(reach[longest > 0] / longest[longest > 0], initial=np.inf) if longest.any() else 1.0
        zero, (dx, dy) = np.zeros(len(ways)), scale * ways.T
        return [ArrowsLayer(zero, zero, dx, dy, self.scene.names)]


def _two_columns(places: Array) -> Array:
    """Return the first two columns; in the place of a second that is not there, zeros."""
    return places[:, :2] if places.shape[1] > 1 else np.column_stack([places[:, 0], np.zeros(len(places))])
