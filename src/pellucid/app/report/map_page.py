"""The page with the map of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import pellucid
from pellucid.app.maps import MappedTable, MapScore
from pellucid.app.maps.result import SHORT_NAMES
from pellucid.app.report.figures import INK, MARK, MOST_DOTS, figure_as_svg
from pellucid.app.report.numbers import meaning_of
from pellucid.app.report.page import Origin, page_template, versions
from pellucid.app.tables.understanding import is_numeric
from pellucid.core.random_state import some_rows
from pellucid.plots.drawing.style import color
from pellucid.proofs.certificate import GRADES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_KINDS = 6
"""Words that have a color of their own; the others are grey."""

OTHERS = "#9a9a9a"
RISING = "viridis"
MOST_PAIRS = 2000
"""Pairs of rows in the picture of distances."""


def render_map_report(result: MappedTable, origin: Origin) -> str:
    """Return the map of a table as one HTML page without anything from elsewhere.

    Parameters
    ----------
    result : MappedTable
        What ``map_table`` returned.
    origin : Origin
        Name of the table, and the command; there is no model file.
    """
    certificate = result.certificate
    return page_template("map_report.html").render(
        result=result,
        certificate=certificate,
        grade_meaning=GRADES[certificate.grade],
        meaning=meaning_of(certificate, result.chosen.model),
        table_name=origin.table_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
        map_figure=figure_as_svg(lambda figure: _draw_map(result, figure), "map", (7.4, 5.4)),
        small_figure=figure_as_svg(lambda figure: _draw_all(result, figure), "methods", (12.0, 2.8)),
        shepard_figure=figure_as_svg(lambda figure: _draw_distances(result, figure), "distances", (5.2, 3.8)),
        is_neighbor_embedding=result.chosen.name == SHORT_NAMES["tsne"],
        n_dots=min(len(result.places), MOST_DOTS),
    )


def _draw_map(result: MappedTable, figure: Figure) -> None:
    rows = some_rows(len(result.places), MOST_DOTS)
    _draw_dots(figure.add_subplot(), result, result.places[rows], rows, size=18, with_legend=True)


def _draw_all(result: MappedTable, figure: Figure) -> None:
    drawn = [score for score in result.scores if score.places is not None]
    for place, score in enumerate(drawn):
        ax = figure.add_subplot(1, len(drawn), place + 1)
        some = some_rows(len(result.compared), MOST_DOTS // 2)
        assert score.places is not None
        _draw_dots(ax, result, score.places[some], result.compared[some], size=5, with_legend=False)
        ax.set_title(f"{score.name}\n{score.kept:.3f}", fontsize=9, color=INK)


def _draw_dots(ax: Axes, result: MappedTable, places: Any, rows: Any, *, size: float, with_legend: bool) -> None:
    """Draw dots, colored by the column of the result."""
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_axis_off()
    dots: dict[str, Any] = {"s": size, "alpha": 0.7, "linewidths": 0}
    values = None if result.color is None else result.table[result.color].iloc[rows]
    if values is None:
        ax.scatter(places[:, 0], places[:, 1], color=MARK, **dots)
    elif pd.api.types.is_numeric_dtype(values) and values.nunique() > MOST_KINDS:
        drawn = ax.scatter(places[:, 0], places[:, 1], c=values.astype(float), cmap=RISING, **dots)
        if with_legend:
            ax.figure.colorbar(drawn, ax=ax, label=str(result.color), shrink=0.8)
    else:
        _draw_kinds(ax, places, values, dots)
        if with_legend:
            ax.legend(title=str(result.color), frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _draw_kinds(ax: Axes, places: Any, values: pd.Series, dots: dict[str, Any]) -> None:
    """Draw the most frequent values in a color each: shades of one scale where they have an order, else apart."""
    frequent = list(values.value_counts().index[:MOST_KINDS])
    has_order = isinstance(values.dtype, pd.CategoricalDtype) and bool(values.cat.ordered)
    if has_order:
        frequent.sort(key=list(values.cat.categories).index)
    else:
        frequent.sort(key=lambda value: (value if is_numeric(values) else 0.0, str(value)))
    other = ~values.isin(frequent).to_numpy()
    if other.any():
        missing = values.isna().to_numpy()[other].all()
        label = "missing" if missing else "others"
        ax.scatter(places[other, 0], places[other, 1], color=OTHERS, label=label, **dots)
    from matplotlib import colormaps

    is_scale = (has_order or is_numeric(values)) and len(frequent) > 2
    shades = colormaps[RISING](np.linspace(0.0, 0.95, len(frequent))) if is_scale else None
    for number, value in enumerate(frequent):
        own = (values == value).to_numpy()
        ink = color(number) if shades is None else shades[number]
        ax.scatter(places[own, 0], places[own, 1], color=ink, label=str(value), **dots)


def _draw_distances(result: MappedTable, figure: Figure) -> None:
    """Draw distances on the map against those in the table, for some pairs of rows."""
    score: MapScore = result.chosen
    assert score.places is not None
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(result.compared), size=(2, MOST_PAIRS))
    kept = first != second
    in_table = np.linalg.norm(result.prepared[first[kept]] - result.prepared[second[kept]], axis=1)
    on_map = np.linalg.norm(score.places[first[kept]] - score.places[second[kept]], axis=1)
    ax = figure.add_subplot()
    ax.scatter(in_table, on_map, s=6, color=MARK, alpha=0.25, linewidths=0)
    ax.set(xlabel="distance in the table", ylabel="distance on the map")
    ax.set_xlim(0.0)
    ax.set_ylim(0.0)
