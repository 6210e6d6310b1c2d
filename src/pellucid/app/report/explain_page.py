"""The page that says how a model answers: which columns matter, how, which act together, and one row step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

import pellucid
from pellucid.app.explaining import Contribution, Dependence, ExplainedModel, Waterfall
from pellucid.app.report.column_pictures import PictureScale, crossed_picture, dependence_picture
from pellucid.app.report.figures import about_zero
from pellucid.app.report.numbers import format_number
from pellucid.app.report.page import Origin, PageParts, page_template, versions

MOST_COLUMNS, MOST_PAIRS, MOST_STEPS = 15, 8, 12
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class WaterfallStep:
    """One line of a waterfall: what it adds, and the place of its bar from left to right, in percent."""

    name: str
    value: str
    added: float
    standard_error: float | None
    """Unknown for several columns together."""
    left: float
    width: float
    total: float
    """The answer after it."""


def render_explanation(found: ExplainedModel, origin: Origin) -> str:
    """Return how a model answers as one HTML page without anything from elsewhere.

    Parameters
    ----------
    found : ExplainedModel
        What ``explain_model`` found.
    origin : Origin
        Names of table and model file, and the command.
    """
    parts = PageParts()
    in_percent = 100.0 if found.label else 1.0
    shown, pairs = found.importances[:MOST_COLUMNS], found.interactions[:MOST_PAIRS]
    unit = f"probability of {found.label}" if found.label else found.target
    draw = partial(dependence_picture, scale=PictureScale.of(found.curves, found.waterfall.mean, unit))
    pictures = [
        (curve, parts.made(f"picture of {curve.column}", partial(draw, curve, place=place), ""))
        for place, curve in enumerate(found.curves)
    ]
    strongest = found.strongest
    return page_template("explain_report.html").render(
        found=found,
        points=_points(found.label),
        answer=answer_in_words(found.label),
        size=lambda value: format_number(in_percent * value, 2 if found.label else 3),
        error_size=lambda value: format_number(in_percent * value, 2),
        columns=list(zip(shown, about_zero([(one.low, one.rise, one.high) for one in shown]), strict=True)),
        n_more_columns=len(found.importances) - len(shown),
        n_clear=sum(one.is_clear for one in found.importances),
        unit_of_rise="points" if found.label else f"in units of {found.target}",
        curves=[(curve, picture, behind(curve)) for curve, picture in pictures if picture],
        pairs=list(zip(pairs, about_zero([(one.low, one.size, one.high) for one in pairs]), strict=True)),
        n_more_pairs=len(found.interactions) - len(pairs),
        crossed_figure=parts.made("picture of two columns", lambda: crossed_picture(strongest, unit), "")
        if strongest
        else "",
        steps=waterfall_steps(found.waterfall),
        failures=parts.failures,
        table_name=origin.table_name,
        model_name=origin.model_name,
        command=origin.command,
        version=pellucid.__version__,
        versions=versions(),
    )


def answer_in_words(label: str) -> Callable[[float], str]:
    """Return how an answer is written: a probability in percent, a number in four figures."""
    return (lambda value: f"{100 * value:.1f} %") if label else format_number


def _points(label: str) -> Callable[[float], str]:
    """Return how a difference of answers is written, with its sign."""

    def written(value: float) -> str:
        sign = "+" if value >= 0 else MINUS
        return f"{sign}{100 * abs(value):.1f}" if label else f"{sign}{format_number(abs(value), 3)}"

    return written


def behind(curve: Dependence) -> str:
    """Return how many rows are behind a curve, and what is not in it, in a sentence."""
    said = [f"{int(curve.counts.sum()):,} rows"]
    if curve.n_beyond:
        said.append(f"{curve.n_beyond:,} have {'another value' if curve.words else 'one beyond its ends'}")
    if curve.n_gaps:
        said.append(f"{curve.n_gaps:,} have none")
    return ", ".join(said)


def waterfall_steps(waterfall: Waterfall) -> list[WaterfallStep]:
    """Return the steps of a waterfall with the places of their bars; the smallest are taken together."""
    largest = waterfall.contributions[:MOST_STEPS]
    rest = waterfall.contributions[MOST_STEPS:]
    if len(rest) == 1:
        largest, rest = waterfall.contributions, ()
    lines: list[tuple[Contribution, float | None]] = [(one, one.standard_error) for one in largest]
    if rest:
        together = Contribution(f"{len(rest)} other columns", "", sum(one.added for one in rest), 0.0)
        lines.append((together, None))
    totals = waterfall.mean + np.concatenate([[0.0], np.cumsum([one.added for one, _ in lines])])
    low, high = float(totals.min()), float(totals.max())
    scale = 100.0 / (high - low) if high > low else 0.0
    return [
        WaterfallStep(
            one.column,
            one.value,
            one.added,
            error,
            (min(before, after) - low) * scale,
            abs(after - before) * scale,
            float(after),
        )
        for (one, error), before, after in zip(lines, totals[:-1], totals[1:], strict=True)
    ]
