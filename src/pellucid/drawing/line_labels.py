"""Names at the right ends of lines, moved apart so that none covers another: easier to read than a legend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid.drawing.label_spreading import spread
from pellucid.drawing.style import LINE_WIDTH

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SPACING = 0.055
"""Distance between neighboring names, as a fraction of the height of the axes."""


def label_line_ends(ax: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each name in its color at the height of its line's end; ``ends`` holds (value, name, color)."""
    heights = [_height(ax, value) for value, _, _ in ends]
    for (_, name, ink), height, place in zip(ends, heights, spread(heights, SPACING), strict=True):
        ax.annotate(
            name,
            xy=(1.0, height),
            xytext=(1.025, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            color=ink,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": LINE_WIDTH / 3, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def _height(ax: Axes, value: float) -> float:
    pixels = ax.transData.transform((ax.get_xlim()[0], value))
    return float(ax.transAxes.inverted().transform(pixels)[1])
