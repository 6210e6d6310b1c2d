"""Scores with their intervals, one below the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pellucid.drawing.style import PALETTE, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_score_intervals(intervals: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw intervals of one score, such as of several models on the same test rows.

    Parameters
    ----------
    intervals : dict of str to ScoreInterval
        Names and intervals, from top to bottom.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    kinds = {interval.name for interval in intervals.values()}
    if len(kinds) != 1:
        raise ValueError(f"intervals must be of one score, got {sorted(kinds)}. Draw one picture per score.")
    ax = tidy_axes(ax)
    for place, interval in enumerate(intervals.values()):
        ax.plot([interval.low, interval.high], [place, place], color=PALETTE[0], linewidth=2.2, solid_capstyle="round")
        ax.plot([interval.score], [place], "o", color=PALETTE[0], markersize=7)
    ax.set_yticks(range(len(intervals)), list(intervals))
    ax.set_ylim(len(intervals) - 0.5, -0.5)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"{kinds.pop()}, with its {next(iter(intervals.values())).level:.0%} interval")
    return ax
