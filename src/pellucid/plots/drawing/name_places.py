"""Names beside points, moved around each until no two cover each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pellucid.plots.drawing.style import INK, QUIET, TEXT_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

CHARACTER, LINE = 0.6, 1.15
"""Width and height of a character, in parts of the size of the font."""
NEAR = 5.0
"""Points between a dot and its name."""
RINGS = (1.0, 2.6, 4.5, 7.0)
"""Places are tried around the dot at these multiples of NEAR; from the second on a thin line joins them."""
TURNS = (0, 180, 45, -45, 135, -135, 90, -90)
"""Degrees from the side that is tried first."""
TURNS_AHEAD = (0, 30, -30, 60, -60, 90, -90, 180)


class NameBox(NamedTuple):
    """Left, bottom, right and top, in points."""

    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: NameBox) -> float:
        """Return the area that both cover."""
        across = min(self.right, other.right) - max(self.left, other.left)
        up = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(across, 0.0) * max(up, 0.0)


def write_names(
    ax: Axes,
    points: np.ndarray,
    names: Sequence[str],
    *,
    size: float = TEXT_SIZE,
    away_from: tuple[float, float] | None = None,
) -> None:
    """Write a name beside each point (n, 2), at a place where it covers neither another name nor a point.

    Names stand to the right of their points, or on the side away from a place. The limits of the axes must be final:
    places are found in points of the page.
    """
    from matplotlib.patheffects import withStroke

    figure = ax.figure
    figure.draw_without_rendering()  # type: ignore[union-attr]  # so that the axes have their final size
    to_points = 72.0 / figure.dpi
    dots = ax.transData.transform(np.asarray(points, dtype=float)) * to_points
    window = ax.get_window_extent()
    page = NameBox(*(float(side) * to_points for side in window.extents))
    taken = [NameBox(x - 3.0, y - 3.0, x + 3.0, y + 3.0) for x, y in dots]
    middle = None if away_from is None else ax.transData.transform(away_from) * to_points
    for name, dot, point in zip(names, dots, points, strict=True):
        ahead = 0.0 if middle is None else float(np.degrees(np.arctan2(*(dot - middle)[::-1])))
        box, ring = _free_box(name, dot, taken, page, size, ahead)
        taken.append(box)
        line = {"arrowstyle": "-", "color": QUIET, "linewidth": 0.7, "shrinkA": 0, "shrinkB": 3}
        ax.annotate(
            name,
            (float(point[0]), float(point[1])),
            ((box.left + box.right) / 2 - dot[0], (box.bottom + box.top) / 2 - dot[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=size,
            color=INK,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            arrowprops=line if ring else None,
            zorder=6,
        )


def _free_box(
    name: str, dot: np.ndarray, taken: list[NameBox], page: NameBox, size: float, ahead: float
) -> tuple[NameBox, int]:
    """Return the box of a name that covers the least, the nearest of equals, and its ring."""
    width, height = CHARACTER * size * max(len(name), 1), LINE * size
    best: tuple[float, NameBox, int] | None = None
    for ring, far in enumerate(RINGS):
        for angle in np.radians(np.add(ahead, TURNS if ahead == 0.0 else TURNS_AHEAD)):
            x = dot[0] + far * NEAR * np.cos(angle) + np.sign(np.round(np.cos(angle), 9)) * width / 2
            y = dot[1] + far * NEAR * np.sin(angle) + np.sign(np.round(np.sin(angle), 9)) * height / 2
            box = NameBox(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            outside = width * height - box.overlap(page)
            covered = outside + sum(box.overlap(other) for other in taken)
            if best is None or covered < best[0] - 1e-9:
                best = (covered, box, ring)
        if best is not None and best[0] <= 1e-9:
            break
    assert best is not None
    return best[1], best[2]
