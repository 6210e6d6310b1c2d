"""Bayes decisions of one column: class densities with the error no rule can avoid, and where it is better to reject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.checks import check_between
from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LABEL_SIZE, LINE_WIDTH, QUIET, class_color, legend_beside, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 800
MARGIN = 0.15


def plot_reject_region(model: Any, X: Data, ax: Axes | None = None, *, reject_cost: float = 0.2) -> Axes:
    r"""Draw the probability of each class along one column, and where to reject costs less than to decide.

    A wrong decision costs 1, a rejection :math:`\lambda`: reject where :math:`\max_c P(c \mid x) < 1 - \lambda`.

    Parameters
    ----------
    model : fitted classifier with ``predict_proba``
        Of one column.
    X : array-like of shape (n_samples, 1)
        Rows, for the range and the marks at the bottom.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    reject_cost : float, default=0.2
        :math:`\lambda`, from 0 (reject all that is not certain) to 1 (never reject).
    """
    check_is_fitted(model)
    check_between(0.0, 1.0, reject_cost=reject_cost)
    grid, x, name = _axis(X)
    shares = np.asarray(model.predict_proba(_like(X, grid)), dtype=float)
    classes = np.asarray(model.classes_)
    ax = tidy_axes(ax)
    is_rejected = shares.max(axis=1) < 1.0 - reject_cost
    for k, label in enumerate(classes):
        ink = class_color(k, len(classes))
        ax.plot(grid, shares[:, k], color=ink, linewidth=LINE_WIDTH, zorder=3, label=f"P({label} | x)")
    ax.axhline(1.0 - reject_cost, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), label=f"1 − λ = {1 - reject_cost:g}")
    for number, (start, end) in enumerate(_runs(grid, is_rejected)):
        told = "reject" if number == 0 else None
        ax.axvspan(start, end, color=QUIET, alpha=0.3, linewidth=0, zorder=0, label=told)
    own = np.asarray(model.predict_proba(X)).max(axis=1) < 1.0 - reject_cost
    ax.plot(x, np.full(len(x), -0.04), "|", color=INK, markersize=10, clip_on=False)
    ax.set_title(f"{own.mean():.1%} of the rows are rejected", fontsize=LABEL_SIZE, color=INK)
    ax.set(xlim=(grid[0], grid[-1]), ylim=(-0.08, 1.05), xlabel=name, ylabel="probability")
    legend_beside(ax)
    return ax


def plot_class_densities(model: Any, X: Data, ax: Axes | None = None) -> Axes:
    r"""Draw :math:`P(c)\,p(x \mid c)` of each class along one column, the borders of decisions, and the Bayes error.

    The shaded area under all curves but the highest is the share of mistakes that no rule can avoid.

    Parameters
    ----------
    model : fitted BayesClassifier
        Of one column.
    X : array-like of shape (n_samples, 1)
        Rows, for the range.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    check_is_fitted(model, "densities_")
    grid, _, name = _axis(X)
    heights = np.stack(
        [
            prior * np.exp(np.ravel(density.log_prob(grid[:, None] if np.ndim(density.mean) else grid)))
            for prior, density in zip(model.class_prior_, model.densities_, strict=True)
        ],
        axis=1,
    )
    classes = np.asarray(model.classes_)
    ax = tidy_axes(ax)
    for k, label in enumerate(classes):
        ink = class_color(k, len(classes))
        ax.plot(grid, heights[:, k], color=ink, linewidth=LINE_WIDTH, zorder=3, label=f"P({label}) p(x | {label})")
    lost = heights.sum(axis=1) - heights.max(axis=1)
    error = float(np.trapezoid(lost, grid))
    ax.fill_between(grid, lost, color=QUIET, alpha=0.5, linewidth=0, zorder=1, label=f"Bayes error, about {error:.3g}")
    best = heights.argmax(axis=1)
    for place in np.flatnonzero(np.diff(best)):
        ax.axvline((grid[place] + grid[place + 1]) / 2, color=INK, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
    ax.set(xlim=(grid[0], grid[-1]), xlabel=name, ylabel="density", ylim=(0.0, None))
    legend_beside(ax)
    return ax


def _axis(X: Data) -> tuple[Array, Array, str]:
    """Return places along the one column, its values and its name."""
    rows = np.asarray(X, dtype=float)
    if rows.ndim != 2 or rows.shape[1] != 1:
        raise ValueError(f"X must have one column, got shape {rows.shape}. Use plot_decision_regions for two.")
    low, high = float(rows.min()), float(rows.max())
    margin = MARGIN * (high - low) if high > low else 1.0
    name = str(X.columns[0]) if hasattr(X, "columns") else "x"
    return np.linspace(low - margin, high + margin, GRID), rows[:, 0], name


def _like(X: Data, grid: Array) -> Data:
    return type(X)({X.columns[0]: grid}) if hasattr(X, "columns") else grid[:, None]


def _runs(grid: Array, inside: Array) -> list[tuple[float, float]]:
    """Return the ends of the stretches of the grid that are inside."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]]).astype(int)))
    return [(float(grid[a]), float(grid[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
