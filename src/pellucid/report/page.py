"""The page: a template filled with the numbers of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

import pellucid
from pellucid.core.certificate import GRADES
from pellucid.report.figures import predicted_against_actual, residuals_against_predicted
from pellucid.report.fit_report import FitReport, LeaderRow

MOST_COEFFICIENTS = 30


@dataclass(frozen=True)
class Whisker:
    """Where the mean and its standard error stand on the common scale of the leaderboard, in percent."""

    low: float
    mean: float
    high: float


@dataclass(frozen=True)
class Bar:
    """A coefficient as a bar to the left or the right of zero, in percent of half the width."""

    name: str
    value: float
    width: float


def render_fit_report(report: FitReport) -> str:
    """Return the report as one HTML page without scripts, fonts or pictures from elsewhere."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": format_number, "breakable": breakable}
    template = environment.from_string((files("pellucid.report") / "fit_report.html").read_text(encoding="utf-8"))
    bars = coefficient_bars(report.coefficients)
    return template.render(
        report=report,
        version=pellucid.__version__,
        grade_meaning=GRADES[report.certificate.grade],
        leaders=list(zip(report.leaderboard, whiskers(report.leaderboard), strict=True)),
        any_missing=any(column.n_missing for column in report.columns),
        bars=bars[:MOST_COEFFICIENTS],
        n_hidden_bars=max(0, len(bars) - MOST_COEFFICIENTS),
        n_zero=sum(value == 0.0 for _, value in report.coefficients),
        actual_figure=predicted_against_actual(report.actual, report.predicted, report.target),
        residual_figure=residuals_against_predicted(report.actual, report.predicted),
    )


def whiskers(rows: Sequence[LeaderRow]) -> list[Whisker]:
    """Return the positions of all methods on one scale."""
    low = min(row.mean - row.standard_error for row in rows)
    high = max(row.mean + row.standard_error for row in rows)
    scale = 100.0 / (high - low) if high > low else 0.0
    ends = [(row.mean - row.standard_error, row.mean, row.mean + row.standard_error) for row in rows]
    return [Whisker(*((value - low) * scale for value in three)) for three in ends]


def coefficient_bars(coefficients: Sequence[tuple[str, float]]) -> list[Bar]:
    """Return the coefficients that are not zero, the largest first."""
    kept = sorted((pair for pair in coefficients if pair[1] != 0.0), key=lambda pair: -abs(pair[1]))
    largest = abs(kept[0][1]) if kept else 1.0
    return [Bar(name, value, 100.0 * abs(value) / largest) for name, value in kept]


def format_number(value: float, digits: int = 4) -> str:
    """Return a number as a person writes it: four figures, no needless exponent, a true minus sign."""
    if value != value:
        return "unknown"
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        text = f"{value:.{digits - 1}g}"
    else:
        text = f"{value:,.{max(0, digits - 1 - _exponent(value))}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def breakable(name: str) -> Markup:
    """Return a name that may break after an underscore, so that long ones fit a phone."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def _exponent(value: float) -> int:
    return int(f"{value:e}".split("e")[1]) if value else 0
