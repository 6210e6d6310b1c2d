"""A figure as SVG."""

from __future__ import annotations

from html import escape

from pellucid.workings.document import Figure, Series
from pellucid.workings.figure_scale import Scale, scales

WIDE, HIGH = 420, 220
LEFT, RIGHT, TOP, BOTTOM = 62, 60, 24, 32
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's colors, told apart by color-blind readers too."""


def svg(figure: Figure, *, standalone: bool = False) -> str:
    """Return the figure as an SVG element; ``standalone`` ones bring their own ink color."""
    across, up = scales(figure)
    ink = ' color="#444"' if standalone else ""
    parts = [_axes(figure, across, up)]
    lines = 0
    for series in sorted(figure.series, key=lambda one: not one.joined):
        parts.append(_series(series, across, up, COLORS[lines % len(COLORS)]))
        lines += series.joined
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" role="img"'
        f' font-family="sans-serif" font-size="12"{ink}><title>{escape(figure.caption)}</title>{"".join(parts)}</svg>'
    )


def _axes(figure: Figure, across: Scale, up: Scale) -> str:
    foot, middle = HIGH - BOTTOM, (LEFT + WIDE - RIGHT) // 2
    return (
        f'<path d="M{LEFT} {TOP}V{foot}H{WIDE - RIGHT}" fill="none" stroke="currentColor"/><g fill="currentColor">'
        f'<text x="{LEFT}" y="{foot + 16}">{across.low_text}</text>'
        f'<text x="{WIDE - RIGHT}" y="{foot + 16}" text-anchor="end">{across.high_text}</text>'
        f'<text x="{middle}" y="{foot + 26}" text-anchor="middle">{escape(figure.x_label)}</text>'
        f'<text x="{LEFT - 6}" y="{foot}" text-anchor="end">{up.low_text}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + 8}" text-anchor="end">{up.high_text}</text>'
        f'<text x="{LEFT}" y="{TOP - 8}" text-anchor="middle">{escape(figure.y_label)}</text></g>'
    )


def _series(series: Series, across: Scale, up: Scale, color: str) -> str:
    points = [
        (LEFT + (WIDE - LEFT - RIGHT) * across.place(x), HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * up.place(y))
        for x, y in zip(series.x, series.y, strict=True)
    ]
    if series.joined:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        marks = f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
    else:
        marks = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="currentColor"/>' for x, y in points)
    x, y = points[-1]
    label = f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{color}">{escape(series.label)}</text>'
    return marks + (label if series.label else "")
