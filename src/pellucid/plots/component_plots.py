"""Principal components and factors: the scree plot, the biplot, and what factors explain of each column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.name_places import write_names
from pellucid.plots.drawing.style import (
    INK,
    LINE_WIDTH,
    QUIET,
    class_color,
    color,
    legend_beside,
    tidy_axes,
    write_legend,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_MARKED = 40
"""Components up to which each has a dot."""


def plot_scree(model: Any, ax: Axes | None = None, *, share: float = 0.9) -> Axes:
    """Draw the share of the variance that each component explains, and the sum of the first ones.

    Parameters
    ----------
    model : fitted PCA, or another with ``explained_variance_ratio_``
        The model.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    share : float, default=0.9
        A share of the variance: how many components hold more than that is marked.
    """
    check_is_fitted(model, "explained_variance_ratio_")
    shares = np.asarray(model.explained_variance_ratio_, dtype=np.float64)
    numbers, held = np.arange(1, len(shares) + 1), np.cumsum(shares)
    marker = "o" if len(shares) <= MOST_MARKED else None
    ax = tidy_axes(ax)
    for values, ink, name in ((held, color(1), "the first ones together"), (shares, color(0), "each component")):
        ax.plot(numbers, values, color=ink, linewidth=LINE_WIDTH, marker=marker, markersize=6, label=name)
    enough = np.flatnonzero(held > share)
    if len(enough):
        k = int(numbers[enough[0]])
        told = f"{k} {'component holds' if k == 1 else 'components hold'} more than {share:g}"
        ax.plot([0.5, k, k], [share, share, 0.0], color=INK, linewidth=1.2, linestyle=(0, (4, 3)), label=told)
    bend = model.elbow() if hasattr(model, "elbow") else None
    if bend is not None:
        told = f"bend at component {bend}"
        ax.plot(
            bend, shares[bend - 1], "o", color=INK, fillstyle="none", markersize=14, markeredgewidth=1.6, label=told
        )
    write_legend(ax, loc="center right")
    ax.set_xlim(0.5, len(shares) + 0.5)
    ax.set_ylim(0.0, 1.08)
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("component")
    ax.set_ylabel("share of the variance")
    return ax


WIDTH = 0.38
"""Of a bar; two stand side by side for each column."""


def plot_factor_shares(model: Any, X: Data, ax: Axes | None = None) -> Axes:
    """Draw the part of each column's variance that the factors explain, and as many principal components.

    Components follow large variance, whatever it comes from; factors explain what columns have in common and leave the
    rest to each column's own noise. A column that is mostly noise has a tall bar from components, a short one from
    factors. The number above each pair is the variance of the column.

    Parameters
    ----------
    model : fitted FactorAnalysis
        With ``components_`` and ``noise_variance_``.
    X : array-like of shape (n_samples, n_features)
        The training rows.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model)
    if not hasattr(model, "noise_variance_") or np.ndim(model.noise_variance_) != 1:
        raise ValueError(f"model must be a FactorAnalysis, got {type(model).__name__}.")
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != model.components_.shape[1]:
        raise ValueError(f"X must have the {model.components_.shape[1]} columns of the fit, got shape {rows.shape}.")
    names = [str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(rows.shape[1])])]
    variance = rows.var(axis=0)
    k = len(model.components_)
    plural = "" if k == 1 else "s"
    parts = {
        f"{k} factor{plural}": np.sum(model.components_**2, axis=0),
        f"{k} principal component{plural}": _explained_by_components(rows, k),
    }
    ax = tidy_axes(ax)
    places = np.arange(len(variance))
    for number, (label, explained) in enumerate(parts.items()):
        share = explained / np.where(variance > 0.0, variance, 1.0)
        ax.bar(places + (number - 0.5) * WIDTH, share, WIDTH, color=color(number), label=label)
    for place, value in zip(places, variance, strict=True):
        ax.annotate(f"{value:.3g}", (float(place), 1.02), ha="center", va="bottom", fontsize="small", color=QUIET)
    ax.annotate("variance", (1.01, 1.025), xycoords=("axes fraction", "data"), fontsize="small", color=QUIET)
    ax.axhline(1.0, color=QUIET, linewidth=0.6)
    ax.set_xticks(places, names, rotation=45 if max(map(len, names)) > 4 else 0, ha="center", rotation_mode="default")
    ax.set(ylim=(0.0, 1.12), ylabel="part explained")
    write_legend(ax, loc="upper center", bbox_to_anchor=(0.5, 1.18), ncols=2)
    return ax


def _explained_by_components(rows: Array, k: int) -> Array:
    """Return the variance of each column along the first k principal components."""
    _, singular, right = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return np.asarray((singular[:k, None] * right[:k]) ** 2).sum(axis=0) / len(rows)


MOST_ROWS = 2000
REACH = 0.82
"""Arrows end at this share of the way from the middle to the edge of the picture."""

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
    different = np.unique(labels)
    for number, label in enumerate(different):
        own = places[rows][labels[rows] == label]
        shown = None if y is None else str(label)
        ink = class_color(number, len(different))
        ax.scatter(own[:, 0], own[:, 1], s=26, color=ink, alpha=0.6, linewidths=0, label=shown)
    if y is not None:
        legend_beside(ax)
    _draw_arrows(ax, np.asarray(model.components_)[list(components)].T, places, _names(model, names))
    for axis, component in zip((ax.xaxis, ax.yaxis), components, strict=True):
        share = float(model.explained_variance_ratio_[component])
        axis.set_label_text(f"component {component + 1} ({100 * share:.0f} % of the variance)")
    return ax


def _names(model: Any, names: Any) -> list[str]:
    if names is None:
        names = getattr(model, "feature_names_in_", None)
    return [f"x{j + 1}" for j in range(model.components_.shape[1])] if names is None else [str(name) for name in names]


def _draw_arrows(ax: Axes, loadings: Any, places: Any, names: list[str]) -> None:
    """Draw the columns that matter the most, all at one scale and none beyond the picture.

    A unit is as long on both axes, so that the angles between arrows are true, and the picture is widened around the
    rows until it has its shape.
    """
    kept = np.argsort(-np.linalg.norm(loadings, axis=1), kind="stable")[:MOST_ARROWS]
    window = ax.get_window_extent()
    shape = window.width / window.height
    half = 1.1 * max(float(np.abs(places[:, 1]).max(initial=0.0)), float(np.abs(places[:, 0]).max(initial=0.0)) / shape)
    half = half if half > 0 else 1.0
    ax.set(xlim=(-half * shape, half * shape), ylim=(-half, half))
    ax.set_aspect("equal", adjustable="box")
    shares = np.abs(loadings[kept]) / [half * shape, half]
    tips = REACH / max(float(shares.max(initial=0.0)), 1e-300) * loadings[kept]
    ax.axhline(0.0, color=QUIET, linewidth=0.6)
    ax.axvline(0.0, color=QUIET, linewidth=0.6)
    for tip in tips:
        arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tuple(tip), (0.0, 0.0), arrowprops=arrow, zorder=5)
    write_names(ax, tips, [names[j] for j in kept], away_from=(0.0, 0.0))
