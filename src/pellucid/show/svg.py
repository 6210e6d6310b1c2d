"""A figure as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from pellucid.plots.drawing.style import spread
from pellucid.show.document import Figure, Series

PLOT_WIDE, PLOT_HIGH = 300, 164
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 24, 32
LETTER, LINE = 7, 14
"""Room for a letter and for a line of text."""
NEAR_EDGE = 0.9
"""Share of the width from which on a line ends so far to the right that its name can stand there."""
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")
"""Okabe and Ito's colors, told apart by color-blind readers too."""


def svg(figure: Figure, *, standalone: bool = False) -> str:
    """Return the figure as an SVG element; ``standalone`` ones bring their own ink color."""
    across, up = scales(figure)
    lines = [series for series in figure.series if series.joined]
    dots = [series for series in figure.series if not series.joined]
    at_ends = all(across.place(series.x[-1]) > NEAR_EDGE for series in lines if series.label)
    legend = [_legend([(_mark(i, 4, -4), series.label) for i, series in enumerate(dots)])]
    legend += [] if at_ends else [_legend([(_sample(i), series.label) for i, series in enumerate(lines)])]
    legend = [(row, width) for row, width in legend if row]
    beside = LETTER * max((len(series.label) for series in lines if at_ends), default=0)
    wide, foot = max([LEFT + PLOT_WIDE + RIGHT + beside, *(width for _, width in legend)]), TOP + PLOT_HIGH + BOTTOM
    high = foot + LINE * len(legend)
    ink = ' color="#444"' if standalone else ""
    parts = [_axes(figure, across, up)]
    parts += [_line(series, across, up, COLORS[i % len(COLORS)]) for i, series in enumerate(lines)]
    parts += [_mark(i, x, y) for i, series in enumerate(dots) for x, y in _points(series, across, up)]
    parts += _labels(lines, across, up) if at_ends else []
    parts += [f'<g transform="translate(0 {foot + LINE * (i + 1) - 4})">{row}</g>' for i, (row, _) in enumerate(legend)]
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


def _mark(number: int, x: float, y: float) -> str:
    """Return one point of the set of this number: filled and hollow disks and squares tell sets apart."""
    paint = 'fill="none" stroke="currentColor" stroke-width="1.8"' if number % 2 else 'fill="currentColor"'
    if number % 4 < 2:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {paint}/>'
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" {paint}/>'


def _sample(number: int) -> str:
    """Return a short piece of the line of this number."""
    return f'<path d="M-3 -4h14" stroke="{COLORS[number % len(COLORS)]}" stroke-width="2"/>'


def _legend(entries: list[tuple[str, str]]) -> tuple[str, int]:
    """Return what marks, drawn at (4, -4), stand for, side by side, and how wide that is; nothing without labels."""
    parts, left = [], LEFT
    for mark, label in entries:
        if label:
            text = f'<text x="15" fill="currentColor">{escape(label)}</text>'
            parts.append(f'<g transform="translate({left} 0)">{mark}{text}</g>')
            left += 15 + LETTER * (len(label) + 1)
    return "".join(parts), left


def _labels(lines: list[Series], across: Scale, up: Scale) -> list[str]:
    ends = [_points(series, across, up)[-1] for series in lines]
    heights = spread([y for _, y in ends], LINE)
    return [
        f'<text x="{x + 6:.1f}" y="{y + 4:.1f}" fill="{COLORS[i % len(COLORS)]}">{escape(series.label)}</text>'
        for i, (series, (x, _), y) in enumerate(zip(lines, ends, heights, strict=True))
        if series.label
    ]


@dataclass(frozen=True)
class Scale:
    """A range of data values, mapped to 0..1."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return the value as a fraction of the range."""
        return (value - self.low) / (self.high - self.low)

    @property
    def low_text(self) -> str:
        """The lower edge as it is printed."""
        return f"{self.low:.4g}".replace("-", "−")

    @property
    def high_text(self) -> str:
        """The upper edge as it is printed."""
        return f"{self.high:.4g}".replace("-", "−")


def scales(figure: Figure) -> tuple[Scale, Scale]:
    """Return the horizontal and the vertical scale that hold all data."""
    return _range([x for s in figure.series for x in s.x]), _range([y for s in figure.series for y in s.y])


def _range(values: list[float]) -> Scale:
    low, high = min(values), max(values)
    return Scale(low, high) if low < high else Scale(low - 1, high + 1)
