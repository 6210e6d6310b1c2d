"""Regions of a plane in pale colors, with their borders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array
from pellucid.drawing.style import INK, LINE_WIDTH, color

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 320
"""Places along each axis."""
MARGIN = 0.06
"""The plane reaches this share of the range beyond the outermost points."""
SHADE = 0.18
"""How much of its color a region has: the points must stand out."""


def reach(values: Array) -> Array:
    """Return the places along an axis that shows these values."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    margin = MARGIN * (high - low) if high > low else 1.0
    return np.linspace(low - margin, high + margin, GRID)


def draw_shades(ax: Axes, across: Array, up: Array, codes: Array, count: int) -> None:
    """Fill the places that have the same code, of ``count``, with a pale color."""
    from matplotlib.colors import ListedColormap, to_rgb

    shades = [tuple(1.0 - SHADE * (1.0 - part) for part in to_rgb(color(k))) for k in range(count)]
    ax.pcolormesh(
        across, up, codes, cmap=ListedColormap(shades), vmin=-0.5, vmax=count - 0.5, rasterized=True, zorder=0
    )


def draw_borders(ax: Axes, across: Array, up: Array, codes: Array, count: int) -> None:
    """Draw the borders between places of different codes."""
    for k in range(count):
        if 0 < np.count_nonzero(codes == k) < codes.size:
            ax.contour(across, up, codes == k, levels=[0.5], colors=INK, linewidths=LINE_WIDTH / 3, zorder=1)
