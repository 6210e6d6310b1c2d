"""From what a bake-off found to what its report says."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pellucid.cli.bake_off import LEVEL, BakeOff
from pellucid.cli.tables import Columns
from pellucid.report import ColumnRow, FitReport, LeaderRow

MOST_SHOWN_WORDS = 4


def describe_fit(
    found: BakeOff, frame: pd.DataFrame, columns: Columns, *, table: Path, model_file: Path, folds: int, seed: int
) -> FitReport:
    """Return the report of a bake-off."""
    names = found.model[:-1].get_feature_names_out()
    method, estimate = found.model[-1], found.estimate
    return FitReport(
        table=table.name,
        target=columns.target,
        model_file=model_file.name,
        n_rows=len(frame),
        n_training=found.n_training,
        folds=folds,
        seed=seed,
        columns=[_describe_column(frame[name], columns) for name in frame.columns],
        leaderboard=[
            LeaderRow(
                score.contestant.name,
                score.contestant.sentence,
                score.mean,
                score.standard_error,
                score.n_coefficients,
                is_chosen=score is found.chosen,
                is_baseline=score.contestant.is_baseline,
            )
            for score in found.scores
        ],
        reason=_reason(found),
        error=estimate.error,
        error_low=estimate.low,
        error_high=estimate.high,
        level=LEVEL,
        r_squared=estimate.r_squared,
        actual=estimate.actual,
        predicted=estimate.predicted,
        method=found.chosen.contestant.name,
        intercept=float(method.intercept_),
        coefficients=[(str(name), float(value)) for name, value in zip(names, method.coef_, strict=True)],
        certificate=method.certificate_,
        notes=_notes(found, frame, columns),
    )


def _reason(found: BakeOff) -> str:
    best = min((s for s in found.scores if not s.contestant.is_baseline), key=lambda score: score.mean)
    name = found.chosen.contestant.name
    if found.chosen is best:
        return f"{name.capitalize()} has the smallest mean error, so it was chosen."
    return (
        f"{best.contestant.name.capitalize()} has the smallest mean error; {name} is within one standard error of it "
        f"with fewer coefficients, so it was chosen."
    )


def _notes(found: BakeOff, frame: pd.DataFrame, columns: Columns) -> list[str]:
    notes = [f"Column {name} was left out: {reason}." for name, reason in columns.left_out.items()]
    baseline = next((score for score in found.scores if score.contestant.is_baseline), None)
    if baseline is not None and found.chosen.mean + found.chosen.standard_error >= baseline.mean:
        notes.append("No method clearly beats predicting the mean: these columns say little about the target.")
    if found.estimate.r_squared < 0:
        notes.append("On the rows kept aside the model did worse than predicting the mean.")
    repeated = int(frame.duplicated().sum())
    if repeated:
        notes.append(
            f"{repeated} rows repeat an earlier row. If they are copies, the same row may have been trained on and "
            "tested on, and the error above is too small."
        )
    return [*notes, *found.warnings]


def _describe_column(column: pd.Series, columns: Columns) -> ColumnRow:
    name = str(column.name)
    kinds = (
        {columns.target: "target"} | dict.fromkeys(columns.numeric, "number") | dict.fromkeys(columns.words, "words")
    )
    kind = kinds.get(name, "left out")
    return ColumnRow(name, kind, int(column.isna().sum()), _values(column, kind))


def _values(column: pd.Series, kind: str) -> str:
    if kind in ("number", "target"):
        values = column.astype(float)
        return f"{values.min():g} to {values.max():g}, mean {values.mean():.4g}"
    counts = column.dropna().astype(str).value_counts()
    shown = ", ".join(str(word)[:30] for word in counts.index[:MOST_SHOWN_WORDS])
    return f"{len(counts)} different: {shown}{', ...' if len(counts) > MOST_SHOWN_WORDS else ''}"
