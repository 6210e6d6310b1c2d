"""Would more rows help? Errors of the chosen method for growing training sets, by the measure of the comparison."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from pellucid.bake_off.learned import baseline_answers
from pellucid.bake_off.measures import Measure, answers_of
from pellucid.bake_off.options import RowFacts
from pellucid.bake_off.scores import MethodScore
from pellucid.core.types import Array
from pellucid.model_selection import ErrorCurve
from pellucid.model_selection.error_curves import size_curve
from pellucid.model_selection.row_parts import Split

SIZES = (0.1, 0.25, 0.5, 1.0)
MUCH_LARGER = 3.0
"""A method with this many times the coefficients or questions of another follows the data more closely."""


def draw_curve(
    pipeline: Any,
    X: pd.DataFrame,
    y: Array,
    splits: Sequence[Split],
    measure: Measure,
    facts: RowFacts,
    *,
    seed: int,
) -> ErrorCurve:
    """Return training and validation error of a pipeline for growing training sets, drawn at random from each split."""
    from sklearn.base import clone

    n_rows = min(len(train) for train, _ in splits)
    counts = sorted({max(2, round(size * n_rows)) for size in SIZES})
    errors = np.empty((2, len(counts), len(splits)))
    baseline = np.empty(len(splits))

    def error_on(model: Any, rows: Array) -> float:
        return measure.error(y[rows], answers_of(model, X.iloc[rows], measure.classes), facts.of(rows).weights)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, (train, validation) in enumerate(splits):
            drawn = np.random.default_rng(seed).permutation(train)
            for i, count in enumerate(counts):
                rows = np.sort(drawn[:count])
                model = fit_weighted(clone(pipeline), X.iloc[rows], y[rows], facts.of(rows).weights)
                errors[:, i, k] = error_on(model, rows), error_on(model, validation)
            usual = baseline_answers(y[train], facts.of(train).weights, measure, len(validation))
            baseline[k] = measure.error(y[validation], usual, facts.of(validation).weights)
    return size_curve(counts, errors[0], errors[1], baseline)


def fit_weighted(pipeline: Any, X: pd.DataFrame, y: Array, weights: Array | None) -> Any:
    """Return the pipeline fitted, its method with weights if there are any; the preparation counts all rows alike."""
    return pipeline.fit(X, y) if weights is None else pipeline.fit(X, y, method__sample_weight=weights)


def more_flexible(curve: ErrorCurve | str, chosen: MethodScore, scores: Sequence[MethodScore]) -> str:
    """Return what the other methods say about a method that underfits; nothing if it does not."""
    if isinstance(curve, str) or not curve.verdict.startswith("underfits"):
        return ""
    others = [score for score in scores if not score.contestant.is_baseline and score is not chosen]
    best = min(others, key=lambda score: score.mean, default=None)
    if best is not None and best.mean < chosen.mean:
        return (
            f"{best.name[:1].upper()}{best.name[1:]} makes a smaller error: the simpler method was chosen because "
            "you asked for it."
        )
    larger = [score.name for score in others if score.n_coefficients > MUCH_LARGER * max(chosen.n_coefficients, 1.0)]
    if not larger:
        return "No method that could follow the data more closely was compared, so a more flexible one may do better."
    named = " and ".join(larger[:2])
    if "would help" in curve.verdict:
        return f"Methods that can follow the data more closely ({named}) did no better; with more rows they may."
    return (
        f"Methods that can follow the data more closely did no better ({named}), so it is rather the columns that say "
        "no more than the method that is too simple."
    )
