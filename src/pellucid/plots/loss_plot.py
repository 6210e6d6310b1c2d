"""Losses on one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.plots.drawing.style import LINE_WIDTH, QUIET, color, tidy_axes, write_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REACH = 2.5
"""Margins and residuals are drawn from minus this to this."""
HIGHEST = 4.0
"""Values above this are cut: the square would flatten all others."""


def plot_losses(losses: Sequence[Any] | None = None, ax: Axes | None = None) -> Axes:
    """Draw losses of a margin, or losses of a residual, on one axis.

    Parameters
    ----------
    losses : sequence of losses, default=None
        All of a margin, or all of a residual; None draws the losses of a margin of ``pellucid.losses``.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    from pellucid.losses import MARGIN_LOSSES, MarginLoss

    chosen = list(MARGIN_LOSSES if losses is None else losses)
    of_margin = {isinstance(loss, MarginLoss) for loss in chosen}
    if len(of_margin) != 1:
        raise ValueError(
            f"losses must be all of a margin or all of a residual, got {[type(loss).__name__ for loss in chosen]}."
        )
    ax = tidy_axes(ax)
    z = np.linspace(-REACH, REACH, 1001)
    ax.axvline(0.0, color=QUIET, linewidth=0.6, zorder=0)
    for i, loss in enumerate(chosen):
        value = np.where(loss.value(z) <= HIGHEST, loss.value(z), np.nan)
        jumps = np.abs(np.diff(value, prepend=value[0])) > 0.5
        ax.plot(z, np.where(jumps, np.nan, value), color=color(i), linewidth=LINE_WIDTH, label=loss.name)
    ax.set_ylim(-0.08, HIGHEST)
    ax.set_xlim(-REACH, REACH)
    ax.set_xlabel("margin  y f(x)" if of_margin == {True} else "residual  f(x) − y")
    ax.set_ylabel("loss")
    write_legend(ax)
    return ax
