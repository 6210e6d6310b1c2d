"""Pictures of how an answer depends on a column: a curve over the rows behind it, bars for words, two at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.drawing.style import PALETTE
from pellucid.explaining import Crossed, Dependence
from pellucid.report.figures import INK, MARK, figure_as_svg, tidy_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 4.6, 3.4
BAR_HEIGHT = 0.34
"""Inches for each word."""
LONGEST_WORD = 24
LEVEL_COLORS = (PALETTE[0], PALETTE[1], "#777777")


@dataclass(frozen=True)
class Scale:
    """What all pictures of a page share, so that a flat curve looks flat: the unit, the mean answer, the ends."""

    unit: str
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, curves: Sequence[Dependence], mean: float, unit: str) -> Scale:
        """Return the scale that holds all curves."""
        means = np.concatenate([[mean], *(curve.means for curve in curves)])
        room = 0.06 * (float(np.ptp(means)) or 1.0)
        return cls(unit, mean, float(means.min()) - room, float(means.max()) + room)


def dependence_picture(curve: Dependence, scale: Scale, place: int) -> str:
    """Return the picture of one column: a curve with the spread of the rows below it, or a bar for each word."""
    if curve.words:
        height = 1.1 + BAR_HEIGHT * len(curve.words)
        return figure_as_svg(lambda figure: _draw_bars(figure, curve, scale), f"words{place}", (WIDTH, height))
    return figure_as_svg(lambda figure: _draw_curve(figure, curve, scale), f"curve{place}", (WIDTH, HEIGHT))


def crossed_picture(found: Crossed, unit: str) -> str:
    """Return the picture of one column's curve for each of some values of another."""

    def fill(figure: Figure) -> None:
        ax = figure.add_subplot()
        for level, means, ink in zip(found.levels, found.means, LEVEL_COLORS, strict=False):
            ax.plot(found.values, means, color=ink, linewidth=2.0, label=f" {_short(level)}")
        legend = ax.legend(title=found.second, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
        for text in (legend.get_title(), *legend.get_texts()):
            text.set_parse_math(False)
        _name_axes(ax, found.first, unit)
        tidy_ticks(ax)

    return figure_as_svg(fill, "crossed", (5.6, 3.4))


def _draw_curve(figure: Figure, curve: Dependence, scale: Scale) -> None:
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    upper.axhline(scale.mean, color=INK, linewidth=0.8, dashes=(4, 3))
    upper.plot(curve.values, curve.means, color=MARK, linewidth=2.0)
    _name_axes(upper, "", scale.unit)
    upper.set_ylim(scale.low, scale.high)
    edges = np.linspace(curve.values[0], curve.values[-1], len(curve.counts) + 1)
    lower.bar(
        edges[:-1], 100.0 * curve.counts / curve.counts.sum(), np.diff(edges), align="edge", color=MARK, alpha=0.45
    )
    _name_axes(lower, curve.column, "% of rows")
    tidy_ticks(upper)
    tidy_ticks(lower)
    lower.locator_params(axis="y", nbins=2)
    if curve.is_date:
        _write_dates(lower)


def _draw_bars(figure: Figure, curve: Dependence, scale: Scale) -> None:
    ax = figure.add_subplot()
    places = np.arange(len(curve.words))[::-1]
    ax.axvline(scale.mean, color=INK, linewidth=0.8, dashes=(4, 3))
    ax.barh(places, curve.means - scale.mean, left=scale.mean, height=0.62, color=MARK)
    ax.set_yticks(places, [_short(word) for word in curve.words])
    for tick in ax.get_yticklabels():
        tick.set_parse_math(False)
    for place, count in zip(places, curve.counts, strict=True):
        ax.annotate(f"{count:,} rows", (1.0, place), xycoords=("axes fraction", "data"), fontsize=9, va="center")
    ax.set_xlim(scale.low, scale.high)
    ax.set_title(curve.column, fontsize=11, parse_math=False)
    _name_axes(ax, scale.unit, "")
    tidy_ticks(ax, y=False)


def _name_axes(ax: Axes, x: str, y: str) -> None:
    ax.set_xlabel(x, parse_math=False)
    ax.set_ylabel(y, parse_math=False)


def _write_dates(ax: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator: Any = AutoDateLocator(minticks=2, maxticks=8)  # days since 1970 are what dates are drawn as
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))


def _short(word: str) -> str:
    return word if len(word) <= LONGEST_WORD else f"{word[: LONGEST_WORD - 1]}…"
