"""What is seen in an image: boxes and masks of objects, and the class of each pixel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import SMALL_SIZE, class_color, legend_beside, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MASK = 0.45
"""How much of its color a masked pixel has."""


def plot_objects(
    image: Data, objects: Any, ax: Axes | None = None, *, names: Mapping[Any, str] | None = None, least: float = 0.0
) -> Axes:
    """Draw an image with the boxes of objects, their names and scores, and their masks where they have such.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The image; a network's order (3, height, width) is understood.
    objects : Annotations or Detections
        With ``boxes`` (x1, y1, x2, y2) and ``labels``; on demand ``scores`` and ``masks``.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    names : dict from labels to str, default=None
        What to call the classes.
    least : float, default=0.0
        Objects with a lower score are left out.
    """
    from matplotlib.patches import Rectangle

    pixels = _as_shown(image)
    boxes, labels = np.asarray(objects.boxes, dtype=float), np.asarray(objects.labels)
    scores = getattr(objects, "scores", None)
    masks = getattr(objects, "masks", None)
    kept = np.arange(len(boxes)) if scores is None else np.flatnonzero(np.asarray(scores) >= least)
    ax = _draw_image(ax, pixels)
    different = np.unique(labels)
    for i in kept:
        ink = class_color(int(np.searchsorted(different, labels[i])), len(different))
        if masks is not None:
            ax.imshow(_veil(np.asarray(masks[i], dtype=bool), ink), interpolation="nearest")
        x1, y1, x2, y2 = boxes[i]
        # pixel 0 is drawn from -0.5 to 0.5
        ax.add_patch(Rectangle((x1 - 0.5, y1 - 0.5), x2 - x1, y2 - y1, fill=False, edgecolor=ink, linewidth=2.0))
        told = _name(labels[i], names) + ("" if scores is None else f" {float(scores[i]):.2f}")
        paper = {"boxstyle": "square,pad=0.15", "facecolor": ink, "edgecolor": "none"}
        ax.text(x1 - 0.5, y1 - 0.5, told, fontsize=SMALL_SIZE, color="white", va="bottom", bbox=paper)
    return ax


def plot_label_map(
    image: Data, labels: Data, ax: Axes | None = None, *, names: Mapping[Any, str] | None = None, ignore: Any = None
) -> Axes:
    """Draw the class of each pixel as a veil over the image, with a legend of the classes.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        The image; a network's order (3, height, width) is understood.
    labels : array-like of shape (height, width)
        Class of each pixel.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    names : dict from labels to str, default=None
        What to call the classes.
    ignore : label, default=None
        A class without a veil, such as the ground.
    """
    from matplotlib.patches import Patch

    pixels, found = _as_shown(image), np.asarray(labels)
    if found.shape != pixels.shape[:2]:
        raise ValueError(f"labels must have a class for each of {pixels.shape[:2]} pixels, got shape {found.shape}.")
    ax = _draw_image(ax, pixels)
    different = [label for label in np.unique(found) if ignore is None or label != ignore]
    handles = []
    for k, label in enumerate(different):
        ink = class_color(k, len(different))
        ax.imshow(_veil(found == label, ink), interpolation="nearest")
        share = float(np.mean(found == label))
        handles.append(Patch(color=ink, alpha=MASK, label=f"{_name(label, names)} ({share:.0%})"))
    legend_beside(ax, handles=handles)
    return ax


def _as_shown(image: Data) -> Array:
    """Return an image as matplotlib draws it: (height, width) or (height, width, 3), 0 to 1 or in bytes."""
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3) and pixels.shape[2] not in (1, 3):
        pixels = np.moveaxis(pixels, 0, 2)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise ValueError(f"image must be gray or have three channels, got shape {pixels.shape}.")
    return pixels


def _draw_image(ax: Axes | None, pixels: Array) -> Axes:
    height, width = pixels.shape[:2]
    ax = tidy_axes(ax, (6.0, 6.0 * height / width))
    ax.imshow(pixels, cmap="gray" if pixels.ndim == 2 else None, interpolation="nearest")
    ax.set_axis_off()
    return ax


def _veil(mask: Array, ink: str) -> Array:
    """Return a picture of one color that is seen through everywhere, and not at all outside of the mask."""
    from matplotlib.colors import to_rgb

    veil = np.zeros((*mask.shape, 4))
    veil[mask] = (*to_rgb(ink), MASK)
    return veil


def _name(label: Any, names: Mapping[Any, str] | None) -> str:
    plain = label.item() if isinstance(label, np.generic) else label
    return str(plain) if names is None else str(names.get(plain, plain))
