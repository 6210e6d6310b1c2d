"""How all plots look: colors that color-blind readers can tell apart, thin spines, nothing that is not data."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colors, without black and yellow."""
INK = "#333333"
QUIET = "#9a9a9a"
"""For what should be seen second: reference lines, unlabeled curves."""
LINE_WIDTH = 1.8


def tidy_axes(ax: Axes | None) -> Axes:
    """Return the axes, or new ones, in the house style. Settings of matplotlib itself are left alone."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
        ax.spines[side].set_color(QUIET)
    ax.tick_params(width=0.6, color=QUIET, labelcolor=INK)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)
    return ax


def color(index: int) -> str:
    """Return the color of the curve with this number; after the last it starts again."""
    return PALETTE[index % len(PALETTE)]


def spread(heights: list[float], spacing: float) -> list[float]:
    """Return the heights, moved as little as needed to be at least ``spacing`` apart, in the same order.

    Neighbors that are too close form a block, which is centered on the mean of its heights.

    Examples
    --------
    >>> spread([5.0, 1.0, 5.0], spacing=2.0)
    [4.0, 1.0, 6.0]
    """
    blocks: list[list[int]] = []
    for i in sorted(range(len(heights)), key=heights.__getitem__):
        blocks.append([i])
        while len(blocks) > 1 and _bottom(blocks[-1], heights, spacing) < _top(blocks[-2], heights, spacing) + spacing:
            last = blocks.pop()
            blocks[-1] += last
    placed = list(heights)
    for block in blocks:
        for rank, i in enumerate(block):
            placed[i] = _bottom(block, heights, spacing) + rank * spacing
    return placed


def _bottom(block: list[int], heights: list[float], spacing: float) -> float:
    return sum(heights[i] for i in block) / len(block) - spacing * (len(block) - 1) / 2


def _top(block: list[int], heights: list[float], spacing: float) -> float:
    return _bottom(block, heights, spacing) + spacing * (len(block) - 1)


SPACING = 0.055
"""Distance between neighboring names, as a fraction of the height of the axes."""


def label_line_ends(ax: Axes, ends: list[tuple[float, str, str]]) -> None:
    """Write each name in its color at the height of its line's end; ``ends`` holds (value, name, color)."""
    heights = [_height(ax, value) for value, _, _ in ends]
    for (_, name, ink), height, place in zip(ends, heights, spread(heights, SPACING), strict=True):
        ax.annotate(
            name,
            xy=(1.0, height),
            xytext=(1.025, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            color=ink,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": LINE_WIDTH / 3, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def _height(ax: Axes, value: float) -> float:
    pixels = ax.transData.transform((ax.get_xlim()[0], value))
    return float(ax.transAxes.inverted().transform(pixels)[1])
