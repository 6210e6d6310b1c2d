"""The fitted function of one feature, with the interval in which new observations fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.drawing.style import INK, LINE_WIDTH, PALETTE, tidy_axes

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
