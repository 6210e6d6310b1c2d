"""Things that are pictures, one tile each: components such as parts of faces, images, an image by rank; and signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, QUIET, TEXT_SIZE, color, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    return plot_tiles(components, shape, ax, columns)


def plot_tiles(pictures: Array, shape: tuple[int, int], ax: Axes | None = None, columns: int | None = None) -> Axes:
    """Draw rows of numbers as pictures, one tile each with its own scale: dark adds, red takes away."""
    height, width = shape
    n = len(pictures)
    across = columns or int(np.ceil(np.sqrt(n)))
    down = -(-n // across)
    mosaic = np.full((down * (height + GAP) - GAP, across * (width + GAP) - GAP), np.nan)
    for k, component in enumerate(pictures):
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


RANKS = (1, 5, 20, 50, 100)
GRAY = "gray"


def plot_ranks(model: Any, ranks: Sequence[int] | None = None, figure: Figure | None = None) -> Figure:
    """Draw the approximations of a matrix, side by side, with their error and the share of numbers they are stored in.

    Parameters
    ----------
    model : fitted SVD
        Of an image, one number for each pixel.
    ranks : sequence of int, default=None
        Which ranks; None takes 1, 5, 20, 50 and 100, as far as there are so many.
    figure : Figure, default=None
        Where to draw; None makes a new one.
    """
    from matplotlib.figure import Figure as NewFigure

    check_is_fitted(model, "singular_values_")
    most = len(model.singular_values_)
    chosen = [rank for rank in RANKS if rank <= most] if ranks is None else list(ranks)
    pictures = [model.approximate(rank) for rank in chosen]
    n, d = pictures[0].shape
    if figure is None:
        figure = NewFigure(figsize=(2.6 * len(chosen), 2.6 * n / d + 0.9), layout="constrained")
    low, high = float(np.min(pictures[-1])), float(np.max(pictures[-1]))
    norm = float(np.sqrt(model.energy_)) or 1.0
    for place, (rank, picture) in enumerate(zip(chosen, pictures, strict=True)):
        ax = figure.add_subplot(1, len(chosen), place + 1)
        ax.imshow(picture, cmap=GRAY, vmin=low, vmax=high, interpolation="nearest")
        ax.set_axis_off()
        stored = model.stored_numbers(rank) / (n * d)
        error = model.approximation_error(rank) / norm
        ax.set_title(f"rank {rank}\n{stored:.0%} of the numbers\nerror {error:.1%}", fontsize=TEXT_SIZE, color=INK)
    return figure


MOST_POINTS = 2000
"""Longer signals are drawn as bands between the least and the largest of many values."""

LANE = 2.4
"""Distance between two signals, in parts of the largest value of each."""


def plot_signals(
    signals: Data, ax: Axes | None = None, *, names: Sequence[str] | None = None, rate: float | None = None
) -> Axes:
    """Draw the columns of a table against time, each in a lane of its own and at its own scale.

    Parameters
    ----------
    signals : array-like of shape (n_samples, n_signals)
        The signals, rows in the order of time.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    names : sequence of str, default=None
        What to call them; None numbers them.
    rate : float, default=None
        Samples in a second; None counts samples.
    """
    values = np.asarray(signals, dtype=np.float64)
    if values.ndim != 2 or not values.size:
        raise ValueError(f"signals must have rows and columns, got shape {values.shape}. Reshape one to (-1, 1).")
    n, count = values.shape
    if names is not None and len(names) != count:
        raise ValueError(f"names must be as many as signals ({count}), got {len(names)}.")
    centered = values - values.mean(axis=0)
    largest = np.abs(centered).max(axis=0)
    centered /= np.where(largest > 0.0, largest, 1.0)
    ax = tidy_axes(ax)
    for k in range(count):
        time, low, high = _band(centered[:, k] - LANE * k)
        seconds = time / rate if rate else time
        ax.axhline(-LANE * k, color=QUIET, linewidth=0.4)
        if n <= MOST_POINTS:
            ax.plot(seconds, low, color=color(k), linewidth=0.9)
        else:
            ax.fill_between(seconds, low, high, color=color(k), linewidth=0.3)
    shown = [str(k + 1) for k in range(count)] if names is None else list(names)
    ax.set_yticks([-LANE * k for k in range(count)], shown)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.set_xlim(0.0, (n - 1) / rate if rate else n - 1)
    ax.set_xlabel("seconds" if rate else "sample")
    return ax


def _band(signal: Array) -> tuple[Array, Array, Array]:
    """Return times, and the least and the largest value around each."""
    n = len(signal)
    if n <= MOST_POINTS:
        return np.arange(n, dtype=np.float64), signal, signal
    edges = np.linspace(0, n, MOST_POINTS + 1).astype(int)[:-1]
    return edges.astype(np.float64), np.minimum.reduceat(signal, edges), np.maximum.reduceat(signal, edges)


def plot_images(
    images: Data,
    ax: Axes | None = None,
    *,
    shape: tuple[int, int] | None = None,
    columns: int | None = None,
    most: int = MOST_TILES,
) -> Axes:
    """Draw gray images side by side on one scale, such as the first 49 faces or digits of a set.

    Parameters
    ----------
    images : array-like of shape (n, height, width), or (n, height * width) with ``shape``
        The images; large values are bright.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    shape : tuple of two int, default=None
        Height and width of images that are rows of a table.
    columns : int, default=None
        Images side by side; None makes a square of them.
    most : int, default=49
        Most images drawn.
    """
    pictures = np.asarray(images, dtype=np.float64)
    if shape is not None and pictures.ndim == 2 and pictures.shape[1] == shape[0] * shape[1]:
        pictures = pictures.reshape(-1, *shape)
    if pictures.ndim != 3 or not len(pictures):
        raise ValueError(f"images must have the shape (n, height, width), got {pictures.shape}. Give shape for rows.")
    pictures = pictures[:most]
    n, height, width = pictures.shape
    across = columns or int(np.ceil(np.sqrt(n)))
    mosaic = np.full((-(-n // across) * (height + GAP) - GAP, across * (width + GAP) - GAP), np.nan)
    for k, picture in enumerate(pictures):
        top, left = (k // across) * (height + GAP), (k % across) * (width + GAP)
        mosaic[top : top + height, left : left + width] = picture
    ax = tidy_axes(ax, (5.0, 5.0 * mosaic.shape[0] / mosaic.shape[1]))
    ax.imshow(mosaic, cmap=GRAY, interpolation="nearest")
    ax.set_axis_off()
    return ax
