"""Accuracy against the size of changes: proved from below, attacked from above."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Data
from pellucid.drawing.line_labels import label_line_ends
from pellucid.drawing.style import LINE_WIDTH, PALETTE, QUIET, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_certified_accuracy(
    epsilons: Data, certified: Data, attacked: Data = None, *, norm: float = np.inf, ax: Axes | None = None
) -> Axes:
    """Draw the share of rows that stay right, by proof and under attack; the truth lies in the band between.

    Parameters
    ----------
    epsilons : array of shape (m,)
        Sizes of changes.
    certified : array of shape (m,)
        From ``CertifiedRadii.certified_accuracy``.
    attacked : array of shape (m,), default=None
        From :func:`pellucid.neural_network.attacked_accuracy`.
    norm : float, default=inf
        The norm in which changes are measured, for the label.
    ax : Axes, default=None
        Where to draw; None makes a new figure.
    """
    order = np.argsort(epsilons, kind="stable")
    x, low = (np.asarray(numbers, dtype=float)[order] for numbers in (epsilons, certified))
    ax = tidy_axes(ax)
    lines = {"proved to stay right": (low, PALETTE[0])}
    if attacked is not None:
        high = np.asarray(attacked, dtype=float)[order]
        if (high < low).any():
            place = int(np.argmax(low - high))
            raise ValueError(
                f"attacked must be at least certified, got {high[place]:g} below {low[place]:g} at epsilon "
                f"{x[place]:g}. Take both for the same rows, norm and model."
            )
        ax.fill_between(x, low, high, color=QUIET, alpha=0.15, linewidth=0)
        lines["right under attack"] = (high, PALETTE[1])
    for name, (heights, ink) in lines.items():
        ax.plot(x, heights, color=ink, linewidth=LINE_WIDTH, label=name)
    ax.set_xlim(x[0], x[-1])
    ax.set_ylim(0, 1)
    ax.set_xlabel(f"size of the change (norm {'∞' if np.isinf(norm) else f'{norm:g}'})")
    ax.set_ylabel("share of rows")
    label_line_ends(ax, [(float(heights[-1]), name, ink) for name, (heights, ink) in lines.items()])
    return ax
