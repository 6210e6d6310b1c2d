"""Residuals against fitted values: what the model leaves unexplained, and whether it has a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Data
from pellucid.drawing.style import PALETTE, QUIET, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
