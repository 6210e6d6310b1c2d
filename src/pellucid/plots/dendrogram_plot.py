"""The tree of a hierarchical clustering: who merged at what height, and where the cut is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array
from pellucid.drawing.style import INK, QUIET, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    order, places = _layout(children, n)
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


def _layout(children: Array, n: int) -> tuple[Array, Array]:
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
    ax.set_xticks(range(len(order)), texts, rotation=90 if is_long else 0, fontsize=8)
    ax.set_xlabel("row" if names is None else "")
