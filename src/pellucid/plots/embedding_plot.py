"""Maps: the places of the rows, with the quality of the map; several maps of the same rows side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.drawing.style import INK, color, tidy_axes

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
