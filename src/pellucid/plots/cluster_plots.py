"""Clusters around centers: the region of each, the rows, and the way the centers went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.cluster.silhouette import silhouette_samples
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data, MetricLike
from pellucid.plots.decision_regions_plot import GRID, draw_borders, draw_shades, reach
from pellucid.plots.drawing.style import INK, LINE_WIDTH, QUIET, SMALL_SIZE, TEXT_SIZE, color, legend_beside, tidy_axes
from pellucid.plots.feature_slice import FeatureSlice, feature_slice

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
            told = "way of a center" if k == 0 else None
            ax.plot(*way.T, color=INK, linewidth=LINE_WIDTH / 2, marker=".", markersize=6.0, zorder=4, label=told)
        x, y = centers[k, pair]
        told = "center" if k == 0 else None
        ax.scatter(x, y, s=260, marker="*", color=color(k), edgecolors=INK, linewidths=1.2, zorder=5, label=told)
    ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]), xlabel=plane.label(0), ylabel=plane.label(1))
    if plane.held:
        ax.set_title(f"slice {plane.note()}", fontsize="medium", color=INK, loc="left")
    legend_beside(ax)
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
    size = float(np.clip(6000.0 / max(len(labels), 1), 6.0, 60.0))
    for k in np.unique(labels):
        own = labels == k
        told = f"cluster {k}: {own.sum():,} row{'' if own.sum() == 1 else 's'}"
        ax.scatter(
            plane.values(0)[own], plane.values(1)[own], s=size, color=color(k), edgecolors="white", linewidths=0.3,
            zorder=3, label=told,
        )  # fmt: skip


MOST_ROWS = 5000
"""Of more rows some are drawn."""

GAP = 0.02
"""Distance between two clusters, in parts of the height."""


def plot_silhouettes(
    X: Data, labels: Data, ax: Axes | None = None, *, metric: MetricLike = "euclidean", names: Any = None
) -> Axes:
    """Draw the silhouette of each row, sorted within its cluster, and the mean of all.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, or their distances for ``metric='precomputed'``.
    labels : array-like of shape (n_samples,)
        The cluster of each row.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    metric : str or callable, default='euclidean'
        The distance of rows, by scikit-learn's names; 'precomputed' for a matrix of distances.
    names : sequence of str, default=None
        What to call the clusters, in the order of their labels.
    """
    X, labels = X if hasattr(X, "tocsr") else np.asarray(X), np.asarray(labels)
    rows = some_rows(len(labels), MOST_ROWS)
    is_given = isinstance(metric, str) and metric == "precomputed"
    values = silhouette_samples(X[rows][:, rows] if is_given else X[rows], labels[rows], metric=metric)
    ax = tidy_axes(ax)
    middles, bottom = [], 0.0
    different = np.unique(labels[rows])
    for number, label in enumerate(different):
        own = np.sort(values[labels[rows] == label])[::-1]
        heights = bottom + np.arange(len(own) + 1)
        ax.fill_betweenx(np.repeat(heights, 2)[1:-1], 0.0, np.repeat(own, 2), color=color(number), linewidth=0)
        middles.append(bottom + len(own) / 2)
        bottom += len(own) + GAP * len(rows)
    mean = float(values.mean())
    ax.axvline(0.0, color=QUIET, linewidth=0.6)
    ax.axvline(mean, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.annotate(f"mean {mean:.2f}", (mean, 0.0), (3, 3), textcoords="offset points", color=INK, va="bottom")
    shown = [str(label) for label in different] if names is None else list(names)
    counts = [int(np.sum(labels == label)) for label in different]
    ax.set_yticks(middles, [f"{name} ({count:,})" for name, count in zip(shown, counts, strict=True)])
    ax.set_ylim(bottom, -GAP * len(rows) - 0.04 * bottom)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel("silhouette: 1 in the midst of its cluster,\n0 between two, below 0 nearer to another")
    return ax


MOST_NAMED = 60
"""Rows whose names can still be read under a tree."""


def plot_dendrogram(model: Any, names: Sequence[Any] | None = None, ax: Axes | None = None) -> Axes:
    """Draw the tree of a fitted AgglomerativeClustering or Diana, its clusters in colors, the cut as a line.

    Parameters
    ----------
    model : fitted AgglomerativeClustering or Diana
        With a whole tree: one that stopped early has no root.
    names : sequence of length n_samples, default=None
        What to write under the rows; None for their numbers. More than 60 are not written.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model, "children_")
    children, heights, n = model.children_, model.distances_, model.n_leaves_
    if len(children) != n - 1:
        raise ValueError(
            f"model must have a whole tree, got one of {len(children)} merges for {n} rows. "
            "Fit it with compute_full_tree=True."
        )
    if names is not None and len(names) != n:
        raise ValueError(f"names must have one entry per row, {n}, got {len(names)}.")
    from matplotlib.collections import LineCollection

    n_clusters = len(np.unique(model.labels_))
    order, places = dendrogram_layout(children, n)
    tops = np.concatenate([np.zeros(n), heights])
    whose = _clusters_of_nodes(children, model.labels_, n_clusters)
    ax = tidy_axes(ax)
    for label in range(-1, n_clusters):
        merges = np.flatnonzero(whose[n:] == label)
        lines = [_bracket(places[children[k]], tops[children[k]], heights[k]) for k in merges]
        shade = QUIET if label < 0 else color(label)
        ax.add_collection(LineCollection(lines, colors=shade, linewidths=1.0 if n > MOST_NAMED else 1.5))
    ax.set_xlim(-0.7, n - 0.3)
    ax.set_ylim(0.0, 1.05 * max(float(heights.max()), np.finfo(float).tiny))
    _draw_cut(ax, heights, n_clusters)
    _name_rows(ax, order, names)
    ax.set_ylabel("height")
    return ax


def dendrogram_layout(children: Array, n: int) -> tuple[Array, Array]:
    """Return the rows from left to right so that no lines cross, and the place of every node."""
    members: list[list[int]] = [[i] for i in range(n)]
    for i, j in children.tolist():
        members.append(members[i] + members[j])
        members[i], members[j] = [], []  # each row stands in one list only
    order = np.array(members[-1])
    places = np.empty(2 * n - 1)
    places[order] = np.arange(n)
    for k, (i, j) in enumerate(children.tolist(), start=n):
        places[k] = (places[i] + places[j]) / 2
    return order, places


def _clusters_of_nodes(children: Array, labels: Array, n_clusters: int) -> Array:
    """Return the cluster of each node; -1 above the cut."""
    n = len(labels)
    whose = np.concatenate([labels, np.full(n - 1, -1)])
    for k in range(n - n_clusters):
        whose[n + k] = whose[children[k, 0]]
    return whose


def _bracket(x: Array, bottoms: Array, top: float) -> Array:
    return np.array([[x[0], bottoms[0]], [x[0], top], [x[1], top], [x[1], bottoms[1]]])


def _draw_cut(ax: Axes, heights: Array, n_clusters: int) -> None:
    """Draw the line between the last merge that was made and the first that was not."""
    n = len(heights) + 1
    if n_clusters == 1:
        return
    above = float(heights[n - n_clusters])
    below = float(heights[n - n_clusters - 1]) if n_clusters < n else 0.0
    ax.axhline((above + below) / 2, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        f"{n_clusters} clusters",
        xy=(1.0, (above + below) / 2),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        color=INK,
    )


def _name_rows(ax: Axes, order: Array, names: Sequence[Any] | None) -> None:
    if len(order) > MOST_NAMED:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(order):,} rows")
        return
    texts = [str(row if names is None else names[row]) for row in order]
    is_long = max(map(len, texts)) * len(texts) > 90
    ax.set_xticks(
        range(len(order)), texts, rotation=90 if is_long else 0, fontsize=SMALL_SIZE if is_long else TEXT_SIZE
    )
    ax.set_xlabel("row" if names is None else "")
