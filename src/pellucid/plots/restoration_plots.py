"""Restored images side by side, their spectra, learnt dictionaries, and the filters behind the pixels of a network."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.component_images import plot_tiles
from pellucid.plots.drawing.style import INK, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 2.7
"""Inches of one picture of a grid."""
MOST_ACROSS = 4
SMALLEST = 1e-3
"""Of the largest amplitude of a spectrum: what is below is drawn black."""


def plot_restorations(
    images: Mapping[str, Data],
    clean: Data = None,
    *,
    zoom: tuple[int, int, int] | None = None,
    peak: float | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw images in a grid, each with its name, its PSNR if the clean one is given, and an enlarged part.

    Parameters
    ----------
    images : mapping of names to images or restorations
        Drawn in its order; a restoration that has an estimate of its PSNR says it.
    clean : image, default=None
        What they should be. It is drawn first.
    zoom : tuple of three int, default=None
        Row, column and side of the part to enlarge; None takes the square that differs most from one image to another.
    peak : float, default=None
        Largest gray value; None finds it.
    figure : Figure, default=None
        Where to draw; None makes a new one.
    """
    from pellucid.vision.restoration.images import Format
    from pellucid.vision.restoration.metrics import psnr

    if not images:
        raise ValueError("images must hold at least one, got none.")
    arrays = {name: np.asarray(getattr(one, "image", one)) for name, one in images.items()}
    first = np.asarray(clean) if clean is not None else next(iter(arrays.values()))
    top = Format.of(first, peak).peak
    captions = {}
    for name, one in images.items():
        estimate = getattr(one, "psnr", None)
        if clean is not None and arrays[name].shape == first.shape:
            captions[name] = f"{psnr(first, arrays[name], peak=top):.2f} dB"
        elif estimate is not None and estimate.is_known:
            captions[name] = f"{estimate.value:.1f} dB (estimated)"
    shown = ({"clean": first} if clean is not None else {}) | arrays
    return _grid(shown, captions, top, zoom or _busiest(list(shown.values())), figure)


def _grid(
    shown: Mapping[str, Array],
    captions: Mapping[str, str],
    top: float,
    zoom: tuple[int, int, int],
    figure: Figure | None,
) -> Figure:
    from matplotlib.figure import Figure as NewFigure
    from matplotlib.patches import Rectangle

    down = -(-len(shown) // MOST_ACROSS)
    across = -(-len(shown) // down)
    height, width = next(iter(shown.values())).shape[:2]
    tall = WIDTH * height / width + 0.5
    figure = NewFigure(figsize=(WIDTH * across, tall * down), layout="constrained") if figure is None else figure
    row, column, side = zoom
    for place, (name, image) in enumerate(shown.items(), 1):
        ax = figure.add_subplot(down, across, place)
        options: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": top, "interpolation": "nearest"}
        picture = np.clip(image / top, 0, 1) if image.ndim == 3 else image
        ax.imshow(picture, **options)
        ax.set_axis_off()
        ax.set_title(name, fontsize=10, color=INK, pad=3)
        under: dict[str, Any] = {"ha": "center", "va": "top", "fontsize": 9, "color": INK}
        ax.text(0.5, -0.02, captions.get(name, ""), transform=ax.transAxes, **under)
        if image.shape[:2] == (height, width):
            ax.add_patch(Rectangle((column, row), side, side, fill=False, edgecolor=color(1), linewidth=1.0))
            inset = ax.inset_axes((0.6, 0.0, 0.4, 0.4 * width / height))
            inset.imshow(picture[row : row + side, column : column + side], **options)
            inset.set_xticks([])
            inset.set_yticks([])
            for spine in inset.spines.values():
                spine.set(color=color(1), linewidth=1.2)
    return figure


def _busiest(images: Sequence[Array]) -> tuple[int, int, int]:
    """Return the square of a seventh of the side in which the images differ the most, away from the inset's corner."""
    shape = images[0].shape[:2]
    side = max(8, min(shape) // 7)
    alike = [
        np.asarray(one, dtype=np.float64).reshape(*shape, -1).mean(axis=2) for one in images if one.shape[:2] == shape
    ]
    spread = np.std(alike, axis=0) if len(alike) > 1 else np.abs(alike[0] - alike[0].mean())
    rows, columns = (max(1, n // side) for n in shape)
    side = min(side, *shape)
    blocks = spread[: rows * side, : columns * side].reshape(rows, side, columns, side).mean(axis=(1, 3))
    blocks[rows // 2 :, columns // 2 :] = 0.0  # the inset would cover it
    row, column = divmod(int(np.argmax(blocks)), columns)
    return row * side, column * side, side


def plot_spectrum(image: Data, ax: Axes | None = None) -> Axes:
    """Draw the spectrum of an image, or the transfer function of a kernel: low frequencies in the middle, logarithmic.

    A blur has dark rings and lines: what it multiplies by nearly 0, no filter brings back.

    Parameters
    ----------
    image : array-like of shape (height, width) or (height, width, 3)
        An image, whose colors are averaged, or a kernel.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    pixels = np.asarray(image, dtype=np.float64)
    gray = pixels.mean(axis=2) if pixels.ndim == 3 else pixels
    if gray.ndim != 2 or not gray.size:
        raise ValueError(f"image must be of shape (height, width) or (height, width, 3), got {pixels.shape}.")
    size = [max(n, 64) for n in gray.shape]
    amplitude = np.fft.fftshift(np.abs(np.fft.fft2(gray, s=size)))
    largest = amplitude.max()
    level = np.log10(np.maximum(amplitude / largest, SMALLEST)) if largest > 0 else np.zeros(size)
    ax = tidy_axes(ax)
    drawn = ax.imshow(level, cmap="gray", extent=(-0.5, 0.5, 0.5, -0.5), vmin=math.log10(SMALLEST), vmax=0.0)
    ax.set(xlabel="turns a pixel, across", ylabel="turns a pixel, down", xticks=(-0.5, 0, 0.5), yticks=(-0.5, 0, 0.5))
    ax.grid(visible=False)
    bar = ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    bar.set_label("amplitude, powers of ten")
    return ax


def plot_dictionary(atoms: Data, ax: Axes | None = None, *, most: int = 256) -> Axes:
    """Draw the atoms of a dictionary as tiles: dark adds, red takes away.

    Parameters
    ----------
    atoms : array-like of shape (n_atoms, side * side)
        Square patches, one in each row.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    most : int, default=256
        Most atoms drawn: the first ones.
    """
    rows = np.asarray(atoms, dtype=np.float64)
    side = math.isqrt(rows.shape[1]) if rows.ndim == 2 else 0
    if side == 0 or side**2 != rows.shape[1]:
        raise ValueError(
            f"atoms must be rows of square patches, got shape {rows.shape}. Transpose a dictionary of columns."
        )
    return plot_tiles(rows[:most], (side, side), ax)


def plot_filter(weights: Data, ax: Axes | None = None, *, pixel: tuple[int, int] | None = None) -> Axes:
    """Draw the weights by which pixels count for one output pixel: red below 0, blue above.

    A bias-free network is, near an image, such a weighted mean: on an edge the weights lie along it.

    Parameters
    ----------
    weights : array-like of shape (height, width), or what ``filter_behind`` returns
        How much each pixel counts.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    pixel : tuple of two int, default=None
        Row and column of the output pixel, to be marked; None marks nothing.
    """
    values = np.asarray(getattr(weights, "weights", weights), dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"weights must be of shape (height, width), got {values.shape}.")
    most = float(np.abs(values).max()) or 1.0
    ax = tidy_axes(ax)
    drawn = ax.imshow(values, cmap="RdBu", vmin=-most, vmax=most, interpolation="nearest")
    if pixel is not None:
        ax.plot(pixel[1], pixel[0], marker="+", color=INK, markersize=9)
    ax.set_axis_off()
    ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    return ax
