"""Shepard plot: distances on a map against those in the data, pair by pair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from pellucid.core.random_state import some_rows
from pellucid.core.types import Data
from pellucid.drawing.style import LINE_WIDTH, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PAIRS = 20_000
"""Of more pairs some are drawn."""


def plot_shepard(model: Any, ax: Axes | None = None, *, distances: Data = None) -> Axes:
    """Draw the distance on the map of each pair of rows against that in the data, and the line of a perfect map.

    Parameters
    ----------
    model : fitted estimator of :mod:`pellucid.manifold`
        Its map is compared with the distances that it was made from.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    distances : array-like of shape (n_samples, n_samples), default=None
        Other distances to compare with, such as ``dist_matrix_`` of Isomap.
    """
    known = squareform(np.asarray(model.input_distances() if distances is None else distances), checks=False)
    on_map = pdist(np.asarray(model.embedding_, dtype=np.float64))
    together, squares = float(known @ on_map), float(known @ known)
    slope = together / squares if squares > 0.0 else 1.0
    pairs = some_rows(len(known), MOST_PAIRS)
    ax = tidy_axes(ax)
    size = float(np.clip(20_000 / len(pairs), 4.0, 16.0))
    ax.scatter(known[pairs], on_map[pairs], s=size, alpha=0.35, linewidths=0, color=color(0), rasterized=True)
    end = float(known.max(initial=0.0))
    label = f"a map in proportion: {slope:.3g} times the distance"
    ax.plot([0.0, end], [0.0, slope * end], color=color(1), linewidth=LINE_WIDTH / 2, label=label)
    ax.set_xlabel("distance in the data")
    ax.set_ylabel("distance on the map")
    ax.set_title(str(model.quality(1 if len(model.embedding_) < 11 else 5, distances=distances)), fontsize=8)
    ax.legend(frameon=False, fontsize=8, loc="upper left")
    return ax
