"""Pictures of a report as inline SVG that takes its ink from the page, so that light and dark both work."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup, escape

from pellucid.app.bake_off.importance import Effect
from pellucid.app.bake_off.judgement import Reliability
from pellucid.app.bake_off.measures import Measure
from pellucid.app.bake_off.scores import MethodScore
from pellucid.app.bake_off.tree_story import StoryNode
from pellucid.core.types import Array
from pellucid.model_selection import ErrorCurve
from pellucid.plots.drawing import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


INK = "#010203"
MARK = "#040506"
"""Stand for the page's colors of text and of marks: replaced after drawing."""
PAGE_COLORS = {
    INK: "currentColor",
    MARK: "var(--mark)",
    style.INK: "currentColor",
    style.QUIET: "var(--soft)",
    style.PALETTE[0]: "var(--mark)",
    style.PALETTE[1]: "var(--minus)",
}
MOST_DOTS = 1000
"""Rows drawn: more make the page heavy, and the picture no clearer."""
MOST_CURVE_POINTS = 200
FEWEST_JOINED = 10
"""Bins of fewer rows are dots of their own: a line to them would show chance."""

STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pellucid",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
}


def predicted_against_actual(actual: Array, predicted: Array, target: str) -> str:
    """Return the picture of predictions on the test rows; a perfect one lies on the diagonal."""
    actual, predicted = _thinned(actual, predicted)

    def draw(ax: Axes) -> None:
        ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
        ax.plot(ends, ends, color=INK, linewidth=0.8, dashes=(4, 3))
        ax.scatter(predicted, actual, s=22, color=MARK, alpha=_opacity(len(actual)), linewidths=0)
        ax.set(xlabel=f"predicted {target}", ylabel=f"actual {target}", aspect="equal")

    return _svg(draw, "actual")


def residuals_against_predicted(actual: Array, predicted: Array) -> str:
    """Return the picture of residuals on the test rows; a pattern in it is something the method missed."""
    actual, predicted = _thinned(actual, predicted)

    def draw(ax: Axes) -> None:
        ax.axhline(0.0, color=INK, linewidth=0.8, dashes=(4, 3))
        ax.scatter(predicted, actual - predicted, s=22, color=MARK, alpha=_opacity(len(actual)), linewidths=0)
        reach = 1.08 * float(np.abs(actual - predicted).max()) or 1.0
        ax.set(xlabel="predicted", ylabel="actual \N{MINUS SIGN} predicted", ylim=(-reach, reach))

    return _svg(draw, "residual")


def roc(actual: Array, ranking: Array) -> str:
    """Return the picture of hits against false alarms for every threshold."""
    from sklearn.metrics import roc_curve

    false_alarms, found, _ = roc_curve(actual, ranking)
    kept = np.unique(np.linspace(0, len(found) - 1, MOST_CURVE_POINTS).astype(int))

    def draw(ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, dashes=(4, 3))
        ax.plot(false_alarms[kept], found[kept], color=MARK, linewidth=2.0)
        ax.set(xlabel="false alarms", ylabel="hits", aspect="equal", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    return _svg(draw, "roc")


def precision_recall(actual: Array, ranking: Array, used: float) -> str:
    """Return the picture of right calls against rows found for every threshold, with the one in use as a dot."""
    from sklearn.metrics import precision_recall_curve

    right, found, _ = precision_recall_curve(actual, ranking)
    kept = np.unique(np.linspace(0, len(found) - 1, MOST_CURVE_POINTS).astype(int))
    called = ranking > used

    def draw(ax: Axes) -> None:
        ax.axhline(actual.mean(), color=INK, linewidth=0.8, dashes=(4, 3))
        ax.plot(found[kept], right[kept], color=MARK, linewidth=2.0)
        if called.any():
            ax.scatter([actual[called].sum() / actual.sum()], [actual[called].mean()], s=60, color=MARK, linewidths=0)
        ax.set(xlabel="share found (recall)", ylabel="right calls (precision)", aspect="equal")
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))

    return _svg(draw, "precision-recall")


def reliability_curve(found: Reliability) -> str:
    """Return the picture of predicted and observed shares; the larger the dot, the more rows."""

    def draw(ax: Axes) -> None:
        ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, dashes=(4, 3))
        many = found.counts >= FEWEST_JOINED
        ax.plot(found.predicted[many], found.observed[many], color=MARK, linewidth=1.2)
        sizes = 12 + 180 * found.counts / found.counts.max()
        ax.scatter(found.predicted, found.observed, s=sizes, color=MARK, alpha=0.75, linewidths=0)
        ax.set(xlabel="predicted probability", ylabel="share that came true", aspect="equal")
        ax.set(xlim=(-0.05, 1.05), ylim=(-0.05, 1.05))

    return _svg(draw, "reliability")


def effect_curve(effect: Effect, place: int) -> str:
    """Return the picture of what a number adds to the score."""
    kept = np.unique(np.linspace(0, len(effect.values) - 1, MOST_CURVE_POINTS).astype(int))

    def draw(ax: Axes) -> None:
        ax.axhline(0.0, color=INK, linewidth=0.8, dashes=(4, 3))
        steps = "default" if effect.is_smooth else "steps-post"
        ax.plot(effect.values[kept], effect.change[kept], color=MARK, linewidth=2.0, drawstyle=steps)
        ax.set(xlabel=effect.column, ylabel="change")

    return _svg(draw, f"effect{place}", size=(4.6, 2.9))


def learning_curve(curve: ErrorCurve, error: str) -> str:
    """Return the picture of training and validation error for growing training sets."""
    from pellucid.plots import plot_error_curve

    def draw(ax: Axes) -> None:
        plot_error_curve(curve, ax)
        ax.set(xlabel="rows learned from", ylabel=error)

    return _svg(draw, "curve", size=(5.2, 3.4))


def tidy_ticks(ax: Axes, *, y: bool = True) -> None:
    """Keep the numbers at the axes apart, and write thousands and minus signs as people do."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis in (ax.xaxis, ax.yaxis) if y else (ax.xaxis,):
        if axis.get_scale() == "linear":
            axis.set_major_locator(MaxNLocator(5))
            axis.set_major_formatter(
                FuncFormatter(lambda value, _place: f"{value:,.6g}".replace("-", "\N{MINUS SIGN}"))
            )


def _thinned(*columns: Array) -> tuple[Array, ...]:
    n = len(columns[0])
    if n <= MOST_DOTS:
        return columns
    kept = np.sort(np.random.default_rng(0).permutation(n)[:MOST_DOTS])
    return tuple(column[kept] for column in columns)


def _opacity(n: int) -> float:
    return float(np.clip(12 / np.sqrt(n), 0.35, 0.75))


def _svg(draw: Callable[[Axes], None], name: str, size: tuple[float, float] = (4.6, 4.0)) -> str:
    def fill(figure: Figure) -> None:
        ax = figure.add_subplot()
        draw(ax)
        tidy_ticks(ax)

    return figure_as_svg(fill, name, size)


def figure_as_svg(fill: Callable[[Figure], None], name: str, size: tuple[float, float]) -> str:
    """Return what a function draws on an empty figure as an svg element with the page's ink."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        fill(figure)
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), name)


def _inline(document: str, name: str) -> str:
    """Return the svg element alone, its ids apart from those of other pictures, its ink the page's."""
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'^<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg class="{name}" viewBox="\1" role="img">', svg)
    for stand_in, color in PAGE_COLORS.items():
        svg = svg.replace(stand_in, color)
    return svg.replace("xlink:href", "href")


@dataclass(frozen=True)
class Whisker:
    """Where an interval and the value in it stand on a common scale, in percent, and where 0 does if it is drawn."""

    low: float
    mean: float
    high: float
    zero: float | None = None
    falls: bool = False
    """Whether the value is below 0, which is drawn in the other color."""


def placed(
    intervals: Sequence[tuple[float, float, float]], ends: tuple[float, float], *, mirrored: bool = False
) -> list[Whisker]:
    """Return intervals (low, value, high) on a scale from one end to the other, or mirrored.

    Examples
    --------
    >>> placed([(1.0, 2.0, 4.0)], (0.0, 10.0))
    [Whisker(low=10.0, mean=20.0, high=40.0, zero=None, falls=False)]
    """
    low, high = ends
    scale = 100.0 / (high - low) if high > low else 0.0
    places = [[(value - low) * scale for value in three] for three in intervals]
    if mirrored:
        places = [sorted(100.0 - place for place in three) for three in places]
    return [Whisker(low=three[0], mean=three[1], high=three[2]) for three in places]


def about_zero(
    intervals: Sequence[tuple[float, float, float]], ends: tuple[float, float] | None = None
) -> list[Whisker]:
    """Return intervals on a scale that shows where 0 is; without its ends, on one that just holds them and 0."""
    low, high = ends or (min([0.0, *(three[0] for three in intervals)]), max([0.0, *(three[2] for three in intervals)]))
    zero = 100.0 * -low / (high - low) if high > low else 0.0
    return [
        Whisker(one.low, one.mean, one.high, zero, falls=three[1] < 0.0)
        for one, three in zip(placed(intervals, (low, high)), intervals, strict=True)
    ]


NICE = (1.0, 2.0, 2.5, 5.0, 10.0)
"""Steps between ticks, times a power of ten."""
MOST_STEPS = 4.0


@dataclass(frozen=True)
class Tick:
    """A number under the scale, and where it stands, in percent."""

    place: float
    label: str


def whiskers(scores: Sequence[MethodScore], *, mirrored: bool = False) -> list[Whisker]:
    """Return the positions of all methods on one scale, the smallest error to the left or, mirrored, to the right."""
    intervals = [(one.mean - one.standard_error, one.mean, one.mean + one.standard_error) for one in scores]
    return placed(intervals, _ends(scores), mirrored=mirrored)


def ticks(scores: Sequence[MethodScore], measure: Measure) -> list[Tick]:
    """Return round numbers for the axis under the whiskers, as the measure is written."""
    low, high = sorted(measure.shown(end) for end in _ends(scores))
    if not high > low or not np.isfinite([low, high]).all():
        return []
    rough = (high - low) / MOST_STEPS
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(nice * power for nice in NICE if nice * power >= rough * (1 - 1e-12))
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step + 0.0
    if measure.is_share:
        labels = [f"{100 * value:.6g} %" for value in values]
    else:
        labels = [f"{value:,.6g}".replace("-", "\N{MINUS SIGN}") for value in values]
    return [Tick(100.0 * (value - low) / (high - low), label) for value, label in zip(values, labels, strict=True)]


def _ends(scores: Sequence[MethodScore]) -> tuple[float, float]:
    return (
        min(score.mean - score.standard_error for score in scores),
        max(score.mean + score.standard_error for score in scores),
    )


ROW, COLUMN, BOX = 46, 178, 154
"""Height of a leaf, width of a level, width of a question, in pixels."""
MARGIN = 8
ANSWER = 185
LONGEST = 24
"""Letters of a question that fit into its box; the whole is shown on pointing at it."""


def tree_picture(nodes: Sequence[StoryNode]) -> Markup:
    """Return a tree as inline SVG that takes its colors from the page."""
    depth, height = _places(nodes)
    levels = max(depth)
    width = levels * COLUMN + ANSWER + 2 * MARGIN
    n_leaves = sum(not node.question for node in nodes)
    largest = nodes[0].rows
    parts = [_edges(nodes, depth, height), *(_box(node, depth[i], height[i], largest) for i, node in enumerate(nodes))]
    view = f"0 0 {width} {n_leaves * ROW + 2 * MARGIN}"
    return Markup('<svg class="tree" viewBox="{}" width="{}" role="img">{}</svg>').format(
        view, width, Markup("").join(parts)
    )


def _places(nodes: Sequence[StoryNode]) -> tuple[list[int], list[float]]:
    """Return the level of each node and its height: leaves one below the other, others half way between theirs."""
    depth, height = [0] * len(nodes), [0.0] * len(nodes)
    n_leaves = 0

    def visit(i: int, level: int) -> None:
        nonlocal n_leaves
        depth[i] = level
        if not nodes[i].question:
            height[i] = MARGIN + ROW * (n_leaves + 0.5)
            n_leaves += 1
            return
        visit(nodes[i].yes, level + 1)
        visit(nodes[i].no, level + 1)
        height[i] = (height[nodes[i].yes] + height[nodes[i].no]) / 2

    visit(0, 0)
    return depth, height


def _edges(nodes: Sequence[StoryNode], depth: Sequence[int], height: Sequence[float]) -> Markup:
    parts = []
    for i, node in enumerate(nodes):
        if not node.question:
            continue
        x, y = MARGIN + depth[i] * COLUMN + BOX, height[i]
        for child, word, shift in ((node.yes, "yes", -5), (node.no, "no", 13)):
            end_x, end_y = MARGIN + depth[child] * COLUMN, height[child]
            middle = (x + end_x) / 2
            parts.append(
                Markup(
                    '<path d="M{} {} C{} {} {} {} {} {}" fill="none" stroke="var(--soft)" stroke-width="1"/>'
                    '<text x="{}" y="{}" class="way">{}</text>'
                ).format(x, y, middle, y, middle, end_y, end_x, end_y, end_x - 4, end_y + shift, word)
            )
    return Markup("").join(parts)


def _box(node: StoryNode, level: int, y: float, largest: float) -> Markup:
    x = MARGIN + level * COLUMN
    if node.question:
        short = node.question if len(node.question) <= LONGEST else f"{node.question[: LONGEST - 1].rstrip()}…"
        return Markup(
            '<g><title>{}</title><rect x="{}" y="{}" width="{}" height="28" rx="5" class="question"/>'
            '<text x="{}" y="{}" text-anchor="middle">{}</text></g>'
        ).format(node.question, x, y - 14, BOX, x + BOX / 2, y + 4, short)
    share = "" if node.share is None else f", {100 * node.share:.0f} %"
    bar = max(2.0, 90 * node.rows / largest)
    return Markup(
        '<g><rect x="{}" y="{}" width="{}" height="5" class="weight"/>'
        '<text x="{}" y="{}"><tspan font-weight="600">{}</tspan>{} of {:,} rows</text></g>'
    ).format(x, y + 8, f"{bar:.1f}", x, y + 3, escape(node.answer), share, round(node.rows))
