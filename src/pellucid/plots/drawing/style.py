"""How all plots look: colors that color-blind readers can tell apart, thin spines, text that the last row can read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito's colors, without black and yellow."""
INK = "#333333"
QUIET = "#9a9a9a"
"""For what should be seen second: reference lines, unlabeled curves."""
MORE_COLORS = (*PALETTE, "#000000", "#8b4513", "#6a3d9a", "#9ab61a")
"""For up to ten classes: black, brown, violet and lime join; yellow cannot be read on white."""
LINE_WIDTH = 2.2
LABEL_SIZE, TEXT_SIZE, SMALL_SIZE = 13.0, 11.0, 9.5
"""Points: names of axes; ticks, legends and names in the picture; notes. A new figure is 16 cm wide."""


def tidy_axes(ax: Axes | None, size: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """Return the axes, or new ones of a size in inches, in the house style. Matplotlib's own settings stay."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_linewidth(0.6)
        ax.spines[side].set_color(QUIET)
    ax.tick_params(width=0.6, color=QUIET, labelcolor=INK, labelsize=TEXT_SIZE)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(LABEL_SIZE)
    return ax


def panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a new figure of several axes in the house style, row by row; ``size`` is that of one, in inches."""
    import matplotlib.pyplot as plt

    figure, grid = plt.subplots(
        rows, columns, figsize=(size[0] * columns, size[1] * rows), layout="constrained", squeeze=False
    )
    return figure, [tidy_axes(ax) for ax in grid.ravel()]


def write_legend(ax: Axes, **options: Any) -> None:
    """Write the legend of labeled lines and dots, without a frame."""
    ax.legend(**{"frameon": False, "labelcolor": INK, "fontsize": TEXT_SIZE, **options})


def legend_beside(ax: Axes, **options: Any) -> None:
    """Write the legend to the right of the axes, where it hides no row."""
    write_legend(ax, loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.4, **options)


def class_color(index: int, count: int) -> str:
    """Return the color of the class with this number, of so many."""
    return color(index) if count <= len(PALETTE) else MORE_COLORS[index % len(MORE_COLORS)]


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


SPACING = 0.065
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
            fontsize=TEXT_SIZE,
            arrowprops={"arrowstyle": "-", "color": ink, "linewidth": LINE_WIDTH / 3, "shrinkA": 0, "shrinkB": 0},
            annotation_clip=False,
        )


def _height(ax: Axes, value: float) -> float:
    pixels = ax.transData.transform((ax.get_xlim()[0], value))
    return float(ax.transAxes.inverted().transform(pixels)[1])
