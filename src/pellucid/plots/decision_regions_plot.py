"""Decision regions: which class a classifier gives to every place of a plane, with margins and support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, color, legend_beside, tidy_axes
from pellucid.plots.feature_slice import FeatureSlice, feature_slice
from pellucid.plots.tube_plot import support_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MARKERS = ("o", "s", "^", "D", "v", "P")


def plot_decision_regions(
    model: Any,
    X: Data,
    y: Data,
    features: Sequence[Any] = (0, 1),
    *,
    at: Any = None,
    slacks: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the regions in which a fitted classifier decides for each class, and the data.

    A classifier of two classes with a ``decision_function`` gets the line of score 0, and one that has support vectors
    the margins at -1 and 1 as well; support vectors have rings if ``X`` are the rows of the fit.

    Parameters
    ----------
    model : fitted classifier
        Also a pipeline that ends in one.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Data to draw, and their true classes.
    features : two numbers or names of columns, default=(0, 1)
        Which features span the plane.
    at : mapping or array-like, default=None
        Values of the other features, by number or name, or one for each feature; those not given are held at their
        median, words at the most frequent one. The plane is a slice then, and the points are seen from the front.
    slacks : bool, default=False
        Whether to join the rows on the wrong side of their margin to it: the slacks of a linear machine of two columns.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    if len(features) != 2:
        raise ValueError(f"features must be two columns of X, got {len(features)}: {tuple(features)}.")
    if not hasattr(model, "classes_"):
        raise ValueError(f"model must be a classifier, got {type(model).__name__}. Use plot_fitted_line or plot_tube.")
    plane, labels = feature_slice(X, features, at), np.asarray(y)
    if len(labels) != len(plane.values(0)):
        raise ValueError(f"y must have a class for each of the {len(plane.values(0))} rows of X, got {len(labels)}.")
    ax = tidy_axes(ax)
    support = support_rows(model, len(labels))
    across, up = (reach(plane.values(k)) for k in (0, 1))
    _draw_regions(ax, model, plane, across, up, has_margins=len(support) > 0)
    if slacks:
        _draw_slacks(ax, model, X, labels)
    _draw_points(ax, plane, labels, np.asarray(model.classes_), support)
    ax.set(xlim=(across[0], across[-1]), ylim=(up[0], up[-1]), xlabel=plane.label(0), ylabel=plane.label(1))
    if plane.held:
        ax.set_title(f"slice {plane.note()}", fontsize="medium", color=INK, loc="left")
    legend_beside(ax)
    return ax


def _draw_regions(ax: Axes, model: Any, plane: FeatureSlice, across: Array, up: Array, *, has_margins: bool) -> None:
    classes = np.asarray(model.classes_)
    grid = plane.rows(*(side.ravel() for side in np.meshgrid(across, up)))
    codes = np.searchsorted(classes, np.asarray(model.predict(grid))).reshape(GRID, GRID)
    draw_shades(ax, across, up, codes, len(classes))
    if len(classes) > 2 or not hasattr(model, "decision_function"):
        draw_borders(ax, across, up, codes, len(classes))
        return
    scores = np.asarray(model.decision_function(grid), dtype=float).reshape(GRID, GRID)
    levels = {0.0: "-"} | ({-1.0: "--", 1.0: "--"} if has_margins else {})
    for level, dashes in levels.items():
        if scores.min() < level < scores.max():
            width = LINE_WIDTH if level == 0.0 else LINE_WIDTH / 2
            ax.contour(across, up, scores, levels=[level], colors=INK, linewidths=width, linestyles=dashes, zorder=1)


def _draw_slacks(ax: Axes, model: Any, X: Data, labels: Array) -> None:
    """Draw the way from each row on the wrong side of its margin to that margin; its score changes by the slack."""
    rows, w = np.asarray(X, dtype=float), np.ravel(np.asarray(getattr(model, "coef_", ()), dtype=float))
    if len(model.classes_) != 2 or w.shape != (2,) or rows.shape[1] != 2:
        raise ValueError("slacks must be of a linear model of two classes and two columns. Leave slacks out.")
    sides = np.where(labels == model.classes_[1], 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - sides * np.asarray(model.decision_function(X), dtype=float))
    for number, i in enumerate(np.flatnonzero(slack > 1e-9)):
        end = rows[i] + sides[i] * slack[i] * w / (w @ w)
        told = "slack ξ" if number == 0 else None
        ax.plot(*zip(rows[i], end, strict=True), color=INK, linewidth=1.4, linestyle=":", zorder=2, label=told)


def _draw_points(ax: Axes, plane: FeatureSlice, labels: Array, classes: Array, support: Array) -> None:
    size = float(np.clip(6000.0 / max(len(labels), 1), 6.0, 30.0))
    x, y = plane.values(0), plane.values(1)
    for k, label in enumerate(classes):
        own = labels == label
        ax.scatter(
            x[own], y[own], s=size, color=color(k), marker=MARKERS[k % len(MARKERS)],
            edgecolors="white", linewidths=0.4, label=str(label), zorder=3,
        )  # fmt: skip
    if len(support):
        ax.scatter(
            x[support], y[support], s=3.2 * size, facecolors="none", edgecolors=INK, linewidths=0.8,
            label="support vector", zorder=2,
        )  # fmt: skip
    if len(support) and len(classes) == 2:
        ax.plot([], [], color=INK, linewidth=LINE_WIDTH / 2, linestyle="--", label="margin (score ±1)")


GRID = 320
"""Places along each axis."""
MARGIN = 0.06
"""The plane reaches this share of the range beyond the outermost points."""
SHADE = 0.18
"""How much of its color a region has: the points must stand out."""


def reach(values: Array) -> Array:
    """Return the places along an axis that shows these values."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * (high - low) if high > low else 1.0
    return np.linspace(low - margin, high + margin, GRID)


def draw_shades(ax: Axes, across: Array, up: Array, codes: Array, count: int) -> None:
    """Fill the places that have the same code, of ``count``, with a pale color."""
    from matplotlib.colors import ListedColormap, to_rgb

    shades = [tuple(1.0 - SHADE * (1.0 - part) for part in to_rgb(color(k))) for k in range(count)]
    ax.pcolormesh(
        across, up, codes, cmap=ListedColormap(shades), vmin=-0.5, vmax=count - 0.5, rasterized=True, zorder=0
    )


def draw_borders(ax: Axes, across: Array, up: Array, codes: Array, count: int) -> None:
    """Draw the borders between places of different codes."""
    for k in range(count):
        if 0 < np.count_nonzero(codes == k) < codes.size:
            ax.contour(across, up, codes == k, levels=[0.5], colors=INK, linewidths=LINE_WIDTH / 3, zorder=1)
