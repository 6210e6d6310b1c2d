"""A figure as SVG."""

from __future__ import annotations

from html import escape

from pellucid.drawing.label_spreading import spread
from pellucid.workings.document import Figure, Series
from pellucid.workings.figure_scale import Scale, scales

PLOT_WIDE, PLOT_HIGH = 300, 164
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 24, 32
LETTER, LINE = 7, 14
"""Room for a letter and for a line of text."""
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's colors, told apart by color-blind readers too."""


def svg(figure: Figure, *, standalone: bool = False) -> str:
    """Return the figure as an SVG element; ``standalone`` ones bring their own ink color."""
    across, up = scales(figure)
    wide = LEFT + PLOT_WIDE + RIGHT + LETTER * max(len(series.label) for series in figure.series)
    high = TOP + PLOT_HIGH + BOTTOM
    ink = ' color="#444"' if standalone else ""
    lines = [series for series in figure.series if series.joined]
    parts = [_axes(figure, across, up)]
    parts += [_line(series, across, up, COLORS[i % len(COLORS)]) for i, series in enumerate(lines)]
    parts += [_dots(series, across, up) for series in figure.series if not series.joined]
    parts += _labels(lines, across, up)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" role="img"'
        f' font-family="sans-serif" font-size="12"{ink}><title>{escape(figure.caption)}</title>{"".join(parts)}</svg>'
    )


def _axes(figure: Figure, across: Scale, up: Scale) -> str:
    right, foot = LEFT + PLOT_WIDE, TOP + PLOT_HIGH
    return (
        f'<path d="M{LEFT} {TOP}V{foot}H{right}" fill="none" stroke="currentColor"/><g fill="currentColor">'
        f'<text x="{LEFT}" y="{foot + 16}">{across.low_text}</text>'
        f'<text x="{right}" y="{foot + 16}" text-anchor="end">{across.high_text}</text>'
        f'<text x="{(LEFT + right) // 2}" y="{foot + 26}" text-anchor="middle">{escape(figure.x_label)}</text>'
        f'<text x="{LEFT - 6}" y="{foot}" text-anchor="end">{up.low_text}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{up.high_text}</text>'
        f'<text x="{LEFT}" y="{TOP - 8}" text-anchor="middle">{escape(figure.y_label)}</text></g>'
    )


def _points(series: Series, across: Scale, up: Scale) -> list[tuple[float, float]]:
    return [
        (LEFT + PLOT_WIDE * across.place(x), TOP + PLOT_HIGH * (1 - up.place(y)))
        for x, y in zip(series.x, series.y, strict=True)
    ]


def _line(series: Series, across: Scale, up: Scale, color: str) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in _points(series, across, up))
    return f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'


def _dots(series: Series, across: Scale, up: Scale) -> str:
    return "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="currentColor"/>' for x, y in _points(series, across, up)
    )


def _labels(lines: list[Series], across: Scale, up: Scale) -> list[str]:
    ends = [_points(series, across, up)[-1] for series in lines]
    heights = spread([y for _, y in ends], LINE)
    return [
        f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{COLORS[i % len(COLORS)]}">{escape(series.label)}</text>'
        for i, (series, (x, _), y) in enumerate(zip(lines, ends, heights, strict=True))
        if series.label
    ]
