"""The products of all rows as a picture: which rows a kernel takes for alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array, Data
from pellucid.kernels.choice import kernel_from
from pellucid.plots.drawing.style import INK, PALETTE, QUIET, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_ROWS = 1500
"""Of more rows some are drawn: a picture has no more points."""

MOST_CLASSES = 20
"""Targets with more different values are numbers, by which the rows are sorted, and no classes."""


def plot_kernel_matrix(kernel: Any, X: Data, y: Data = None, ax: Axes | None = None, **parameters: Any) -> Axes:
    """Draw the products of the rows with each other: blue above 0, orange below, white at 0.

    Parameters
    ----------
    kernel : Kernel, str or callable
        A kernel, or whatever :func:`pellucid.kernels.kernel_from` takes, with its ``parameters`` such as ``gamma=0.5``.
    X : array-like of shape (n_samples, n_features)
        The rows; for 'precomputed' their products.
    y : array-like of shape (n_samples,), default=None
        Targets to sort the rows by; a good kernel for few classes shows one block for each.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    **parameters
        Settings of a kernel that is named.
    """
    kernel = kernel_from(kernel, **parameters)
    X = X if hasattr(X, "tocsr") else np.asarray(X)
    chosen = some_rows(X.shape[0], MOST_ROWS)
    labels = None if y is None else np.asarray(y)[chosen]
    order = chosen if labels is None else chosen[np.argsort(labels, kind="stable")]
    products = kernel(X[order], order) if kernel.is_given else kernel(X[order])
    ax = tidy_axes(ax)
    _draw(ax, products)
    if labels is None:
        ax.set_xlabel("row")
        ax.set_ylabel("row")
    elif len(np.unique(labels)) <= MOST_CLASSES:
        _name_classes(ax, np.sort(labels, kind="stable"))
    else:
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("rows, sorted by target")
        ax.set_ylabel("rows, sorted by target")
    return ax


def _draw(ax: Axes, products: Array) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    largest = float(np.abs(products).max(initial=0.0)) or 1.0
    has_negative = products.min(initial=0.0) < -1e-12 * largest
    colors = [PALETTE[1], "white", PALETTE[0]] if has_negative else ["white", PALETTE[0]]
    shades = LinearSegmentedColormap.from_list("house", colors)
    image = ax.imshow(
        products, cmap=shades, vmin=-largest if has_negative else 0.0, vmax=largest, interpolation="nearest"
    )
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.8)
    bar.outline.set_visible(False)  # type: ignore[operator]  # a spine, whatever its type says
    bar.ax.tick_params(width=0.6, color=QUIET, labelcolor=INK)
    bar.set_label("product", color=INK)


def _name_classes(ax: Axes, labels: Array) -> None:
    """Draw a line between classes, and write their names along the sides."""
    names, starts, counts = np.unique(labels, return_index=True, return_counts=True)
    for start in starts[1:]:
        ax.axhline(start - 0.5, color=INK, linewidth=0.6)
        ax.axvline(start - 0.5, color=INK, linewidth=0.6)
    middles = starts + counts / 2 - 0.5
    ax.set_xticks(middles, [str(name) for name in names])
    ax.set_yticks(middles, [str(name) for name in names])
    ax.tick_params(length=0)
    ax.set_xlabel("rows, by class")
    ax.set_ylabel("rows, by class")
