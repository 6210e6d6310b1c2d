"""Silhouettes of all rows, cluster by cluster: wide and even blades are good clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.cluster.silhouette import silhouette_samples
from pellucid.core.random_state import some_rows
from pellucid.core.types import Data
from pellucid.drawing.style import INK, QUIET, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 5000
"""Of more rows some are drawn."""

GAP = 0.02
"""Distance between two clusters, in parts of the height."""


def plot_silhouettes(
    X: Data, labels: Data, ax: Axes | None = None, *, metric: Any = "euclidean", names: Any = None
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
        As for :func:`pellucid.cluster.silhouette_samples`.
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
    ax.set_xlabel("silhouette: 1 in the midst of its cluster, 0 between two, below 0 nearer to another")
    return ax
