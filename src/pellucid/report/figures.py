"""Pictures of a report as inline SVG that takes its ink from the page, so that light and dark both work."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.core.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK = "#010203"
MARK = "#040506"
"""Stand for the page's colors of text and of marks: replaced after drawing."""

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

    def draw(ax: Axes) -> None:
        ends = [min(actual.min(), predicted.min()), max(actual.max(), predicted.max())]
        ax.plot(ends, ends, color=INK, linewidth=0.8, dashes=(4, 3))
        ax.scatter(predicted, actual, s=22, color=MARK, alpha=0.7, linewidths=0)
        ax.set(xlabel=f"predicted {target}", ylabel=f"actual {target}", aspect="equal")

    return _svg(draw, "actual")


def residuals_against_predicted(actual: Array, predicted: Array) -> str:
    """Return the picture of residuals on the test rows; a pattern in it is something the method missed."""

    def draw(ax: Axes) -> None:
        ax.axhline(0.0, color=INK, linewidth=0.8, dashes=(4, 3))
        ax.scatter(predicted, actual - predicted, s=22, color=MARK, alpha=0.7, linewidths=0)
        reach = 1.08 * float(np.abs(actual - predicted).max()) or 1.0
        ax.set(xlabel="predicted", ylabel="actual \N{MINUS SIGN} predicted", ylim=(-reach, reach))

    return _svg(draw, "residual")


def _svg(draw: Callable[[Axes], None], name: str) -> str:
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        figure = Figure(figsize=(4.6, 4.0), layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue(), name)


def _inline(document: str, name: str) -> str:
    """Return the svg element alone, its ids apart from those of other pictures, its ink the page's."""
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r'^<svg [^>]*?viewBox="([^"]*)"[^>]*>', rf'<svg class="{name}" viewBox="\1" role="img">', svg)
    return svg.replace(INK, "currentColor").replace(MARK, "var(--mark)").replace("xlink:href", "href")
