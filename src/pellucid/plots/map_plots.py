"""Maps: the places of the rows, with the quality of the map; several maps of the same rows side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import pdist, squareform

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.name_places import write_names
from pellucid.plots.drawing.style import (
    INK,
    LABEL_SIZE,
    LINE_WIDTH,
    MORE_COLORS,
    QUIET,
    SMALL_SIZE,
    class_color,
    color,
    legend_beside,
    panels,
    tidy_axes,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_COLUMNS = 4
SMALLEST, LARGEST = 6.0, 36.0
"""Areas of dots, for many rows and for few."""

MOST_CLASSES = len(MORE_COLORS)
"""Whole numbers with more different values are measurements on a scale, not classes."""


def plot_embedding(
    model: Any,
    ax: Axes | None = None,
    *,
    values: Data = None,
    names: Data = None,
    north: Data = None,
    edges: Any = None,
    n_neighbors: int = 5,
) -> Axes:
    """Draw the first two dimensions of a fitted map, in true proportions, with its quality figures below.

    Parameters
    ----------
    model : fitted estimator of :mod:`pellucid.manifold`
        Its ``embedding_`` is drawn; one dimension is drawn as a line.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    values : array-like of shape (n_samples,), default=None
        Classes (words, or few whole numbers) that color the rows and have a legend, or numbers on a scale.
    names : sequence of str, default=None
        What to write at each row; names move apart where they would cover each other.
    north : array-like of shape (n_samples, 2), default=None
        Known places to the right and up, such as longitude and latitude: the map is turned and mirrored to agree with
        them, for the eye only. Distances do not say where north is.
    edges : sparse matrix of shape (n_samples, n_samples), default=None
        Pairs of rows to join by lines, such as ``neighbor_graph_`` of Isomap.
    n_neighbors : int, default=5
        Neighbors that the quality figures look at.
    """
    places = np.asarray(model.embedding_, dtype=np.float64)
    places = places[:, :2] if places.shape[1] > 1 else np.column_stack([places[:, 0], np.zeros(len(places))])
    if north is not None:
        places = _turned(places, north)
    ax = tidy_axes(ax, (6.4, 5.6))
    ax.spines[:].set_visible(False)
    if edges is not None:
        _draw_edges(ax, places, edges)
    _draw_rows(ax, places, values)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(type(model).__name__, fontsize=LABEL_SIZE, color=INK)
    quality = model.quality(min(n_neighbors, max(1, (len(places) - 1) // 2)))
    figures = str(quality).split(", ")
    ax.set_xlabel(f"{', '.join(figures[:2])}\n{', '.join(figures[2:])}", fontsize=SMALL_SIZE)
    if names is not None:
        ax.margins(0.08)
        write_names(ax, places, [str(name) for name in names], size=SMALL_SIZE)
    return ax


def plot_embeddings(models: Any, *, values: Data = None, n_neighbors: int = 5) -> Array:
    """Draw several fitted maps of the same rows in one figure, and return its axes, one for each.

    Parameters
    ----------
    models : list of fitted estimators of :mod:`pellucid.manifold`, or dict from titles to these
        The maps, at most four side by side.
    values : array-like of shape (n_samples,), default=None
        Classes or numbers that color the rows, the same on every map.
    n_neighbors : int, default=5
        Neighbors that the quality figures look at.
    """
    named = dict(models) if hasattr(models, "items") else {f"{k}": model for k, model in enumerate(models)}
    n_columns = min(MOST_COLUMNS, len(named))
    figure, axes = panels(-(-len(named) // n_columns), n_columns, (3.3, 3.5))
    for number, (ax, (title, model)) in enumerate(zip(axes, named.items(), strict=False)):
        plot_embedding(model, ax, values=values, n_neighbors=n_neighbors)
        if hasattr(models, "items"):
            ax.set_title(title, fontsize=LABEL_SIZE, color=INK)
        legend = ax.get_legend()
        if legend is not None and number < len(named) - 1:  # the colors mean the same on every map
            legend.remove()
    for ax in axes[len(named) :]:
        figure.delaxes(ax)
    return np.asarray(axes[: len(named)])


def _turned(places: Array, north: Data) -> Array:
    """Return the places turned and mirrored so that they lie as the known ones do."""
    known = np.asarray(north, dtype=np.float64)
    if known.shape != places.shape:
        raise ValueError(f"north must have two numbers for each of the {len(places)} rows, got {known.shape}.")
    left, _, right = np.linalg.svd((known - known.mean(axis=0)).T @ (places - places.mean(axis=0)))
    return np.asarray(places @ (left @ right).T)


def _draw_edges(ax: Axes, places: Array, edges: Any) -> None:
    from matplotlib.collections import LineCollection
    from scipy.sparse import coo_array

    pairs = coo_array(edges)
    once = pairs.row < pairs.col
    ends = np.stack([places[pairs.row[once]], places[pairs.col[once]]], axis=1)
    ax.add_collection(LineCollection(list(ends), colors=QUIET, linewidths=0.6, alpha=0.6, zorder=0))


def _draw_rows(ax: Axes, places: Array, values: Data) -> None:
    """Draw the rows in one color, in one for each class with a legend, or on a scale of numbers with its bar."""
    size = float(np.clip(6000.0 / len(places), SMALLEST, LARGEST))
    given = None if values is None else np.asarray(values)
    if given is None:
        ax.scatter(places[:, 0], places[:, 1], s=size, linewidths=0, color=color(0))
        return
    different, codes = np.unique(given, return_inverse=True)
    if given.dtype.kind == "f" or (given.dtype.kind in "iu" and len(different) > MOST_CLASSES):
        dots = ax.scatter(places[:, 0], places[:, 1], s=size, linewidths=0, c=given, cmap="viridis")
        bar = ax.figure.colorbar(dots, ax=ax, shrink=0.8)
        bar.outline.set_visible(False)  # type: ignore[operator]  # a spine, whatever its type says
        bar.set_label(str(getattr(values, "name", None) or "value"), color=INK)
        return
    for k, label in enumerate(different):
        own, shade = places[codes == k], class_color(k, len(different))
        ax.scatter(own[:, 0], own[:, 1], s=size, linewidths=0, color=shade, label=str(label))
    legend_beside(ax, markerscale=1.5, ncols=1 if len(different) <= 2 * MOST_CLASSES else 2)


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
    quality = str(model.quality(1 if len(model.embedding_) < 11 else 5, distances=distances))
    ax.set_title(quality, fontsize=SMALL_SIZE, color=INK)
    write_legend(ax, loc="upper left")
    return ax
