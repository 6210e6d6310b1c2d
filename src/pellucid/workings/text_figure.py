"""A figure drawn with characters."""

from __future__ import annotations

from itertools import pairwise

from pellucid.workings.document import Figure
from pellucid.workings.figure_scale import Scale, scales

COLUMNS, ROWS = 52, 14
LINE_MARKS, DOT_MARKS = "·+×∘", "●○■□"


def draw(figure: Figure) -> list[str]:
    """Return the figure as lines of text."""
    across, up = scales(figure)
    canvas = [[" "] * COLUMNS for _ in range(ROWS)]
    curves, dots = ([series for series in figure.series if series.joined is joined] for joined in (True, False))
    line_marks = dict(zip([series.label for series in curves if series.label], LINE_MARKS, strict=False))
    drawn = [(series, line_marks.get(series.label, "·")) for series in curves]
    drawn += [(series, DOT_MARKS[i % len(DOT_MARKS)]) for i, series in enumerate(dots)]
    for series, mark in drawn:
        for x, y in _cells(series.x, series.y, across, up, joined=series.joined):
            canvas[ROWS - 1 - y][x] = mark
    left = max(len(up.low_text), len(up.high_text))
    margins = [up.high_text, *[""] * (ROWS - 2), up.low_text]
    lines = [f"{margin:>{left}} │{''.join(row)}" for margin, row in zip(margins, canvas, strict=True)]
    foot = (
        f"{across.low_text}{figure.x_label:^{COLUMNS - len(across.low_text) - len(across.high_text)}}{across.high_text}"
    )
    entries = [f"{mark} {series.label}" for series, mark in drawn if series.label]
    on_one_line = "   ".join(entries)
    legend = [" " * (left + 3) + line for line in ([on_one_line] if len(on_one_line) <= COLUMNS else entries) if line]
    return [
        f"{'':>{left}} {figure.y_label}",
        *lines,
        f"{'':>{left}} └{'─' * COLUMNS}",
        f"{'':>{left}}  {foot}",
        *legend,
    ]


def _cells(
    xs: tuple[float, ...], ys: tuple[float, ...], across: Scale, up: Scale, *, joined: bool
) -> list[tuple[int, int]]:
    points = [(across.place(x), up.place(y)) for x, y in zip(xs, ys, strict=True)]
    if joined:
        points = [
            (a + (c - a) * t / COLUMNS, b + (d - b) * t / COLUMNS)
            for (a, b), (c, d) in pairwise(points)
            for t in range(COLUMNS + 1)
        ]
    return [(round(x * (COLUMNS - 1)), round(y * (ROWS - 1))) for x, y in points]
