"""The page: a template filled with the numbers of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

import pellucid
from pellucid.bake_off.calibration import reliability
from pellucid.bake_off.driving import Coefficient, Importance
from pellucid.core.certificate import GRADES
from pellucid.model_selection import ErrorCurve
from pellucid.report import figures
from pellucid.report.confusion import confusion_of
from pellucid.report.fit_report import FitReport, LeaderRow
from pellucid.report.numbers import format_number, format_share

MOST_BARS = 15


@dataclass(frozen=True)
class Whisker:
    """Where the mean and its standard error stand on the common scale of the leaderboard, in percent."""

    low: float
    mean: float
    high: float


@dataclass(frozen=True)
class Bar:
    """A value as a bar to the left or the right of zero, in percent of half the width."""

    name: str
    value: float
    width: float
    note: str = ""


def render_fit_report(report: FitReport) -> str:
    """Return the report as one HTML page without scripts, fonts or pictures from elsewhere."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": format_number, "share": format_share, "breakable": breakable}
    template = environment.from_string((files("pellucid.report") / "fit_report.html").read_text(encoding="utf-8"))
    bars = coefficient_bars(report.coefficients)
    return template.render(
        report=report,
        judgement=report.judgement,
        headline=report.judgement.headline,
        version=pellucid.__version__,
        grade_meaning=GRADES[report.certificate.grade],
        leaders=list(
            zip(report.leaderboard, whiskers(report.leaderboard, mirrored=report.is_classification), strict=True)
        ),
        any_missing=any(column.n_missing for column in report.columns),
        bars=bars[:MOST_BARS],
        n_hidden_bars=max(0, len(bars) - MOST_BARS),
        n_zero=sum(one.value == 0.0 for one in report.coefficients),
        importance_bars=importance_bars(report.importances),
        curve_figure=_curve_figure(report),
        effect_figures=[figures.effect_curve(effect, place) for place, effect in enumerate(report.effects)],
        **(_class_parts(report) if report.is_classification else _number_parts(report)),
    )


def _class_parts(report: FitReport) -> dict[str, Any]:
    judgement = report.judgement
    assert judgement.classes is not None  # judged as classes
    parts: dict[str, Any] = {
        "confusion": confusion_of(judgement.actual, judgement.predicted, judgement.classes),
        "reliability": None,
        "reliability_figure": "",
        "roc_figure": "",
    }
    if judgement.probabilities is not None:
        found = reliability(judgement.probabilities, judgement.classes, judgement.actual)
        parts |= {"reliability": found, "reliability_figure": figures.reliability_curve(found)}
        if "area under the ROC curve" in judgement.scores:
            is_second = judgement.actual == judgement.classes[1]
            parts["roc_figure"] = figures.roc(is_second, judgement.probabilities[:, 1])
    return parts


def _number_parts(report: FitReport) -> dict[str, Any]:
    actual, predicted = report.judgement.actual, report.judgement.predicted
    return {
        "actual_figure": figures.predicted_against_actual(actual, predicted, report.target),
        "residual_figure": figures.residuals_against_predicted(actual, predicted),
        "n_dots": min(len(actual), figures.MOST_DOTS),
    }


def _curve_figure(report: FitReport) -> str:
    if not isinstance(report.curve, ErrorCurve):
        return ""
    error = "share of mistakes" if report.is_classification else f"error of {report.target}"
    return figures.learning_curve(report.curve, error)


def whiskers(rows: Sequence[LeaderRow], *, mirrored: bool = False) -> list[Whisker]:
    """Return the positions of all methods on one scale, the smallest error to the left or, mirrored, to the right."""
    low = min(row.mean - row.standard_error for row in rows)
    high = max(row.mean + row.standard_error for row in rows)
    scale = 100.0 / (high - low) if high > low else 0.0
    ends = [(row.mean - row.standard_error, row.mean, row.mean + row.standard_error) for row in rows]
    places = [[(value - low) * scale for value in three] for three in ends]
    return [Whisker(*(sorted(100.0 - place for place in three) if mirrored else three)) for three in places]


def coefficient_bars(coefficients: Sequence[Coefficient]) -> list[Bar]:
    """Return the coefficients that are not zero, the largest first."""
    kept = sorted((one for one in coefficients if one.value != 0.0), key=lambda one: -abs(one.value))
    largest = abs(kept[0].value) if kept else 1.0
    return [Bar(one.name, one.value, 100.0 * abs(one.value) / largest, one.label) for one in kept]


def importance_bars(importances: Sequence[Importance] | str) -> list[Bar]:
    """Return the importances of the columns that matter the most."""
    if isinstance(importances, str):
        return []
    largest = max((one.rise for one in importances), default=0.0)
    width = 100.0 / largest if largest > 0 else 0.0
    return [Bar(one.column, one.rise, max(0.0, one.rise) * width) for one in importances[:MOST_BARS]]


def breakable(name: str) -> Markup:
    """Return a name that may break after an underscore, so that long ones fit a phone."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))
