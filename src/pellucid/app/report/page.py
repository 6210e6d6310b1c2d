"""The page: a template filled with the result of a bake-off."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from sklearn.metrics import average_precision_score

import pellucid
from pellucid.app.bake_off import BakeOffResult
from pellucid.app.bake_off.cautions import part_is_missing
from pellucid.app.bake_off.comparison import failure
from pellucid.app.bake_off.importance import Coefficient, Effect, Importance
from pellucid.app.bake_off.judgement import confusion_of, reliability
from pellucid.app.bake_off.tree_story import BEST, TYPICAL, WORST, Reason, TreeStory
from pellucid.app.describing import table_in_short
from pellucid.app.report import figures
from pellucid.app.report.column_pictures import correlations, histogram
from pellucid.app.report.figures import ticks, tree_picture, whiskers
from pellucid.app.report.numbers import (
    format_measure,
    format_number,
    format_seconds,
    format_share,
    format_spread,
    meaning_of,
    standing_of,
)
from pellucid.app.report.thresholds import thresholds_of
from pellucid.app.tables.column_reader import YES
from pellucid.app.tables.dates import DATES, read_dates
from pellucid.app.tables.understanding import FLAG, NUMBER, TEXT, is_numeric, numbers_if_written
from pellucid.model_selection import ErrorCurve
from pellucid.proofs.certificate import GRADES

RECIPES = {
    "cv": "{folds}-fold cross-validation",
    "split": "one validation set, a quarter of the learning rows",
    "resample": "{folds} random validation sets, a quarter of the learning rows each",
}
ROW_TITLES = {TYPICAL: "a typical row", BEST: "the best row", WORST: "the worst row"}
MOST_BARS = 15
MOST_EFFECTS = 4
MOST_SHOWN_WORDS = 4
LONGEST_WORD = 30

Part = TypeVar("Part")


@dataclass(frozen=True)
class Bar:
    """A value as a bar to the left or the right of zero, in percent of half the width."""

    name: str
    value: float
    width: float
    note: str = ""


@dataclass(frozen=True)
class ColumnRow:
    """One column of the table, as understood."""

    name: str
    kind: str
    n_missing: int
    summary: str
    picture: Markup


def recipe_of(result: BakeOffResult) -> str:
    """Return how the methods were compared, as far as there was time for it."""
    whole = RECIPES[result.plan.recipe].format(folds=result.plan.folds)
    n_done = len(result.chosen.errors)
    return f"{n_done} of the splits of {whole}" if n_done < result.plan.n_splits else whole


@cache
def page_template(name: str) -> Template:
    """Return a template of this room, with its parts and with the ways to write numbers."""
    return _environment().from_string((files("pellucid.app.report") / name).read_text(encoding="utf-8"))


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(lambda part: (files("pellucid.app.report") / "parts" / part).read_text(encoding="utf-8")),
    )
    environment.filters |= {
        "number": format_number,
        "share": format_share,
        "breakable": breakable,
        "error": format_measure,
        "spread": format_spread,
        "seconds": format_seconds,
        "correlation": lambda value: f"{round(value, 2) + 0.0:.2f}".replace("-", "\N{MINUS SIGN}"),
        "measured": lambda value, measure: format_share(value) if measure.is_share else format_number(value),
    }
    return environment


def render_fit_report(result: BakeOffResult, origin: Origin) -> str:
    """Return the report of a bake-off as one HTML page without scripts, fonts or pictures from elsewhere.

    Parameters
    ----------
    result : BakeOffResult
        What is told.
    origin : Origin
        Names of the files that the table came from and the model went to, and the command.
    """
    template = page_template("fit_report.html")
    is_classification = result.target.is_classification
    story = result.story if isinstance(result.story, TreeStory) else TreeStory()
    bars = coefficient_bars(result.coefficients)
    measure, alarm = result.measure, result.alarm
    standing, standing_style = standing_of(result)
    parts = PageParts()
    columns = [
        parts.made(
            f"description of column {name}",
            partial(_describe_column, result.table[name], result),
            ColumnRow(name, result.columns.kinds.get(name, "left out"), 0, "", Markup("")),
        )
        for name in result.table.columns
    ]
    pictures = {
        "in_short": parts.made("description of the table", partial(table_in_short, result.table, result.columns), None),
        "correlations": parts.made("table of correlations", partial(correlations, result), None),
        "tree_figure": parts.made("picture of the tree", lambda: tree_picture(story.nodes) if story.nodes else "", ""),
        "curve_figure": parts.made("picture of the learning curve", partial(_curve_figure, result), ""),
        "effect_figures": [
            drawn
            for place, effect in enumerate(_main_effects(result))
            if (drawn := parts.made(f"curve of {effect.column}", partial(figures.effect_curve, effect, place), ""))
        ],
        **(_class_parts(result, parts) if is_classification else _number_parts(result, parts)),
    }
    return template.render(
        result=result,
        target=result.target.name,
        is_classification=is_classification,
        judgement=result.judgement,
        headline=result.judgement.headline,
        certificate=result.certificate,
        table_name=origin.table_name,
        model_name=origin.model_name,
        version=pellucid.__version__,
        recipe=recipe_of(result),
        grade_meaning=GRADES[result.certificate.grade],
        meaning=meaning_of(result.certificate, result.model[-1]),
        standing=standing,
        standing_style=standing_style,
        alarm=alarm,
        untried=_by_reason(result),
        has_own_test=result.has_own_test,
        is_linear=hasattr(result.model[-1], "coef_"),
        cautions=[*(caution for caution in result.cautions if caution != alarm), *parts.failures],
        measure=measure,
        leaders=list(zip(result.scores, whiskers(result.scores, mirrored=measure.is_score), strict=True)),
        ticks=ticks(result.scores, measure),
        has_auc=any(score.auc == score.auc for score in result.scores),
        has_log_loss=any(score.log_loss == score.log_loss for score in result.scores),
        has_seconds=any(score.fit_seconds == score.fit_seconds for score in result.scores),
        ROW_TITLES=ROW_TITLES,
        command=origin.command,
        versions=versions(),
        fingerprint=getattr(result.model[0], "data_fingerprint_", "unknown"),
        quoted_target=shlex.quote(result.target.name),
        quoted_weights=f" --weights {shlex.quote(result.plan.options.weights)}" if result.plan.options.weights else "",
        columns=columns,
        any_missing=any(column.n_missing for column in columns),
        bars=bars[:MOST_BARS],
        n_hidden_bars=max(0, len(bars) - MOST_BARS),
        n_zero=sum(one.value == 0.0 for one in result.coefficients),
        importance_bars=importance_bars(result.importances),
        story=story,
        driver_bars=reason_bars(story.drivers)[:MOST_BARS],
        example_bars=[(example, reason_bars(example.reasons)) for example in story.examples],
        **pictures,
    )


class PageParts:
    """What a page is made of: a part that fails is left out and named, and the others are there."""

    def __init__(self) -> None:
        self.failures: list[str] = []

    def made(self, name: str, make: Callable[[], Part], otherwise: Part) -> Part:
        """Return a part, or what stands for it if it fails."""
        try:
            return make()
        except Exception as error:
            self.failures.append(part_is_missing(name, failure(error)))
            return otherwise


def _class_parts(result: BakeOffResult, parts: PageParts) -> dict[str, Any]:
    judgement = result.judgement
    assert judgement.classes is not None  # judged as classes
    found: dict[str, Any] = {
        "confusion": confusion_of(judgement.actual, judgement.predicted, judgement.classes),
        "reliability": None,
        "reliability_figure": "",
        "roc_figure": "",
        "thresholds": parts.made("table of thresholds", partial(thresholds_of, judgement), None),
    }
    chances = judgement.probabilities
    if chances is None:
        return found
    reliable = parts.made(
        "check of the probabilities", partial(reliability, chances, judgement.classes, judgement.actual), None
    )
    if reliable is not None:
        draw = partial(figures.reliability_curve, reliable)
        found |= {"reliability": reliable, "reliability_figure": parts.made("picture of the probabilities", draw, "")}
    if "area under the ROC curve" in judgement.scores:
        is_second = judgement.actual == judgement.classes[1]
        found["roc_figure"] = parts.made("ROC curve", partial(figures.roc, is_second, chances[:, 1]), "")
        if found["thresholds"] is not None:
            draw = partial(figures.precision_recall, is_second, chances[:, 1], found["thresholds"].used)
            found["precision_recall_figure"] = parts.made("curve of precision and recall", draw, "")
            found["average_precision"] = float(average_precision_score(is_second, chances[:, 1]))
    return found


def _number_parts(result: BakeOffResult, parts: PageParts) -> dict[str, Any]:
    actual, predicted = result.judgement.actual, result.judgement.predicted
    against = partial(figures.predicted_against_actual, actual, predicted, result.target.name)
    left = partial(figures.residuals_against_predicted, actual, predicted)
    return {
        "actual_figure": parts.made("picture of the predictions", against, ""),
        "residual_figure": parts.made("picture of the residuals", left, ""),
        "n_dots": min(len(actual), figures.MOST_DOTS),
        "thresholds": None,
    }


def _by_reason(result: BakeOffResult) -> dict[str, list[str]]:
    """Return the methods that are not in the table by the reason why."""
    found: dict[str, list[str]] = {}
    for one in result.untried:
        found.setdefault(one.reason, []).append(one.name)
    return found


def _curve_figure(result: BakeOffResult) -> str:
    if not isinstance(result.curve, ErrorCurve):
        return ""
    if result.measure.is_default:
        error = "share of mistakes" if result.target.is_classification else f"error of {result.target.name}"
    else:
        error = f"1 \N{MINUS SIGN} {result.measure.title}" if result.measure.is_score else result.measure.title
    return figures.learning_curve(result.curve, error)


def _main_effects(result: BakeOffResult) -> list[Effect]:
    """Return the curves of the columns that matter the most."""
    if isinstance(result.importances, str):
        return result.effects[:MOST_EFFECTS]
    place = {one.column: i for i, one in enumerate(result.importances)}
    return sorted(result.effects, key=lambda effect: place.get(effect.column, len(place)))[:MOST_EFFECTS]


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


def reason_bars(reasons: Sequence[Reason]) -> list[Bar]:
    """Return what columns add to a prediction as bars, with their values as notes."""
    largest = max((abs(reason.added) for reason in reasons), default=0.0) or 1.0
    return [Bar(one.column, one.added, 100.0 * abs(one.added) / largest, one.value) for one in reasons if one.added]


def breakable(name: str) -> Markup:
    """Return a name that may break after an underscore, so that long ones fit a phone."""
    return Markup("_<wbr>").join(escape(part) for part in name.split("_"))


def _describe_column(column: pd.Series, result: BakeOffResult) -> ColumnRow:
    name = str(column.name)
    n_missing = int(column.isna().sum())
    if name == result.target.name:
        kind = "classes" if result.target.is_classification else NUMBER
        return ColumnRow(name, "target", n_missing, column_summary(column, kind), histogram(column, kind))
    kind = result.columns.kinds.get(name, "left out")
    return ColumnRow(name, kind, n_missing, column_summary(column, kind), histogram(column, kind))


def column_summary(column: pd.Series, kind: str) -> str:
    """Return what the values of a column are, in a few words."""
    present = column.dropna()
    if present.empty:
        return "no values"
    if kind == NUMBER or (kind == "left out" and is_numeric(column)):
        values = numbers_if_written(present).to_numpy(dtype=np.float64, na_value=np.nan)
        values = values[np.isfinite(values)]
        if not len(values):
            return "no numbers"
        return f"{values.min():g} to {values.max():g}, mean {values.mean():.4g}"
    if kind in DATES:
        moments = read_dates(column, kind)
        return f"{moments.min():%Y-%m-%d} to {moments.max():%Y-%m-%d}"
    if kind == FLAG:
        return f"yes in {format_share(present.astype(str).str.strip().str.lower().map(YES).mean())}"
    if kind == TEXT:
        return f"{present.astype(str).str.split().str.len().mean():.0f} words on average"
    counts = present.astype(str).value_counts()
    shown = ", ".join(f"{str(word)[:LONGEST_WORD]} ({count:,})" for word, count in counts[:MOST_SHOWN_WORDS].items())
    return f"{len(counts):,} different: {shown}{', ...' if len(counts) > MOST_SHOWN_WORDS else ''}"


PACKAGES = ("pellucid", "numpy", "scipy", "scikit-learn", "numba", "pandas")


@dataclass(frozen=True)
class Origin:
    """Where a result comes from: the names of files, and the command that made it."""

    table_name: str
    """The file that the rows came from; of pictures, the image or the folder."""
    model_name: str
    """The file that the model is in; empty where there is none."""
    command: str = ""
    """The command line that made the result; empty in Python."""


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a fit depends on, and the kind of machine."""
    found = {"Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # run from its sources
            continue
    return found | {"machine": f"{platform.system()} {platform.machine()}"}
