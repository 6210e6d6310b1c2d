"""The biplot: rows along two components, and the columns as arrows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.random_state import some_rows
from pellucid.core.types import Data
from pellucid.drawing.label_spreading import spread
from pellucid.drawing.style import INK, QUIET, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 2000
SPACING = 0.05
"""Distance of names, in parts of the height."""

MOST_ARROWS = 12
"""Columns drawn: those that matter the most for the two components."""


def plot_biplot(
    model: Any,
    X: Data,
    ax: Axes | None = None,
    *,
    y: Data = None,
    components: tuple[int, int] = (0, 1),
    names: Any = None,
) -> Axes:
    """Draw the rows along two components, and each column as an arrow: rows in its direction have much of it.

    Parameters
    ----------
    model : fitted PCA
        The model.
    X : array-like of shape (n_samples, n_features)
        Rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    y : array-like of shape (n_samples,), default=None
        Classes of the rows, for colors.
    components : pair of int, default=(0, 1)
        Which two components.
    names : sequence of str, default=None
        Names of the columns; None takes those of the fit, or x1, x2, ...
    """
    check_is_fitted(model, "components_")
    if max(components) >= len(model.components_) or min(components) < 0:
        raise ValueError(
            f"components must be two of the {len(model.components_)} fitted ones, got {components}. Count from 0."
        )
    places = np.asarray(model.transform(X))[:, list(components)]
    rows = some_rows(len(places), MOST_ROWS)
    ax = tidy_axes(ax)
    labels = np.zeros(len(places)) if y is None else np.asarray(y)
    for number, label in enumerate(np.unique(labels)):
        own = places[rows][labels[rows] == label]
        shown = None if y is None else str(label)
        ax.scatter(own[:, 0], own[:, 1], s=12, color=color(number), alpha=0.55, linewidths=0, label=shown)
    _draw_arrows(ax, np.asarray(model.components_)[list(components)].T, places, _names(model, names))
    for axis, component in zip((ax.xaxis, ax.yaxis), components, strict=True):
        share = float(model.explained_variance_ratio_[component])
        axis.set_label_text(f"component {component + 1} ({100 * share:.0f} % of the variance)")
    if y is not None:
        ax.legend(frameon=False)
    return ax


def _names(model: Any, names: Any) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    return [f"x{j + 1}" for j in range(model.components_.shape[1])] if names is None else [str(name) for name in names]


def _draw_arrows(ax: Axes, loadings: Any, places: Any, names: list[str]) -> None:
    """Draw the columns that matter the most, as long as fits among the rows."""
    length = np.linalg.norm(loadings, axis=1)
    kept = np.argsort(-length)[:MOST_ARROWS]
    reach = 0.8 * float(np.abs(places).max(initial=0.0)) / max(float(length.max(initial=0.0)), 1e-300)
    tips = reach * loadings[kept]
    for side in (tips[:, 0] >= 0, tips[:, 0] < 0):
        heights = spread((1.06 * tips[side, 1]).tolist(), SPACING * 2.0 * float(np.abs(tips).max(initial=0.0)))
        for (x, y), height, name in zip(tips[side], heights, np.array(names)[kept][side], strict=True):
            ax.annotate("", (x, y), (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": INK, "linewidth": 0.9})
            ax.text(1.06 * x, height, name, color=INK, ha="left" if x >= 0 else "right", va="center", fontsize=8)
    ax.axhline(0.0, color=QUIET, linewidth=0.4)
    ax.axvline(0.0, color=QUIET, linewidth=0.4)
    ax.margins(0.12)
