"""Views: how the stages of a fit are drawn. Which view a model has is found by what it has, not by its name.

A view answers three questions: what are the axes, what is drawn in every frame, what is drawn at one stage.
"""

# ruff: noqa: D102  (the methods of a view are described once, in View)

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pellucid.app.playing.layers import (
    ArrowsLayer,
    BandLayer,
    BarsLayer,
    EllipsesLayer,
    Layer,
    PointsLayer,
    PolylineLayer,
    SegmentsLayer,
    TreeLayer,
    handle,
    regions,
)
from pellucid.app.playing.stages import Stage
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
class Scene:
    """What all views draw from: the rows, the target, names, the stages, and the bytes that one frame may take."""

    X: Data
    y: Array | None
    names: list[str]
    stages: Sequence[Stage]
    room: float

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


class View(ABC):
    """One way to draw a fit."""

    fewest_columns = 1

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    @property
    @abstractmethod
    def axes(self) -> dict[str, Any]:
        """Labels and ranges, and whether a unit is as long on both axes."""

    def base(self) -> list[Layer]:
        """Return what every frame shows."""
        return []

    @abstractmethod
    def layers(self, stage: Stage) -> list[Layer]:
        """Return what one stage shows."""


class PlaneView(View):
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
        low, high = _range(along.values(0))
        x = np.linspace(low, high, CURVE)
        return x, along.rows(x)

    @property
    def axes(self) -> dict[str, Any]:
        return {
            "x": {"label": self.scene.names[0], "range": list(_range(self.scene.numbers[:, 0]))},
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


class CentersView(PlaneView):
    """Clusters around centers, which can be moved; the way that each went."""

    @property
    def axes(self) -> dict[str, Any]:
        ways = [stage.model.cluster_centers_[:, self.pair] for stage in self.scene.stages]
        return axes_around(np.vstack([self.places, *ways]), [self.scene.names[j] for j in self.pair], equal=True)

    def layers(self, stage: Stage) -> list[Layer]:
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

    def layers(self, stage: Stage) -> list[Layer]:
        from pellucid.plots.mixture_plot import component_covariance

        model = stage.model
        means = model.means_[:, self.pair]
        parts = [component_covariance(model, k)[np.ix_(self.pair, self.pair)] for k in range(len(means))]
        values, vectors = np.linalg.eigh(np.array(parts))
        b, a = DEVIATIONS * np.sqrt(np.maximum(values, 0.0)).T
        order = np.arange(len(means))
        x, y = means.T
        ellipses = EllipsesLayer(x, y, a, b, np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]), order)
        marks = PointsLayer(x, y, order, marker="cross", movable=handle("means_", columns=self.pair))
        return [self.colored_rows(model.predict(self.scene.X)), ellipses, marks]


class ClustersView(PlaneView):
    """Clusters of a model that knows nothing else to draw: the rows, and the cluster of every place if it tells."""

    def layers(self, stage: Stage) -> list[Layer]:
        labels = getattr(stage.model, "labels_", None)
        codes = np.asarray(stage.model.predict(self.scene.X) if labels is None else labels)
        return [*self.regions(stage.model), self.colored_rows(codes)]


class MergesView(PlaneView):
    """Clusters that merge, the rows that meet, and the tree of merges."""

    def layers(self, stage: Stage) -> list[Layer]:
        found: list[Layer] = [self.colored_rows(stage.model.labels_)]
        if "merged" in stage.known:
            (x1, y1), (x2, y2) = (self.places[rows].mean(axis=0) for rows in stage.known["merged"])
            found.append(SegmentsLayer([x1], [y1], [x2], [y2], dash=True))
        return [*found, *self._tree(stage)]

    def _tree(self, stage: Stage) -> list[Layer]:
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


class CurveView(View):
    """The answers of a regression along one column, with the band of its predictions if it knows one."""

    @cached_property
    def column(self) -> int:
        """The column that varies: the one that goes with the target best."""
        return _best_columns(self.scene.numbers, _target(self.scene)[:, np.newaxis])[0]

    @cached_property
    def line(self) -> tuple[Array, Data]:
        """Places along the column, and the rows there."""
        along = feature_slice(self.scene.X, [self.column])
        low, high = _range(along.values(0))
        x = np.linspace(low, high, CURVE)
        return x, along.rows(x)

    @property
    def axes(self) -> dict[str, Any]:
        places = np.column_stack([self.scene.numbers[:, self.column], _target(self.scene)])
        return axes_around(places, [self.scene.names[self.column], "target"])

    def base(self) -> list[Layer]:
        return [PointsLayer(self.scene.numbers[:, self.column], _target(self.scene), row=True)]

    def layers(self, stage: Stage) -> list[Layer]:
        x, rows = self.line
        curve = PolylineLayer(x, np.asarray(stage.model.predict(rows)), 0, width=2)
        band: list[Layer] = []
        if stage.model is self.scene.model and hasattr(stage.model, "prediction_interval"):
            low, high = stage.model.prediction_interval(rows)
            band = [BandLayer(x, low, high, 0)]
        return [*band, curve, *grown_tree(self.scene, stage)]


class CoefficientsView(View):
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

    def layers(self, stage: Stage) -> list[Layer]:
        coefficients = np.ravel(stage.model.coef_)
        order = np.arange(len(coefficients))
        bars = BarsLayer(self.scene.names, coefficients, order)
        if len(self.way) == 1:
            return [bars]
        place = next(i for i, other in enumerate(self.scene.stages) if other.label == stage.label) + 1
        marks = PointsLayer(np.full(len(order), place), coefficients, order, movable=handle("coef_"))
        return [marks, bars]


Test = Callable[[Scene], bool]


def _has(*names: str) -> Test:
    return lambda scene: all(hasattr(scene.model, name) for name in names)


VIEWS: tuple[tuple[Test, type[View]], ...] = (
    (lambda scene: is_classifier(scene.model), ClassesView),
    (lambda scene: is_classifier(scene.model), ProbabilityView),
    (lambda scene: is_regressor(scene.model) and scene.numbers.shape[1] == 1, CurveView),
    (lambda scene: is_regressor(scene.model) and np.ndim(getattr(scene.model, "coef_", 0.0)) == 1, CoefficientsView),
    (lambda scene: is_regressor(scene.model), CurveView),
    (_has("cluster_centers_", "labels_"), CentersView),
    (_has("means_", "covariances_", "weights_"), EllipsesView),
    (_has("children_", "distances_", "labels_"), MergesView),
    (
        lambda scene: _has("components_", "mean_", "explained_variance_")(scene) and scene.numbers.shape[1] == 2,
        PrincipalView,
    ),
    (lambda scene: hasattr(scene.model, "labels_") or hasattr(scene.model, "predict"), ClustersView),
    (lambda scene: not hasattr(scene.model, "labels_") and hasattr(scene.model, "fit_transform"), MapView),
)
"""What a model and its data have -> the view that draws it; the first that fits is taken."""


def view_of(scene: Scene) -> View:
    """Return the view of a fitted model, or say that there is none."""
    columns = scene.numbers.shape[1]
    for fits, kind in VIEWS:
        if fits(scene) and columns >= kind.fewest_columns:
            return kind(scene)
    raise ValueError(
        f"estimator must be one that can be drawn on {columns} column{'' if columns == 1 else 's'}, got "
        f"{type(scene.model).__name__}. Clusters need two columns or more."
    )


def chosen_columns(scene: Scene) -> list[int]:
    """Return the two columns to draw: those that tell the target best, or those that vary most."""
    X = scene.numbers
    if X.shape[1] <= 2 or scene.y is None:
        return sorted(np.argsort(-X.var(axis=0), kind="stable")[:2].tolist())
    told = np.eye(int(scene.codes.max()) + 1)[scene.codes] if scene.codes is not None else X
    return sorted(_best_columns(X, told)[:2])


def _best_columns(X: Array, told: Array) -> list[int]:
    """Return the columns, the one with the largest sum of squared correlations with what is told first."""
    deviations = [(part - part.mean(axis=0)) for part in (X, told)]
    lengths = [np.maximum(np.linalg.norm(part, axis=0), np.finfo(float).tiny) for part in deviations]
    one, other = (part / length for part, length in zip(deviations, lengths, strict=True))
    return list(np.argsort(-((one.T @ other) ** 2).sum(axis=1), kind="stable").tolist())


def axes_around(places: Array, labels: Sequence[str], *, equal: bool = False) -> dict[str, Any]:
    """Return axes with room around all places."""
    x, y = ({"label": label, "range": list(_range(places[:, k]))} for k, label in enumerate(labels))
    return {"x": x, "y": y, "equal": equal}


def is_equal(places: Array) -> bool:
    """Return whether two columns reach about as far, so that a unit may be as long on both axes."""
    across, up = np.ptp(places, axis=0)
    return bool(max(across, up) <= 3 * min(across, up))


def nearest(X: Array, centers: Array) -> Array:
    """Return the number of the nearest center of each row; of equally near ones the first."""
    gaps = [((X - center) ** 2).sum(axis=1) for center in centers]
    return np.argmin(gaps, axis=0)


def grown_tree(scene: Scene, stage: Stage) -> list[Layer]:
    """Return the nodes that a single tree has at a stage, where they stand in the grown tree."""
    from pellucid.plots.tree_plot import tree_layout
    from pellucid.tree.explaining.rules_in_words import readable_tree

    trees: Any = getattr(scene.model, "trees_", None)
    if getattr(trees, "n_trees", 0) != 1 or trees.value.shape[1] != 1 or trees.is_leaf.sum() > MOST_LEAVES:
        return []
    tree = readable_tree(scene.model, scene.names)
    layout = tree_layout(tree, np.zeros(len(tree.branches), dtype=bool), None)
    is_split = stage.known.get("is_split", np.array([bool(branches) for branches in tree.branches]))
    nodes: list[dict[str, Any]] = []
    waiting: list[tuple[int, int | None]] = [(0, None)]
    while waiting:
        node, parent = waiting.pop(0)
        own = len(nodes)
        nodes.append(_node(scene.model, tree, layout, node, parent, is_split=bool(is_split[node])))
        waiting += [(child, own) for child, _ in tree.branches[node]] if is_split[node] else []
    return [TreeLayer(nodes)]


def _node(model: Any, tree: Any, layout: Any, node: int, parent: int | None, *, is_split: bool) -> dict[str, Any]:
    is_class = is_classifier(model)
    best = int(np.argmax(tree.value[node])) if is_class else None
    says = str(model.classes_[best]) if is_class else f"{float(tree.value[node][0]):.4g}"
    return {
        "x": (layout.x[node] + 0.5) / (layout.x.max() + 1),
        "y": 1 - (layout.depth[node] + 0.5) / (layout.depth.max() + 1),
        "text": f"{tree.branches[node][0][1]}?" if is_split else says,
        "parent": parent,
        "class": best,
    }


def _told(node: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in node.items() if name != "cut" or value}


def _two_columns(places: Array) -> Array:
    """Return the first two columns; in the place of a second that is not there, zeros."""
    return places[:, :2] if places.shape[1] > 1 else np.column_stack([places[:, 0], np.zeros(len(places))])


def _target(scene: Scene) -> Array:
    assert scene.y is not None  # a regressor was fitted to it
    return np.asarray(scene.y, dtype=float)


def _range(values: Array) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * (high - low) if high > low else 1.0
    return low - margin, high + margin
