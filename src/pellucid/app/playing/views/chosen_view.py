"""Which view a model has: found by what the model and its data have, not by a name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import is_classifier, is_regressor

from pellucid.app.playing.views.class_views import ClassesView, ProbabilityView
from pellucid.app.playing.views.cluster_views import CentersView, ClustersView, EllipsesView, MergesView
from pellucid.app.playing.views.map_views import MapView, PrincipalView
from pellucid.app.playing.views.regression_views import CoefficientsView, CurveView
from pellucid.app.playing.views.scene import FitScene, FitView

Test = Callable[[FitScene], bool]


def _has(*names: str) -> Test:
    return lambda scene: all(hasattr(scene.model, name) for name in names)


VIEWS: tuple[tuple[Test, type[FitView]], ...] = (
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


def view_of(scene: FitScene) -> FitView:
    """Return the view of a fitted model, or say that there is none."""
    columns = scene.numbers.shape[1]
    for fits, kind in VIEWS:
        if fits(scene) and columns >= kind.fewest_columns:
            return kind(scene)
    raise ValueError(
        f"estimator must be one that can be drawn on {columns} column{'' if columns == 1 else 's'}, got "
        f"{type(scene.model).__name__}. Clusters need two columns or more."
    )
