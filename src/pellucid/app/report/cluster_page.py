"""The page about the clusters of a table."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import pellucid
from pellucid.app.clusters import Grouping
from pellucid.app.clusters.profiles import HAS, NOTABLE, Difference, written
from pellucid.app.report.column_pictures import histogram
from pellucid.app.report.figures import INK, MOST_DOTS, PAGE_COLORS, figure_as_svg
from pellucid.app.report.numbers import meaning_of
from pellucid.app.report.page import ColumnRow, Origin, column_summary, page_template, versions
from pellucid.core.random_state import some_rows
from pellucid.plots.drawing.style import PALETTE, color
from pellucid.proofs.certificate import GRADES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LINES = 12
"""Columns, or words, in the table that compares the clusters."""
MOST_TYPICAL = 8
"""Columns of the typical rows."""
FULL = 1.5
"""Standard deviations at which a cell has its full color."""
LONGEST = 24
SHAPES = ("o", "^", "s")


@dataclass(frozen=True)
class ClusterCell:
    """One number of the table of clusters: what is written, how strong its color is, and which."""

    text: str
    share: float
    is_more: bool


@dataclass(frozen=True)
class ClusterLine:
    """One column, or word, of the table of clusters."""

    name: str
    overall: str
    cells: list[ClusterCell]


def render_cluster_report(result: Grouping, origin: Origin) -> str:
    """Return the report of the clusters of a table as one HTML page without anything from elsewhere.

    Parameters
    ----------
    result : Grouping
        What ``group_table`` found.
    origin : Origin
        Names of table and model file, and the command.
    """
    certificate = result.certificate
    columns = [_describe(result.table[name], result) for name in result.table.columns]
    return page_template("cluster_report.html").render(
        result=result,
        choice=result.choice,
        certificate=certificate,
        grade_meaning=GRADES[certificate.grade],
        meaning=meaning_of(certificate, result.model[-1]),
        table_name=origin.table_name,
        model_name=origin.model_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
        fingerprint=getattr(result.model[0], "data_fingerprint_", "unknown"),
        lines=comparison_lines(result),
        typical=typical_rows(result),
        map_figure=_map_figure(result),
        silhouette_figure=_silhouette_figure(result),
        choice_figure=_choice_figure(result),
        n_dots=min(len(result.labels), MOST_DOTS),
        colors=[PAGE_COLORS.get(color(place), color(place)) for place in range(len(result.profiles))],
        columns=columns,
        any_missing=any(column.n_missing for column in columns),
        mean_silhouette=float(np.average([p.silhouette for p in result.profiles], weights=_counts(result))),
    )


def _counts(result: Grouping) -> list[int]:
    return [profile.n_rows for profile in result.profiles]


def comparison_lines(result: Grouping) -> list[ClusterLine]:
    """Return the columns and words in which clusters differ the most, with the value of each cluster."""
    by_key: dict[tuple[str, str], dict[int, Difference]] = {}
    for profile in result.profiles:
        for one in profile.differences:
            by_key.setdefault((one.column, one.word), {})[profile.label] = one
    complete = [found for found in by_key.values() if max(abs(one.size) for one in found.values()) >= NOTABLE]
    complete.sort(key=lambda found: -max(abs(one.size) for one in found.values()))
    return [_line(found, [profile.label for profile in result.profiles]) for found in complete[:MOST_LINES]]


def _line(found: dict[int, Difference], labels: list[int]) -> ClusterLine:
    one = next(iter(found.values()))
    write = _percent if one.word else written
    cells = [
        ClusterCell(write(found[label].inside), min(1.0, abs(found[label].size) / FULL), found[label].size > 0)
        if label in found
        else ClusterCell("", 0.0, True)
        for label in labels
    ]
    return ClusterLine(one.name, write(one.overall), cells)


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def typical_rows(result: Grouping) -> tuple[list[str], list[list[str]]]:
    """Return the columns that tell the clusters apart the most, and the typical row of each cluster in them."""
    names = [line.name.split(" = ")[0].split(f" {HAS}")[0] for line in comparison_lines(result)]
    wanted = [name for name in dict.fromkeys([*names, *result.columns.kinds]) if name in result.table.columns]
    shown = wanted[:MOST_TYPICAL]
    rows = [[_as_written(result.table[name].iloc[p.typical]) for name in shown] for p in result.profiles]
    return shown, rows


def _as_written(value: Any) -> str:
    if pd.isna(value):
        return "missing"
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _map_figure(result: Grouping) -> str:
    rows = some_rows(len(result.labels), MOST_DOTS)
    places, labels = result.table_map.places[rows], result.labels[rows]

    def fill(figure: Figure) -> None:
        ax = figure.add_subplot()
        for place, profile in enumerate(result.profiles):
            own = places[labels == profile.label]
            shape = SHAPES[place // len(PALETTE) % len(SHAPES)]  # colors start again after the last
            ax.scatter(own[:, 0], own[:, 1], s=14, color=color(place), marker=shape, alpha=0.55, linewidths=0)
        for profile in result.profiles:
            middle = result.table_map.places[result.labels == profile.label].mean(axis=0)
            box = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
            ax.text(
                middle[0],
                middle[1],
                str(profile.label),
                ha="center",
                va="center",
                weight="bold",
                color="#1d2430",
                bbox=box,
            )
        ax.set_xlabel(_direction(result, 0, 80), fontsize=9)
        ax.set_ylabel(_direction(result, 1, 56), fontsize=9)
        ax.set_xticks([])
        ax.set_yticks([])

    return figure_as_svg(fill, "map", (6.4, 4.6))


def _direction(result: Grouping, place: int, width: int) -> str:
    """Return what stands along an axis of the map."""
    columns = result.table_map.columns[place]
    mostly = f": mostly {', '.join(columns)}" if columns else ""
    share = f"{100 * result.table_map.shares[place]:.0f} %"
    return "\n".join(textwrap.wrap(f"direction {place + 1} ({share} of the differences){mostly}", width))


def _silhouette_figure(result: Grouping) -> str:
    from pellucid.plots import plot_silhouettes

    different = np.unique(result.labels)
    if not 1 < len(different) < len(result.labels):
        return ""

    def fill(figure: Figure) -> None:
        names = [f"cluster {label}" for label in different]
        ax = plot_silhouettes(result.X, result.labels, figure.add_subplot(), names=names)
        ax.set_xlabel("silhouette", color=INK)

    return figure_as_svg(fill, "silhouettes", (6.4, 1.2 + 0.55 * len(different)))


def _choice_figure(result: Grouping) -> str:
    choice = result.choice
    return "" if choice is None else figure_as_svg(lambda figure: _draw_choice(choice, figure), "choice", (9.6, 5.2))


def _draw_choice(choice: Any, figure: Figure) -> None:
    choice.plot(figure)


def _describe(column: pd.Series, result: Grouping) -> ColumnRow:
    kind = result.columns.kinds.get(str(column.name), "left out")
    return ColumnRow(
        str(column.name), kind, int(column.isna().sum()), column_summary(column, kind), histogram(column, kind)
    )
