"""From what a bake-off found to what its report says."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pellucid.bake_off import BakeOff
from pellucid.bake_off.comparing import Score
from pellucid.bake_off.effects import Effect
from pellucid.report.fit_report import ColumnRow, FitReport, LeaderRow
from pellucid.tables.dates import DATES, read_dates
from pellucid.tables.understanding import FLAG, NUMBER, TEXT, is_numeric

MOST_SHOWN_WORDS = 4
LONGEST_WORD = 30
MOST_EFFECTS = 4
RECIPES = {
    "cv": "{folds}-fold cross-validation",
    "split": "one validation set, a quarter of the learning rows",
    "resample": "{folds} random validation sets, a quarter of the learning rows each",
}


def describe_fit(found: BakeOff, frame: pd.DataFrame, *, table: Path, model_file: Path) -> FitReport:
    """Return the report of a bake-off on a table."""
    return FitReport(
        table=table.name,
        target=found.target.name,
        task=found.target.task,
        task_reason=found.target.reason,
        model_file=model_file.name,
        n_rows=len(found.target.values),
        n_learning=found.n_learning,
        recipe=RECIPES[found.plan.recipe].format(folds=found.plan.folds),
        seed=found.plan.seed,
        seconds=found.seconds,
        interrupted=found.interrupted,
        columns=[_describe_column(frame[name], found) for name in frame.columns],
        leaderboard=[_leader(score, found) for score in found.scores],
        untried=[(one.name, one.reason) for one in found.untried],
        reason=found.reason,
        method=found.chosen.contestant.name,
        judgement=found.judgement,
        curve=found.curve,
        importances=found.importances,
        coefficients=found.coefficients,
        intercept=found.intercept,
        effects=_main_effects(found),
        certificate=found.certificate,
        vault_log=found.vault_log,
        notes=found.notes,
    )


def _leader(score: Score, found: BakeOff) -> LeaderRow:
    return LeaderRow(
        score.contestant.name,
        score.contestant.sentence,
        score.mean,
        score.standard_error,
        score.n_coefficients,
        None if score.balanced is None else float(score.balanced.mean()),
        is_chosen=score is found.chosen,
        is_baseline=score.contestant.is_baseline,
    )


def _main_effects(found: BakeOff) -> list[Effect]:
    """Return the curves of the columns that matter the most."""
    if isinstance(found.importances, str):
        return found.effects[:MOST_EFFECTS]
    place = {one.column: i for i, one in enumerate(found.importances)}
    return sorted(found.effects, key=lambda effect: place.get(effect.column, len(place)))[:MOST_EFFECTS]


def _describe_column(column: pd.Series, found: BakeOff) -> ColumnRow:
    name = str(column.name)
    n_missing = int(column.isna().sum())
    if name == found.target.name:
        kind = NUMBER if not found.target.is_classification else "classes"
        return ColumnRow(name, "target", n_missing, _values(column, kind))
    kind = found.columns.kinds.get(name, "left out")
    return ColumnRow(name, kind, n_missing, _values(column, kind))


def _values(column: pd.Series, kind: str) -> str:
    present = column.dropna()
    if present.empty:
        return "no values"
    if kind == NUMBER or (kind == "left out" and is_numeric(column)):
        values = present.astype(float)
        return f"{values.min():g} to {values.max():g}, mean {values.mean():.4g}"
    if kind in DATES:
        moments = read_dates(column, kind)
        return f"{moments.min():%Y-%m-%d} to {moments.max():%Y-%m-%d}"
    if kind == FLAG:
        return f"True in {present.astype(str).str.lower().isin(['true', '1', '1.0']).mean():.0%}"
    if kind == TEXT:
        return f"{present.astype(str).str.split().str.len().mean():.0f} words on average"
    counts = present.astype(str).value_counts()
    shown = ", ".join(f"{str(word)[:LONGEST_WORD]} ({count:,})" for word, count in counts[:MOST_SHOWN_WORDS].items())
    return f"{len(counts):,} different: {shown}{', ...' if len(counts) > MOST_SHOWN_WORDS else ''}"
