"""Clusters around centers: the region of each, the rows, and the way the centers went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.drawing.style import INK, LINE_WIDTH, color, tidy_axes
from pellucid.plots.feature_slice import FeatureSlice, feature_slice
from pellucid.plots.shaded_regions import GRID, draw_borders, draw_shades, reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_cluster_regions(
    model: Any,
    X: Data,
    features: Sequence[Any] = (0, 1),
    *,
    step: int | None = None,
    at: Any = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which center is nearest to every place of a plane, the rows by their cluster, and the centers.

    After a fit inside ``with pellucid.record():`` the way of every center is drawn too, and ``step`` shows the clusters
    as they were in that round, so that a class can go through them one by one.

    Parameters
    ----------
    model : fitted clusterer with ``cluster_centers_``
        KMeans, MiniBatchKMeans and others like them.
    X : array-like of shape (n_samples, n_features)
        Rows to draw.
    features : two numbers or names of columns, default=(0, 1)
        Which features span the plane.
    step : int, default=None
        The round to show, counted from 1; None shows the answer.
    at : mapping or array-like, default=None
        Values of the other features, as in :func:`plot_decision_regions`; by default their medians.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    if not hasattr(model, "cluster_centers_"):
        raise ValueError(f"model must have cluster_centers_, got {type(model).__name__}. Use plot_silhouettes.")
    if len(features) != 2:
        raise ValueError(f"features must be two columns of X, got {len(features)}: {tuple(features)}.")
    plane, ways = feature_slice(X, features, at), _ways(model)
    centers = _centers_at(model, ways, step)
    ax = tidy_axes(ax)
    pair = list(plane.varying)
    drawn = ways[: step or len(ways)]
    seen = [np.concatenate([plane.values(k), *(one[:, j] for one in (centers, *drawn))]) for k, j in enumerate(pair)]
    across, up = (reach(values) for values in seen)
    grid = plane.rows(*(side.ravel() for side in np.meshgrid(across, up)))
    codes = _nearest(np.asarray(grid, dtype=float), centers).reshape(GRID, GRID)
    draw_shades(ax, across, up, codes, len(centers))
    draw_borders(ax, across, up, codes, len(centers))
    _draw_rows(ax, plane, _nearest(np.column_stack([plane.columns[name] for name in plane.names]), centers))
    for k in range(len(centers)):
        if len(drawn) > 1:
            way = np.array([one[k, pair] for one in (*drawn, centers)])
            ax.plot(*way.T, color=INK, linewidth=LINE_WIDTH / 2, marker=".", markersize=3.0, zorder=4)
        x, y = centers[k, pair]
        ax.scatter(x, y, s=130, marker="*", color=color(k), edgecolors=INK, linewidths=0.9, zorder=5)
    ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]), xlabel=plane.label(0), ylabel=plane.label(1))
    if plane.held:
        ax.set_title(f"slice {plane.note()}", fontsize="medium", color=INK, loc="left")
    return ax


def _ways(model: Any) -> list[Array]:
    """Return the centers of every round that was recorded."""
    trace = getattr(model, "trace_", None)
    return [state["centers"] for state in getattr(trace, "states", ()) if "centers" in state]


def _centers_at(model: Any, ways: list[Array], step: int | None) -> Array:
    if step is None:
        return np.asarray(model.cluster_centers_, dtype=float)
    if not 1 <= step <= len(ways):
        raise ValueError(
            f"step must be a round that was recorded, of {len(ways)}, got {step}. Fit inside pellucid.record()."
        )
    return np.asarray(ways[step - 1], dtype=float)


def _nearest(rows: Array, centers: Array) -> Array:
    return np.stack([np.square(rows - center).sum(axis=1) for center in centers], axis=1).argmin(axis=1)


def _draw_rows(ax: Axes, plane: FeatureSlice, labels: Array) -> None:
    size = float(np.clip(6000.0 / max(len(labels), 1), 4.0, 30.0))
    colors = [color(k) for k in labels]
    ax.scatter(plane.values(0), plane.values(1), s=size, c=colors, edgecolors="white", linewidths=0.3, zorder=3)
