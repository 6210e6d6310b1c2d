"""Which part of the plane to show, so that paths can be seen and strays do not shrink them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SHAPE = 1.1
"""Width of the view over its height, where a unit is as long on both axes."""
MARGIN = 0.1
"""Room around the paths, as a share of their extent."""
STRAY = 1.0
"""Points further from the box of start and ends than its size times this do not widen the view."""
FLAT = 3.0
"""If the paths reach this many times further one way than the other, both axes get scales of their own."""


class View(NamedTuple):
    """The limits of both axes, and whether a unit is as long on both."""

    x: tuple[float, float]
    y: tuple[float, float]
    is_equal: bool


def view_of(start: np.ndarray, goals: np.ndarray, paths: list[np.ndarray]) -> View:
    """Return the view that shows start and goals, and those points of the paths that are near them.

    Examples
    --------
    >>> path = np.array([[0.0, 0.0], [4.0, 2.0], [900.0, 0.0]])
    >>> view = view_of(path[0], path[1:2], [path])
    >>> view.x[1] < 10, view.is_equal
    (True, True)
    """
    core = np.vstack([start, goals])
    low, high = core.min(axis=0), core.max(axis=0)
    reach = STRAY * max(float((high - low).max()), 1e-3 * (1 + float(np.abs(core).max())))
    points = np.vstack([core, *paths])
    near = points[((points >= low - reach) & (points <= high + reach)).all(axis=1)]
    center, size = (near.max(axis=0) + near.min(axis=0)) / 2, np.ptp(near, axis=0)
    size = np.maximum(size, 0.05 * size.max()) if size.max() > 0 else np.full(2, reach)
    is_equal = bool(size.max() <= FLAT * size.min())
    half = (0.5 + MARGIN) * size
    if is_equal:  # widen the shorter side, so that the panel is filled
        height = max(half[1], half[0] / SHAPE)
        half = np.array([SHAPE * height, height])
    (left, bottom), (right, top) = center - half, center + half
    return View((float(left), float(right)), (float(bottom), float(top)), is_equal)
