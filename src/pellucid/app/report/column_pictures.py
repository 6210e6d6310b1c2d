"""Small pictures of the columns: how their values spread, and which go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from scipy.stats import rankdata

from pellucid.app.bake_off import BakeOffResult
from pellucid.app.explaining import Crossed, Dependence
from pellucid.app.report.figures import INK, MARK, figure_as_svg, tidy_ticks
from pellucid.app.tables.dates import DATES, read_dates
from pellucid.app.tables.understanding import is_flag, is_numeric, numbers_if_written
from pellucid.core.types import Array
from pellucid.plots.drawing.style import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


WIDTH, HEIGHT = 120, 28
N_BINS, MOST_BARS = 20, 10
CENTRAL = (0.005, 0.995)
"""Quantiles between which a histogram is drawn, the rest in its outermost bars: a few far values would squeeze it."""
MOST_ROWS = 20_000
MOST_COLUMNS = 9
"""Of the table of correlations."""
MOST_PAIRS = 5
STRONG = 0.7
"""Rank correlation of two columns that say much the same."""


@dataclass(frozen=True)
class ColumnPair:
    """Two columns and the rank correlation of their values."""

    first: str
    second: str
    correlation: float


@dataclass(frozen=True)
class Correlations:
    """Rank correlations of the columns of numbers that matter the most, the target first if it is one of them."""

    names: list[str]
    values: Array
    strong: list[ColumnPair]


def histogram(column: pd.Series, kind: str) -> Markup:
    """Return how the values of a column spread, as a picture without words; empty where there is nothing to see."""
    present = column.dropna()
    if len(present) > MOST_ROWS:
        present = present.iloc[np.linspace(0, len(present) - 1, MOST_ROWS).astype(int)]
    if present.empty or kind == "text":
        return Markup("")
    numbers = _numbers(present, kind)
    if numbers is not None and not len(numbers):
        return Markup("")
    if numbers is not None and len(np.unique(numbers)) > MOST_BARS:
        low, high = np.quantile(numbers, CENTRAL)
        if not high > low:
            low, high = numbers.min(), numbers.max()
        counts = np.histogram(np.clip(numbers, low, high), bins=N_BINS, range=(low, high))[0]
    elif numbers is not None:
        counts = np.unique(numbers, return_counts=True)[1]
    else:
        counts = present.astype(str).value_counts().to_numpy()[:MOST_BARS]
    return _bars(counts)


def correlations(result: BakeOffResult) -> Correlations | None:
    """Return the rank correlations of the columns of numbers, at most nine of them; None if there are less than two."""
    table = result.table
    if len(table) > MOST_ROWS:
        table = table.iloc[np.linspace(0, len(table) - 1, MOST_ROWS).astype(int)]
    numbers: dict[str, Array] = {}
    names = [result.target.name, *_by_importance(result)]
    for name in names:
        if name not in table or len(numbers) > MOST_COLUMNS or (name == result.target.name and _is_class(result)):
            continue
        read = numbers_if_written(table[name])
        if is_numeric(read) and result.columns.kinds.get(name, "number") not in DATES and read.nunique() > 1:
            values = read.to_numpy(dtype=np.float64, na_value=np.nan)
            numbers[name] = _ranked(np.where(np.isinf(values), np.nan, values))
    if len(numbers) < 2:
        return None
    values = np.corrcoef(np.array(list(numbers.values())))
    shown = list(numbers)
    pairs = [
        ColumnPair(shown[i], shown[j], float(values[i, j]))
        for i in range(len(shown))
        for j in range(i + 1, len(shown))
        if shown[i] != result.target.name and abs(values[i, j]) >= STRONG
    ]
    return Correlations(shown, values, sorted(pairs, key=lambda pair: -abs(pair.correlation))[:MOST_PAIRS])


def _is_class(result: BakeOffResult) -> bool:
    """Return whether the target is classes without an order; two of them may be taken for 0 and 1."""
    return result.target.is_classification


def _by_importance(result: BakeOffResult) -> list[str]:
    if isinstance(result.importances, str):
        return list(result.columns.kinds)
    known = [one.column for one in result.importances if one.column in result.columns.kinds]
    return [*known, *(name for name in result.columns.kinds if name not in known)]


def _ranked(values: Array) -> Array:
    """Return the ranks of numbers, gaps in the middle."""
    present = ~np.isnan(values)
    ranks = np.full(len(values), np.nan)
    ranks[present] = rankdata(values[present])
    return np.where(present, ranks, np.nanmean(ranks))


def _numbers(present: pd.Series, kind: str) -> Array | None:
    if kind in DATES:
        return read_dates(present, kind).dropna().astype("datetime64[us]").astype("int64").to_numpy(dtype=np.float64)
    if is_flag(present):
        return present.to_numpy(dtype=np.float64)
    read = numbers_if_written(present)
    if not is_numeric(read):
        return None
    values = read.to_numpy(dtype=np.float64, na_value=np.nan)
    return values[np.isfinite(values)]


def _bars(counts: Sequence[int] | Array) -> Markup:
    largest = max(float(np.max(counts)), 1.0)
    width = WIDTH / max(len(counts), 4)
    parts = [
        Markup('<rect x="{}" y="{}" width="{}" height="{}"/>').format(
            f"{k * width:.1f}",
            f"{HEIGHT - max(count / largest * HEIGHT, 0.8 if count else 0.0):.1f}",
            f"{width - 1:.1f}",
            f"{max(count / largest * HEIGHT, 0.8 if count else 0.0):.1f}",
        )
        for k, count in enumerate(counts)
    ]
    return Markup('<svg class="spread" viewBox="0 0 {} {}" role="img">{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(parts)
    )


CURVE_WIDTH, CURVE_HEIGHT = 4.6, 3.4
BAR_HEIGHT = 0.34
"""Inches for each word."""
LONGEST_WORD = 24
LEVEL_COLORS = (PALETTE[0], PALETTE[1], "#777777")


@dataclass(frozen=True)
class PictureScale:
    """What all pictures of a page share, so that a flat curve looks flat: the unit, the mean answer, the ends."""

    unit: str
    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, curves: Sequence[Dependence], mean: float, unit: str) -> PictureScale:
        """Return the scale that holds all curves."""
        means = np.concatenate([[mean], *(curve.means for curve in curves)])
        room = 0.06 * (float(np.ptp(means)) or 1.0)
        return cls(unit, mean, float(means.min()) - room, float(means.max()) + room)


def dependence_picture(curve: Dependence, scale: PictureScale, place: int) -> str:
    """Return the picture of one column: a curve with the spread of the rows below it, or a bar for each word."""
    if curve.words:
        height = 1.1 + BAR_HEIGHT * len(curve.words)
        return figure_as_svg(lambda figure: _draw_bars(figure, curve, scale), f"words{place}", (CURVE_WIDTH, height))
    return figure_as_svg(lambda figure: _draw_curve(figure, curve, scale), f"curve{place}", (CURVE_WIDTH, CURVE_HEIGHT))


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


def _draw_curve(figure: Figure, curve: Dependence, scale: PictureScale) -> None:
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


def _draw_bars(figure: Figure, curve: Dependence, scale: PictureScale) -> None:
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
