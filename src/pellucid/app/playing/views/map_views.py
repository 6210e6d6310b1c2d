"""Views of maps: directions through two columns, or the places that a method gives to the rows."""

# ruff: noqa: D102  (the methods of a view are described once, in FitView)

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.app.playing.layers import ArrowsLayer, Layer, PointsLayer, SegmentsLayer
from pellucid.app.playing.stages import FitStage
from pellucid.app.playing.views.class_layers import DEVIATIONS, kernel_matrix, mosaic, tile
from pellucid.app.playing.views.scene import FitView, PlaneView, axes_around, is_equal
from pellucid.app.playing.views.tree_layers import MOST_LEAVES
from pellucid.core.types import Array

FEWEST_PIXELS = 5
"""Along one side of an image: four columns may be four measurements."""
MOST_PARTS = 16
MOST_LINKS = 4000
"""Links of a graph that can be drawn."""


class PrincipalView(PlaneView):
    """Directions through the mean of two columns, as long as two deviations, and the way of each row to its image."""

    def base(self) -> list[Layer]:
        x, y = self.places.T
        return [PointsLayer(x, y, self.scene.codes, row=True)]

    def layers(self, stage: FitStage) -> list[Layer]:
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


class MapView(FitView):
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
        places = np.vstack(list(self.maps.values()))
        keeps_distances = "embedding_" in vars(self.scene.model)
        return axes_around(places, ["coordinate 1", "coordinate 2"], equal=keeps_distances or is_equal(places))

    def layers(self, stage: FitStage) -> list[Layer]:
        rows, places = self.scene.moving_rows, self.maps.get(id(stage.model))
        x, y = (self._map(stage.model) if places is None else places)[rows].T
        points = PointsLayer(x, y, self.scene.codes_of(rows), row=self.scene.told_rows)
        products = kernel_matrix(self.scene, stage.model) if hasattr(stage.model, "eigenvectors_") else []
        return [*self._links(x, y), points, *self._loadings(stage), *self._parts(stage), *products]

    @cached_property
    def links(self) -> Array:
        """Pairs of rows that are neighbors in the graph that a method builds, of shape (n_links, 2)."""
        model, n = self.scene.model, len(self.scene.numbers)
        graph = getattr(model, "neighbor_graph_", None)
        if graph is not None:
            pairs = np.column_stack(graph.nonzero())
        elif getattr(model, "neighbors_", None) is not None and np.shape(model.neighbors_)[0] == n:
            near = np.asarray(model.neighbors_)
            pairs = np.column_stack([np.repeat(np.arange(n), near.shape[1]), near.ravel()])
        else:
            return np.zeros((0, 2), dtype=int)
        return np.unique(np.sort(pairs, axis=1), axis=0)

    def _links(self, x: Array, y: Array) -> list[Layer]:
        """Return the graph of neighbors, if all rows are drawn and it can be read."""
        one, other = self.links.T
        if not 0 < len(one) <= MOST_LINKS or len(x) < len(self.scene.numbers):
            return []
        return [SegmentsLayer(x[one], y[one], x[other], y[other])]

    def _parts(self, stage: FitStage) -> list[Layer]:
        """Return the parts that images are made of, if the columns are the pixels of square images."""
        parts = getattr(stage.model, "components_", None)
        side = int(np.sqrt(self.scene.numbers.shape[1]))
        if parts is None or side * side != self.scene.numbers.shape[1] or side < FEWEST_PIXELS:
            return []
        tiles = [tile(np.asarray(part, dtype=float).reshape(side, side)) for part in parts[:MOST_PARTS]]
        return [mosaic(tiles, f"{len(tiles)} parts, each {side} by {side} pixels")]

    def _loadings(self, stage: FitStage) -> list[Layer]:
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
