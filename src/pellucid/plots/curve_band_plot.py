"""A regression curve with its pointwise and simultaneous bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Data
from pellucid.drawing.style import INK, LINE_WIDTH, PALETTE, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curve_band(band: Any, X: Data = None, y: Data = None, ax: Axes | None = None) -> Axes:
    """Draw a curve of one feature with both of its bands, over the data if they are given.

    Parameters
    ----------
    band : CurveBand
        From :func:`pellucid.probability.bootstrap`.
    X, y : array-like of shape (n_samples, 1), (n_samples,), default=None
        Data to draw.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    grid = np.asarray(band.grid, dtype=float)
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
    ax.legend(frameon=False, labelcolor=INK, loc="best")
    return ax
