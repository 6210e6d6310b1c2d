"""Components that are pictures, such as parts of faces: one tile each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array
from pellucid.drawing.style import tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TILES = 49
GAP = 1
"""Pixels between two tiles."""


def plot_components_images(
    model: Any, shape: tuple[int, int], ax: Axes | None = None, *, most: int = MOST_TILES, columns: int | None = None
) -> Axes:
    """Draw the first components of a fitted model as pictures, such as those of ``NMF`` or ``PCA``.

    What a component adds is dark; where it takes something away, which parts never do, it is red. Each tile has its own
    scale.

    Parameters
    ----------
    model : fitted estimator
        With ``components_`` of shape (n_components, n_features).
    shape : tuple of two int
        Rows and columns of a picture; their product is the number of features.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    most : int, default=49
        Most components drawn.
    columns : int, default=None
        Tiles side by side; None makes a square of them.
    """
    check_is_fitted(model)
    components = np.asarray(model.components_, dtype=np.float64)[:most]
    height, width = shape
    if height * width != components.shape[1]:
        raise ValueError(
            f"shape must have as many pixels as there are features ({components.shape[1]}), got {height} x {width}."
        )
    n = len(components)
    across = columns or int(np.ceil(np.sqrt(n)))
    down = -(-n // across)
    mosaic = np.full((down * (height + GAP) - GAP, across * (width + GAP) - GAP), np.nan)
    for k, component in enumerate(components):
        top, left = (k // across) * (height + GAP), (k % across) * (width + GAP)
        largest = np.abs(component).max()
        mosaic[top : top + height, left : left + width] = component.reshape(shape) / (largest if largest > 0 else 1.0)
    ax = tidy_axes(ax)
    ax.imshow(_colored(mosaic), interpolation="nearest")
    ax.set_axis_off()
    return ax


def _colored(mosaic: Array) -> Array:
    """Return a color for every number: gray above 0, red below, and pale between the tiles."""
    from matplotlib.colors import to_rgb

    dark, red, pale = (np.array(to_rgb(name)) for name in ("#111111", "#b2182b", "#e4e4e4"))
    strength = np.abs(np.nan_to_num(mosaic))[..., None]
    ink = np.where((mosaic < 0.0)[..., None], red, dark)
    return np.where(np.isnan(mosaic)[..., None], pale, (1.0 - strength) + strength * ink)
