"""Directions that data are projected on: contours of components, PCA against LDA, and what a projection loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.decision_regions_plot import MARKERS, reach
from pellucid.plots.drawing.style import (
    INK,
    LABEL_SIZE,
    LINE_WIDTH,
    QUIET,
    class_color,
    color,
    legend_beside,
    panels,
    tidy_axes,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRID = 120
LEVELS = 11
BINS = 24


def plot_component_contours(
    model: Any, X: Data, y: Data = None, *, components: Sequence[int] = (0, 1, 2), figure: Figure | None = None
) -> Figure:
    """Draw the value of each component over the plane of two columns, as contours; those of KernelPCA are curved.

    Along a contour the component says nothing; rows on different sides of the dark one, at 0, it tells apart.

    Parameters
    ----------
    model : fitted KernelPCA, PCA or another with ``transform``
        Of two columns.
    X : array-like of shape (n_samples, 2)
        Rows to draw.
    y : array-like of shape (n_samples,), default=None
        Classes of the rows, for colors.
    components : sequence of int, default=(0, 1, 2)
        Which components, counted from 0; those that the model does not have are left out.
    figure : Figure, default=None
        Where to draw; None makes a new one, with a picture for each component.
    """
    check_is_fitted(model)
    rows = _two_columns(X)
    across, up = (reach(rows[:, k])[:: 320 // GRID] for k in (0, 1))
    plane = np.stack([side.ravel() for side in np.meshgrid(across, up)], axis=1)
    values = np.asarray(model.transform(_like(X, plane)), dtype=float)
    shown = [k for k in components if 0 <= k < values.shape[1]]
    if not shown:
        raise ValueError(f"components must be some of the {values.shape[1]} fitted ones, got {tuple(components)}.")
    if figure is None:
        figure, axes = panels(1, len(shown), (4.0, 3.9))
    else:
        axes = [tidy_axes(figure.add_subplot(1, len(shown), k + 1)) for k in range(len(shown))]
    names = _column_names(X)
    for ax, k in zip(axes, shown, strict=True):
        heights = values[:, k].reshape(len(up), len(across))
        largest = float(np.abs(heights).max()) or 1.0
        levels = np.linspace(-largest, largest, LEVELS)
        ax.contourf(across, up, heights, levels=levels, cmap="PuOr", alpha=0.4, zorder=0)
        ax.contour(across, up, heights, levels=levels, colors=INK, linewidths=0.5, linestyles="-", zorder=1)
        if heights.min() < 0.0 < heights.max():
            ax.contour(across, up, heights, levels=[0.0], colors=INK, linewidths=LINE_WIDTH, zorder=2)
        _draw_classes(ax, rows, y, size=18.0)
        ax.set_title(f"component {k + 1}", fontsize=LABEL_SIZE, color=INK)
        ax.set(xlabel=names[0], ylabel=names[1])
    if y is not None:
        legend_beside(axes[-1])
    return figure


def plot_projections(models: Mapping[str, Any], X: Data, y: Data, figure: Figure | None = None) -> Figure:
    """Draw the first direction of each model over the rows, and below how the classes lie along it.

    With PCA and LDA of the same data it shows that the direction of the largest variance need not tell classes apart.

    Parameters
    ----------
    models : dict from names to fitted models
        Each with ``components_`` (PCA) or ``scalings_`` (LDA), of two columns.
    X, y : array-like of shape (n_samples, 2), (n_samples,)
        Rows and their classes.
    figure : Figure, default=None
        Where to draw; None makes a new one.
    """
    rows, labels = _two_columns(X), np.asarray(y)
    if not models:
        raise ValueError("models must have at least one model, got none.")
    ways = {name: _direction(model) for name, model in models.items()}
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(6.0 + 4.6, 2.2 * max(len(ways), 2) + 0.4), layout="constrained")
    grid = figure.add_gridspec(len(ways), 2, width_ratios=(1.25, 1.0))
    ax = tidy_axes(figure.add_subplot(grid[:, 0]))
    _draw_classes(ax, rows, labels, size=26.0)
    middle = rows.mean(axis=0)
    different = np.unique(labels)
    for k, (name, way) in enumerate(ways.items()):
        along = (rows - middle) @ way
        ends = middle + np.outer([1.15 * along.min(), 1.15 * along.max()], way)
        dashes: Any = "-" if k == 0 else (0, (5, 1.5))
        ax.plot(*ends.T, color=INK, linewidth=LINE_WIDTH, linestyle=dashes, zorder=4, label=f"{name} direction")
        below = tidy_axes(figure.add_subplot(grid[k, 1]))
        bins = np.linspace(along.min(), along.max(), BINS + 1).tolist()
        for c, label in enumerate(different):
            ink = class_color(c, len(different))
            below.hist(along[labels == label], bins=bins, color=ink, alpha=0.6, label=str(label))
        below.set(xlabel=f"along the {name} direction", ylabel="rows")
    names = _column_names(X)
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal", adjustable="datalim")
    write_legend(ax, loc="best")
    return figure


def plot_directions(models: Mapping[str, Any], X: Data, ax: Axes | None = None) -> Axes:
    """Draw all directions of each model as arrows from the mean of the rows: those of PCA are at right angles.

    Arrows of PCA are two deviations long; those of FastICA are the columns of its mixing matrix, two units of a source.

    Parameters
    ----------
    models : dict from names to fitted models
        Each with ``mixing_`` (FastICA) or ``components_`` (PCA), of two columns.
    X : array-like of shape (n_samples, 2)
        Rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    rows = _two_columns(X)
    middle = rows.mean(axis=0)
    ax = tidy_axes(ax, (6.4, 5.0))
    ax.scatter(rows[:, 0], rows[:, 1], s=12, color=QUIET, alpha=0.6, linewidths=0, zorder=1)
    for k, (name, model) in enumerate(models.items()):
        for number, tip in enumerate(2.0 * _spreads(model)):
            arrow = {"arrowstyle": "-|>", "color": color(k), "linewidth": LINE_WIDTH, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", tuple(middle + tip), tuple(middle), arrowprops=arrow, zorder=4)
            told = name if number == 0 else None
            ax.plot(*(middle + tip), ".", color=color(k), markersize=1, zorder=3)  # so that the axes reach the tip
            ax.plot([], [], color=color(k), linewidth=LINE_WIDTH, label=told)
    names = _column_names(X)
    ax.set(xlabel=names[0], ylabel=names[1])
    ax.set_aspect("equal", adjustable="datalim")
    write_legend(ax)
    return ax


def _spreads(model: Any) -> Array:
    """Return the directions of a model, each as long as rows deviate along it."""
    check_is_fitted(model)
    mixing = getattr(model, "mixing_", None)
    if mixing is not None:
        return np.asarray(mixing, dtype=float).T
    deviations = np.sqrt(np.asarray(model.explained_variance_, dtype=float))
    return deviations[:, None] * np.asarray(model.components_, dtype=float)


def plot_reconstruction(model: Any, X: Data, ax: Axes | None = None, *, n_components: int = 1) -> Axes:
    """Draw rows of two columns, the line of the first component, and each row as that component alone gives it back.

    The line is that of the largest variance, and that of the least squared distance: they are the same.

    Parameters
    ----------
    model : fitted PCA
        Of two columns.
    X : array-like of shape (n_samples, 2)
        Rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    n_components : int, default=1
        Components kept, 1 or 2.
    """
    check_is_fitted(model, "components_")
    rows = _two_columns(X)
    if not 1 <= n_components <= len(model.components_):
        raise ValueError(f"n_components must be 1 to {len(model.components_)}, got {n_components}.")
    ways, middle = np.asarray(model.components_, dtype=float)[:n_components], np.asarray(model.mean_, dtype=float)
    back = middle + (rows - middle) @ ways.T @ ways
    ax = tidy_axes(ax, (6.4, 5.0))
    far = 1.15 * float(np.abs((rows - middle) @ ways[0]).max())
    ends = middle + np.outer([-far, far], ways[0])
    ax.plot(*ends.T, color=color(1), linewidth=LINE_WIDTH, zorder=1, label="first component")
    for row, place in zip(rows, back, strict=True):
        ax.plot(*zip(row, place, strict=True), color=QUIET, linewidth=1.0, zorder=1)
    ax.scatter(rows[:, 0], rows[:, 1], s=40, color=color(0), linewidths=0, zorder=3, label="rows")
    ax.scatter(back[:, 0], back[:, 1], s=30, color=color(1), linewidths=0, zorder=2, label="rows as given back")
    ax.plot(*middle, "+", color=INK, markersize=14, markeredgewidth=2.0, zorder=4, label="mean")
    lost = float(np.sum((rows - back) ** 2))
    whole = float(np.sum((rows - middle) ** 2))
    ax.set_title(f"lost: {lost:.4g} of {whole:.4g} ({lost / whole:.1%})" if whole > 0 else "", fontsize=LABEL_SIZE)
    ax.set_aspect("equal", adjustable="datalim")
    names = _column_names(X)
    ax.set(xlabel=names[0], ylabel=names[1])
    write_legend(ax)
    return ax


def _two_columns(X: Data) -> Array:
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns to be drawn in a plane, got shape {rows.shape}.")
    return rows


def _column_names(X: Data) -> list[str]:
    return [str(name) for name in getattr(X, "columns", ("x1", "x2"))]


def _like(X: Data, plane: Array) -> Data:
    """Return places as data of the same kind, so that a model fitted on named columns knows them again."""
    return type(X)({name: plane[:, k] for k, name in enumerate(X.columns)}) if hasattr(X, "columns") else plane


def _direction(model: Any) -> Array:
    """Return the first direction of a model, of length 1, in the columns of the data."""
    check_is_fitted(model)
    scalings = getattr(model, "scalings_", None)
    found = np.asarray(model.components_[0] if scalings is None else scalings[:, 0], dtype=float)
    if found.shape != (2,):
        raise ValueError(f"models must be of two columns, got a direction of {len(found)}.")
    return found / np.linalg.norm(found)


def _draw_classes(ax: Axes, rows: Array, y: Data, size: float) -> None:
    labels = np.zeros(len(rows)) if y is None else np.asarray(y)
    different = np.unique(labels)
    for k, label in enumerate(different):
        own = rows[labels == label]
        shown = None if y is None else str(label)
        ax.scatter(
            own[:, 0], own[:, 1], s=size, color=class_color(k, len(different)), marker=MARKERS[k % len(MARKERS)],
            edgecolors="white", linewidths=0.4, label=shown, zorder=3,
        )  # fmt: skip
