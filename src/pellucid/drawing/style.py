"""How all plots look: colors that color-blind readers can tell apart, thin spines, nothing that is not data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colors, without black and yellow."""
INK = "#333333"
QUIET = "#9a9a9a"
"""For what should be seen second: reference lines, unlabeled curves."""
LINE_WIDTH = 1.8


def tidy_axes(ax: Axes | None) -> Axes:
    """Return the axes, or new ones, in the house style. Settings of matplotlib itself are left alone."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
        ax.spines[side].set_color(QUIET)
    ax.tick_params(width=0.6, color=QUIET, labelcolor=INK)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    return ax


def color(index: int) -> str:
    """Return the color of the curve with this number; after the last it starts again."""
    return PALETTE[index % len(PALETTE)]
