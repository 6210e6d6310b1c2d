"""The scree plot: the variance of each component, and what the first ones hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, QUIET, color, spread, tidy_axes

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
    for values, ink, name in ((held, QUIET, "the first ones together"), (shares, color(0), "each component")):
        ax.plot(numbers, values, color=ink, linewidth=LINE_WIDTH, marker=marker, markersize=3)
        ax.annotate(name, (numbers[-1], values[-1]), (0, 6), textcoords="offset points", color=ink, ha="right")
    enough = np.flatnonzero(held > share)
    if len(enough):
        k = int(numbers[enough[0]])
        ax.plot([0.5, k, k], [share, share, 0.0], color=INK, linewidth=0.7, linestyle=(0, (4, 3)))
        ax.annotate(f"{k} hold more than {share:g}", (k, share), (6, -12), textcoords="offset points", color=INK)
    bend = model.elbow() if hasattr(model, "elbow") else None
    if bend is not None:
        ax.annotate(
            "bend",
            (bend, shares[bend - 1]),
            (14, 24),
            textcoords="offset points",
            color=color(0),
            arrowprops={"arrowstyle": "-", "color": color(0), "linewidth": 0.7},
        )
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
    ax.annotate(
        "variance", (-0.01, 1.045), xycoords=("axes fraction", "data"), ha="right", fontsize="small", color=QUIET
    )
    ax.axhline(1.0, color=QUIET, linewidth=0.6)
    ax.set_xticks(places, names, rotation=45 if max(map(len, names)) > 4 else 0, ha="center", rotation_mode="default")
    ax.set(ylim=(0.0, 1.12), ylabel="explained part of the variance")
    ax.legend(frameon=False, labelcolor=INK, loc="upper center", bbox_to_anchor=(0.5, 1.16), ncols=2)
    return ax


def _explained_by_components(rows: Array, k: int) -> Array:
    """Return the variance of each column along the first k principal components."""
    _, singular, right = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    return np.asarray((singular[:k, None] * right[:k]) ** 2).sum(axis=0) / len(rows)


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
