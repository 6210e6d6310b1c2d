"""An image at several ranks: what its leading singular vectors already show, and in how many numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.drawing.style import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        figure = NewFigure(figsize=(2.1 * len(chosen), 2.1 * n / d + 0.7), layout="constrained")
    low, high = float(np.min(pictures[-1])), float(np.max(pictures[-1]))
    norm = float(np.sqrt(model.energy_)) or 1.0
    for place, (rank, picture) in enumerate(zip(chosen, pictures, strict=True)):
        ax = figure.add_subplot(1, len(chosen), place + 1)
        ax.imshow(picture, cmap=GRAY, vmin=low, vmax=high, interpolation="nearest")
        ax.set_axis_off()
        stored = model.stored_numbers(rank) / (n * d)
        error = model.approximation_error(rank) / norm
        ax.set_title(f"rank {rank}\n{stored:.0%} of the numbers\nerror {error:.1%}", fontsize=9, color=INK)
    return figure
