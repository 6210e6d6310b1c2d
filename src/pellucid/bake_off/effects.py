"""Curves: how one number moves the score of a linear method on steps, all else equal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.core.types import Array
from pellucid.tables.step_features import StepFeatures

CENTRAL = (0.005, 0.995)
"""Quantiles between which a curve is drawn: a few far values would squeeze it."""


@dataclass(frozen=True)
class Effect:
    """What a column adds to the score, or to the predicted number, compared with its median."""

    column: str
    values: Array
    change: Array


def effects(model: Pipeline, read: pd.DataFrame) -> list[Effect]:
    """Return the curve of every number with more than two values; none if the method is not linear on steps."""
    prepare, method = model[0], model[-1]
    weights = np.atleast_2d(getattr(method, "coef_", np.empty((0, 0))))
    branch = getattr(prepare, "named_transformers_", {}).get("numbers")
    if branch is None or len(weights) != 1 or not any(isinstance(step, StepFeatures) for _, step in branch.steps):
        return []
    names = next(columns for name, _, columns in prepare.transformers_ if name == "numbers")
    own = weights[0, prepare.output_indices_["numbers"]]
    middle = read[names].median().fillna(0.0)
    curves = [_curve(branch, own, middle, read[name].dropna(), name) for name in names if read[name].nunique() > 2]
    return curves


def _curve(branch: Any, weights: Array, middle: pd.Series, column: pd.Series, name: str) -> Effect:
    low, high = column.quantile(CENTRAL)
    values = np.unique(np.clip(np.unique(column.to_numpy()), low, high))
    asked = pd.DataFrame(np.tile(middle.to_numpy(), (len(values) + 1, 1)), columns=middle.index)
    asked.loc[: len(values) - 1, name] = values  # the last row is the median in every column
    score = branch.transform(asked) @ weights
    return Effect(name, values, score[:-1] - score[-1])
