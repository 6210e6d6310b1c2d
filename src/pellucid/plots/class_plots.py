"""Rows of several classes: along single columns, by the value of a discriminant, and lifted into a third dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Data
from pellucid.plots.decision_regions_plot import MARKERS
from pellucid.plots.drawing.style import (
    INK,
    LABEL_SIZE,
    LINE_WIDTH,
    QUIET,
    TEXT_SIZE,
    class_color,
    legend_beside,
    panels,
    tidy_axes,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 4
MOST_SHOWN = 12
"""Columns of a table that are drawn."""


def plot_single_features(X: Data, y: Data, figure: Figure | None = None) -> Figure:
    """Draw the rows along each column alone, one class above the other: a column that separates classes is seen.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        At most 12 columns are drawn, the first ones.
    y : array-like of shape (n_samples,)
        Classes.
    figure : Figure, default=None
        Where to draw; None makes a new one, with a picture for each column.
    """
    rows, labels = np.asarray(X, dtype=float), np.asarray(y)
    if rows.ndim != 2 or len(rows) != len(labels):
        raise ValueError(f"X must have a row for each of the {len(labels)} classes in y, got shape {rows.shape}.")
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(rows.shape[1])])]
    count = min(rows.shape[1], MOST_SHOWN)
    across = min(MOST_COLUMNS, count)
    down = -(-count // across)
    different, codes = np.unique(labels, return_inverse=True)
    if figure is None:
        figure, axes = panels(down, across, (3.6, 1.2 + 0.5 * len(different)))
    else:
        axes = [tidy_axes(figure.add_subplot(down, across, k + 1)) for k in range(count)]
    for j, ax in enumerate(axes[:count]):
        for k in range(len(different)):
            own = rows[codes == k, j]
            ax.plot(own, np.full(len(own), k), "|", color=class_color(k, len(different)), markersize=16, alpha=0.6)
            ax.plot(own.mean(), k, "o", color=INK, markersize=6, zorder=3)
        ax.set_yticks(range(len(different)), [str(label) for label in different] if j % across == 0 else [])
        ax.set(ylim=(-0.7, len(different) - 0.3), xlabel=names[j])
    for ax in axes[count:]:
        ax.set_visible(False)
    return figure


def plot_discriminant_values(model: Any, X: Data, y: Data, ax: Axes | None = None) -> Axes:
    """Draw the value of the discriminant for each row, in their order; above 0 the second class is chosen.

    Parameters
    ----------
    model : fitted classifier of two classes with ``decision_function``, or regressor of targets around 0
        Of regressors the prediction is drawn.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Rows and their true classes.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    values = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    values, labels = np.asarray(values, dtype=float), np.asarray(y)
    if values.shape != labels.shape:
        raise ValueError(f"model must give one number for each of the {len(labels)} rows, got shape {values.shape}.")
    different = np.unique(labels)
    if len(different) > 2:
        raise ValueError(f"y must have two classes, got {len(different)}. Use plot_confusion.")
    is_wrong = (values > 0) != (labels == different[-1])
    ax = tidy_axes(ax)
    ax.axhline(0.0, color=INK, linewidth=1.2, zorder=1)
    places = np.arange(1, len(values) + 1)
    for k, label in enumerate(different):
        own = labels == label
        ink = class_color(k, len(different))
        ax.vlines(places[own], 0.0, values[own], color=ink, linewidth=1.2, zorder=2)
        ax.plot(places[own], values[own], MARKERS[k], color=ink, markersize=7, zorder=3, label=str(label))
    if is_wrong.any():
        ring: dict[str, Any] = {"markersize": 14, "fillstyle": "none", "color": INK}
        ax.plot(places[is_wrong], values[is_wrong], "o", **ring, zorder=4, label=f"{is_wrong.sum()} on the wrong side")
    ax.set(xlabel="row", ylabel="value of the discriminant")
    ax.locator_params(axis="x", integer=True)
    legend_beside(ax)
    return ax


def plot_hyperplane(model: Any, X: Data, y: Data, point: Data, ax: Axes | None = None) -> Axes:
    r"""Draw the geometry of a linear discriminant: its border, its normal w, and how far a point is from the border.

    .. math:: g(x) = w^\top x + w_0,\qquad \text{distance } = \frac{g(x)}{\|w\|},\qquad
       \text{of the origin } \frac{w_0}{\|w\|}

    Parameters
    ----------
    model : fitted linear classifier of two classes
        With ``coef_`` and ``intercept_``, of two columns.
    X, y : array-like of shape (n_samples, 2), (n_samples,)
        Rows and their classes.
    point : array-like of shape (2,)
        A point whose distance is drawn.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model, "coef_")
    rows, labels = np.asarray(X, dtype=float), np.asarray(y)
    w, w0 = np.ravel(np.asarray(model.coef_, dtype=float)), float(np.ravel(model.intercept_)[0])
    x = np.ravel(np.asarray(point, dtype=float))
    if w.shape != (2,) or rows.ndim != 2 or rows.shape[1] != 2 or x.shape != (2,):
        raise ValueError(f"model and point must be of two columns, got coef_ of {w.shape} and a point of {x.shape}.")
    length = float(np.hypot(*w))
    if length == 0:
        raise ValueError("model must have a direction, got coef_ of zeros.")
    value = float(w @ x) + w0
    foot, nearest = x - value / length**2 * w, -w0 / length**2 * w
    ax = tidy_axes(ax, (6.4, 5.0))
    different = np.unique(labels)
    for k, label in enumerate(different):
        own = rows[labels == label]
        ax.plot(*own.T, MARKERS[k], color=class_color(k, len(different)), markersize=5, label=str(label), alpha=0.7)
    seen = np.vstack([rows, x, foot])
    middle, far = seen.mean(axis=0), 0.6 * float(np.ptp(seen, axis=0).max())
    start = middle - (float(w @ middle) + w0) / length**2 * w
    along = np.array([-w[1], w[0]]) / length
    ax.plot(*(start + np.outer([-far, far], along)).T, color=INK, linewidth=LINE_WIDTH, label="g(x) = 0")
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": LINE_WIDTH, "shrinkA": 0, "shrinkB": 0}
    tip = start + 0.4 * far * w / length
    ax.annotate("", tuple(tip), tuple(start), arrowprops=arrow, zorder=4)
    ax.annotate("w", tuple(tip), (6, 4), textcoords="offset points", fontsize=LABEL_SIZE, color=INK)
    told = f"distance {value / length:.3g} = g(x) / |w|".replace("-", "−")
    ax.plot(*zip(x, foot, strict=True), "o:", color=class_color(2, 3), linewidth=LINE_WIDTH, markersize=8, label=told)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title(f"the origin is {abs(w0) / length:.3g} from the border, at ({nearest[0]:.3g}, {nearest[1]:.3g})",
                 fontsize=TEXT_SIZE, color=INK)  # fmt: skip
    names = [str(name) for name in getattr(X, "columns", ("x1", "x2"))]
    ax.set(xlabel=names[0], ylabel=names[1])
    write_legend(ax)
    return ax


def plot_lifted(
    X: Data, y: Data, height: Callable[[np.ndarray], Data] | None = None, ax: Any = None, *, plane: float | None = None
) -> Any:
    r"""Draw rows of two columns lifted by a feature map to :math:`(x_1, x_2, \varphi(x))`, where a plane may part them.

    Parameters
    ----------
    X, y : array-like of shape (n_samples, 2), (n_samples,)
        Rows and their classes.
    height : callable from (n, 2) to (n,), default=None
        :math:`\varphi`; None takes :math:`x_1^2 + x_2^2`.
    ax : Axes3D, default=None
        Where to draw; None makes a new figure.
    plane : float, default=None
        Height of a plane to draw.
    """
    rows, labels = np.asarray(X, dtype=float), np.asarray(y)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(f"X must have two columns, got shape {rows.shape}.")
    lifted = np.ravel(np.asarray(np.square(rows).sum(axis=1) if height is None else height(rows), dtype=float))
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(6.4, 5.4))
        ax = figure.add_subplot(projection="3d")
    different = np.unique(labels)
    for k, label in enumerate(different):
        own = labels == label
        ink, marker = class_color(k, len(different)), MARKERS[k % len(MARKERS)]
        ax.scatter(*rows[own].T, lifted[own], s=30, color=ink, marker=marker, depthshade=False, label=str(label))
    if plane is not None:
        sides = [np.array([rows[:, j].min(), rows[:, j].max()]) for j in (0, 1)]
        ax.plot_surface(*np.meshgrid(*sides), np.full((2, 2), float(plane)), color=QUIET, alpha=0.35)
    told = "x₁² + x₂²" if height is None else "φ(x)"
    names = [str(name) for name in getattr(X, "columns", ("x₁", "x₂"))]
    ax.set_xlabel(names[0], fontsize=LABEL_SIZE, color=INK)
    ax.set_ylabel(names[1], fontsize=LABEL_SIZE, color=INK)
    ax.set_zlabel(told, fontsize=LABEL_SIZE, color=INK)
    ax.tick_params(labelsize=TEXT_SIZE - 2, labelcolor=INK)
    ax.legend(frameon=False, fontsize=TEXT_SIZE, loc="upper left")
    return ax
