"""Labels at the ends of lines, moved apart so that none covers another."""

from __future__ import annotations


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
