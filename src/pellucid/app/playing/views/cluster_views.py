"""Views of clusters: around centers, as ellipses, by merges."""

# ruff: noqa: D102  (the methods of a view are described once, in FitView)

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.app.playing.layers import Layer, PointsLayer, SegmentsLayer, TreeLayer, handle
from pellucid.app.playing.stages import FitStage
from pellucid.app.playing.views.class_layers import ellipses
from pellucid.app.playing.views.scene import PlaneView, axes_around
from pellucid.app.playing.views.tree_layers import MOST_LEAVES
from pellucid.core.types import Array


class CentersView(PlaneView):
    """Clusters around centers, which can be moved; the way that each went."""

    colors_rows_by_class = False

    @property
    def axes(self) -> dict[str, Any]:
        ways = [stage.model.cluster_centers_[:, self.pair] for stage in self.scene.stages]
        return axes_around(np.vstack([self.places, *ways]), [self.scene.names[j] for j in self.pair], equal=True)

    def layers(self, stage: FitStage) -> list[Layer]:
        centers = stage.model.cluster_centers_
        labels = nearest(self.scene.numbers, centers)
        if stage.model is self.scene.model:
            labels = stage.model.labels_
        x, y = centers[:, self.pair].T
        moved = handle("cluster_centers_", columns=self.pair)
        marks = PointsLayer(x, y, np.arange(len(centers)), marker="star", movable=moved)
        return [*self.regions(stage.model), self.colored_rows(labels), marks]


class EllipsesView(PlaneView):
    """The components of a mixture: means, which can be moved, and ellipses of two deviations."""

    colors_rows_by_class = False

    def layers(self, stage: FitStage) -> list[Layer]:
        from pellucid.plots.mixture_plot import component_covariance

        model = stage.model
        means, order = model.means_[:, self.pair], np.arange(len(model.means_))
        parts = [component_covariance(model, k)[np.ix_(self.pair, self.pair)] for k in order.tolist()]
        x, y = means.T
        ellipses_of_parts = ellipses(means, parts, order)
        marks = PointsLayer(x, y, order, marker="cross", movable=handle("means_", columns=self.pair))
        return [self.colored_rows(model.predict(self.scene.X)), ellipses_of_parts, marks]


class ClustersView(PlaneView):
    """Clusters of a model that knows nothing else to draw: the rows, and the cluster of every place if it tells."""

    colors_rows_by_class = False

    def layers(self, stage: FitStage) -> list[Layer]:
        labels = getattr(stage.model, "labels_", None)
        codes = np.asarray(stage.model.predict(self.scene.X) if labels is None else labels)
        return [*self.regions(stage.model), self.colored_rows(codes)]


class MergesView(PlaneView):
    """Clusters that merge, the rows that meet, and the tree of merges."""

    colors_rows_by_class = False

    def layers(self, stage: FitStage) -> list[Layer]:
        found: list[Layer] = [self.colored_rows(stage.model.labels_)]
        if "merged" in stage.known:
            (x1, y1), (x2, y2) = (self.places[rows].mean(axis=0) for rows in stage.known["merged"])
            found.append(SegmentsLayer([x1], [y1], [x2], [y2], dash=True))
        return [*found, *self._tree(stage)]

    def _tree(self, stage: FitStage) -> list[Layer]:
        """Return the tree of merges, those that are still to come as cut off."""
        from pellucid.plots.cluster_plots import dendrogram_layout

        whole = self.scene.model
        n = len(whole.labels_)
        if n > MOST_LEAVES or len(whole.children_) != n - 1:
            return []
        _, places = dendrogram_layout(whole.children_, n)
        tops = np.concatenate([np.zeros(n), whole.distances_])
        parents = {int(child): n + k for k, pair in enumerate(whole.children_) for child in pair}
        done = n + len(stage.model.children_)
        nodes = [
            {
                "x": places[i] / max(n - 1, 1),
                "y": tops[i] / max(tops.max(), np.finfo(float).tiny),
                "text": str(i) if i < n else f"{tops[i]:.3g}",
                "parent": parents.get(i),
                "class": int(stage.model.labels_[i]) if i < n else None,
                "cut": True if i >= done else None,
            }
            for i in range(2 * n - 1)
        ]
        return [TreeLayer([_told(node) for node in nodes])]


def nearest(X: Array, centers: Array) -> Array:
    """Return the number of the nearest center of each row; of equally near ones the first."""
    gaps = [((X - center) ** 2).sum(axis=1) for center in centers]
    return np.argmin(gaps, axis=0)


def _told(node: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name != "cut" or value}
