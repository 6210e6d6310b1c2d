"""A linear, time-invariant system: the input, the answer to the unit sample, and the output as a sum of its copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pellucid.core.types import Array, Data
from pellucid.plots.drawing.style import INK, LABEL_SIZE, LINE_WIDTH, QUIET, color, legend_beside, panels, tidy_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COPIES = 6
"""Up to so many entries of the input, each copy of the response is drawn in the color of its entry."""


def plot_response(x: Data, h: Data, figure: Figure | None = None) -> Figure:
    r"""Draw an input, the unit-sample response of a system, and its output :math:`y[n] = \sum_k x[k]\,h[n - k]`.

    Every entry of the input sets off a copy of the response, shifted to its place and scaled by its value; the copies
    are stacked in the output.

    Parameters
    ----------
    x, h : array-like of shape (n,), (m,)
        Input and unit-sample response, from index 0.
    figure : Figure, default=None
        Where to draw; None makes a new one, with three pictures.
    """
    given, response = (np.asarray(signal, dtype=float) for signal in (x, h))
    for name, signal in (("x", given), ("h", response)):
        if signal.ndim != 1 or not signal.size or not np.isfinite(signal).all():
            raise ValueError(f"{name} must be a list of finite numbers, got shape {signal.shape}.")
    copies = np.zeros((len(given), len(given) + len(response) - 1))
    for k, value in enumerate(given):
        copies[k, k : k + len(response)] = value * response
    output = copies.sum(axis=0)
    if figure is None:
        figure, axes = panels(1, 3, (4.0, 3.6))
    else:
        axes = [tidy_axes(figure.add_subplot(1, 3, k + 1)) for k in range(3)]
    in_color = len(given) <= MOST_COPIES
    inks = [color(k) if in_color else color(0) for k in range(len(given))]
    _draw_stems(axes[0], given, inks)
    _draw_stems(axes[1], response, [INK] * len(response))
    _draw_stems(axes[2], output, [INK] * len(output))
    if in_color:
        _stack_copies(axes[2], copies, inks, given)
    for ax, title, label in zip(axes, ("input", "answer to the unit sample", "output"), "xhy", strict=True):
        ax.set_title(title, fontsize=LABEL_SIZE, color=INK)
        ax.set(xlabel="n", ylabel=f"{label}[n]")
        ax.locator_params(axis="x", integer=True)
        low, high = ax.dataLim.intervaly
        room = 0.16 * (max(high, 0.0) - min(low, 0.0)) or 1.0
        ax.set_ylim(min(low, 0.0) - (room if low < 0 else 0.0), max(high, 0.0) + room)
        ax.set_xlim(-0.6, len({"x": given, "h": response, "y": output}[label]) - 0.4)
    return figure


def _draw_stems(ax: Axes, signal: Array, inks: list[str]) -> None:
    """Draw a line and a dot for each entry, with its value."""
    ax.axhline(0.0, color=QUIET, linewidth=0.8, zorder=0)
    for n, (value, ink) in enumerate(zip(signal, inks, strict=True)):
        ax.plot([n, n], [0.0, value], color=ink, linewidth=LINE_WIDTH, zorder=2)
        ax.plot(n, value, "o", color=ink, markersize=8, zorder=4)
        if len(signal) <= 12:
            side = 1 if value >= 0 else -1
            ax.annotate(
                f"{value:.3g}", (n, value), (0, 9 * side), textcoords="offset points", ha="center",
                va="bottom" if side > 0 else "top", color=INK, zorder=5,
            )  # fmt: skip


def _stack_copies(ax: Axes, copies: Array, inks: list[str], given: Array) -> None:
    """Draw the copies as bars on top of each other, those below 0 downwards."""
    above, below = np.zeros(copies.shape[1]), np.zeros(copies.shape[1])
    for k, (copy, ink) in enumerate(zip(copies, inks, strict=True)):
        bottom = np.where(copy >= 0, above, below)
        told = f"{given[k]:.3g} h[n − {k}]" if k else f"{given[k]:.3g} h[n]"
        ax.bar(np.arange(len(copy)), copy, 0.5, bottom=bottom, color=ink, alpha=0.45, linewidth=0, zorder=1, label=told)
        above, below = above + np.maximum(copy, 0.0), below + np.minimum(copy, 0.0)
    legend_beside(ax)
