"""The scree plot: the variance of each component, and what the first ones hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.drawing.style import INK, LINE_WIDTH, QUIET, color, tidy_axes

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
