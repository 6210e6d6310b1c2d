"""Maps: the places of the rows, with the quality of the map; several maps of the same rows side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_COLUMNS = 4
SMALLEST, LARGEST = 4.0, 25.0
"""Areas of dots, for many rows and for few."""


def plot_embedding(
    model: Any, ax: Axes | None = None, *, values: Data = None, names: Data = None, n_neighbors: int = 5
) -> Axes:
    """Draw the first two dimensions of a fitted map, in true proportions, with its quality figures below.

    Parameters
    ----------
    model : fitted estimator of :mod:`pellucid.manifold`
        Its ``embedding_`` is drawn; one dimension is drawn as a line.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    values : array-like of shape (n_samples,), default=None
        Numbers or labels that color the rows.
    names : sequence of str, default=None
        What to write at each row.
    n_neighbors : int, default=5
        Neighbors that the quality figures look at.
    """
    places = np.asarray(model.embedding_, dtype=np.float64)
    places = places[:, :2] if places.shape[1] > 1 else np.column_stack([places[:, 0], np.zeros(len(places))])
    ax = tidy_axes(ax)
    size = float(np.clip(4000.0 / len(places), SMALLEST, LARGEST))
    ax.scatter(places[:, 0], places[:, 1], s=size, linewidths=0, **_colors(values))
    for name, place in zip(() if names is None else names, places, strict=False):
        ax.annotate(str(name), place, (4, 2), textcoords="offset points", fontsize=7, color=INK)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(type(model).__name__, fontsize=10, color=INK)
    quality = model.quality(min(n_neighbors, max(1, (len(places) - 1) // 2)))
    figures = str(quality).split(", ")
    ax.set_xlabel(f"{', '.join(figures[:2])}\n{', '.join(figures[2:])}", fontsize=7)
    return ax


def plot_embeddings(models: Any, *, values: Data = None, n_neighbors: int = 5) -> Array:
    """Draw several fitted maps of the same rows in one figure, and return its axes, one for each.

    ``models`` is a list of estimators, or a dict from titles to these.
    """
    import matplotlib.pyplot as plt

    named = dict(models) if hasattr(models, "items") else {f"{k}": model for k, model in enumerate(models)}
    n_columns = min(MOST_COLUMNS, len(named))
    n_rows = -(-len(named) // n_columns)
    figure, grid = plt.subplots(
        n_rows, n_columns, figsize=(3.0 * n_columns, 3.2 * n_rows), layout="constrained", squeeze=False
    )
    axes = grid.ravel()
    for ax, (title, model) in zip(axes, named.items(), strict=False):
        plot_embedding(model, ax, values=values, n_neighbors=n_neighbors)
        if hasattr(models, "items"):
            ax.set_title(title, fontsize=10, color=INK)
    for ax in axes[len(named) :]:
        figure.delaxes(ax)
    return np.asarray(axes[: len(named)])


def _colors(values: Data) -> dict[str, Any]:
    """Return how dots are colored: one color, one for each label, or a scale for numbers."""
    if values is None:
        return {"color": color(0)}
    given = np.asarray(values)
    different, codes = np.unique(given, return_inverse=True)
    if given.dtype.kind not in "f" and len(different) <= 6:
        return {"color": [color(int(code)) for code in codes]}
    return {"c": codes if given.dtype.kind not in "iuf" else given, "cmap": "viridis"}


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
