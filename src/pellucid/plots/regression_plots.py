"""The fitted function of one feature, with the interval in which new observations fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LINE_WIDTH, PALETTE, QUIET, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GRID = 200
MARGIN = 0.03
"""The line reaches this share of the range beyond the outermost points."""


def plot_fitted_line(model: Any, X: Data, y: Data, level: float | None = 0.95, ax: Axes | None = None) -> Axes:
    """Draw the data and the prediction of a fitted regressor of one feature.

    Parameters
    ----------
    model : fitted regressor
        If it has ``prediction_interval(X, level)``, the interval is shaded.
    X, y : array-like of shape (n_samples, 1), (n_samples,)
        Data to draw.
    level : float, default=0.95
        Probability of the interval; None leaves it out.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    x = np.asarray(X, dtype=float)
    if x.ndim != 2 or x.shape[1] != 1:
        raise ValueError(f"X must have one feature, got shape {x.shape}. Use plot_residuals for several.")
    low, high = float(x.min()), float(x.max())
    margin = MARGIN * (high - low)
    grid = np.linspace(low - margin, high + margin, GRID)
    rows = _like(X, grid)
    ax = tidy_axes(ax)
    if level is not None and hasattr(model, "prediction_interval"):
        lower, upper = model.prediction_interval(rows, level)
        ax.fill_between(grid, np.ravel(lower), np.ravel(upper), color=PALETTE[0], alpha=0.15, linewidth=0, zorder=1)
        ax.annotate(
            f"{level:.0%} of new points",
            xy=(grid[-1], float(np.ravel(upper)[-1])),
            ha="right",
            va="bottom",
            color=PALETTE[0],
        )
    ax.scatter(x[:, 0], np.ravel(np.asarray(y, dtype=float)), s=20, color=INK, alpha=0.75, linewidths=0, zorder=2)
    ax.plot(grid, np.ravel(model.predict(rows)), color=PALETTE[0], linewidth=LINE_WIDTH, zorder=3)
    ax.set_xlabel(str(X.columns[0]) if hasattr(X, "columns") else "x")
    ax.set_ylabel(str(getattr(y, "name", None) or "y"))
    return ax


def _like(X: Data, grid: Array) -> Data:
    """Return the grid as data of the same kind, so that a model fitted on named features knows them again."""
    return type(X)({X.columns[0]: grid}) if hasattr(X, "columns") else grid[:, None]


def plot_curve_band(band: Any, X: Data = None, y: Data = None, ax: Axes | None = None) -> Axes:
    """Draw a curve of one feature with both of its bands, over the data if they are given.

    Parameters
    ----------
    band : CurveBand
        From :func:`pellucid.probability.curve_band`.
    X, y : array-like of shape (n_samples, 1), (n_samples,), default=None
        Data to draw.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    grid = np.asarray(band.grid, dtype=float)
    grid = grid[:, None] if grid.ndim == 1 else grid  # as curve_band takes it
    if grid.ndim != 2 or grid.shape[1] != 1:
        raise ValueError(f"band must have a grid of one feature, got shape {grid.shape}.")
    order = np.argsort(grid[:, 0], kind="stable")
    x = grid[order, 0]
    ax = tidy_axes(ax)
    bands = (
        (band.simultaneous_low, band.simultaneous_high, 0.12, f"{band.level:.0%}, whole curve"),
        (band.low, band.high, 0.28, f"{band.level:.0%}, each point alone"),
    )
    for low, high, alpha, label in bands:
        ax.fill_between(x, low[order], high[order], color=PALETTE[0], alpha=alpha, linewidth=0, zorder=1, label=label)
    if X is not None and y is not None:
        points = np.ravel(np.asarray(X, dtype=float)), np.ravel(np.asarray(y, dtype=float))
        ax.scatter(*points, s=16, color=INK, alpha=0.6, linewidths=0, zorder=2)
    ax.plot(x, band.curve[order], color=PALETTE[0], linewidth=LINE_WIDTH, zorder=3, label="fitted curve")
    named = X if hasattr(X, "columns") else band.grid
    ax.set_xlabel(str(named.columns[0]) if hasattr(named, "columns") else "x")
    ax.set_ylabel(str(getattr(y, "name", None) or "y"))
    write_legend(ax)
    return ax


def plot_residuals(model: Any, X: Data, y: Data, ax: Axes | None = None) -> Axes:
    """Draw the residuals of a fitted regressor against its predictions, with lines at 0 and at two standard deviations.

    Parameters
    ----------
    model : fitted regressor
        Of one target.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
        Training or test data.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    fitted = np.asarray(model.predict(X), dtype=float)
    target = np.asarray(y, dtype=float).reshape(len(fitted), -1)
    if target.shape[1] != 1 or fitted.size != len(fitted):
        raise ValueError(f"y must have one target, got {target.shape[1]}. Plot one column at a time.")
    residuals = target[:, 0] - fitted.ravel()
    deviation = float(np.sqrt(np.mean(residuals**2)))
    ax = tidy_axes(ax)
    ax.axhline(0.0, color=QUIET, linewidth=1.0, zorder=1)
    for side in (-2, 2):
        ax.axhline(side * deviation, color=QUIET, linewidth=0.8, linestyle=(0, (4, 3)), zorder=1)
    ax.annotate(
        "2 sd", xy=(1.0, 2 * deviation), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=QUIET
    )
    ax.scatter(
        fitted.ravel(), residuals, s=18, color=PALETTE[0], alpha=_opacity(len(residuals)), linewidths=0, zorder=2
    )
    ax.set_xlabel("fitted value")
    ax.set_ylabel("residual")
    return ax


def _opacity(n: int) -> float:
    """Return the opacity at which a cloud of ``n`` points still shows where it is dense."""
    return float(np.clip(30 / np.sqrt(n), 0.1, 0.85))
