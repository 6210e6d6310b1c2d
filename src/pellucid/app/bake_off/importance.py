"""What drives the predictions: how much worse they get without a column, coefficients, curves of the numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from pellucid.app.tables.preparation import readable_names
from pellucid.app.tables.step_features import STEP, StepFeatures
from pellucid.app.tables.understanding import Columns
from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

MOST_ROWS = 2000
REPEATS = 3
"""Shuffles of every column."""
CENTRAL = (0.005, 0.995)
"""Quantiles between which a curve is drawn: a few far values would squeeze it."""

MOST_POINTS = 400
"""Of a curve."""
MOST_EFFECT_ROWS = 20_000
"""Rows in which the values of a column are looked at."""
EFFECT_ROWS, EFFECT_POINTS = 100, 25
"""Rows over which the curve of trees or kernels is averaged, and its points."""


@dataclass(frozen=True)
class Importance:
    """How much the error rises, on average, when a column is shuffled, and the standard error of that over rows."""

    column: str
    rise: float
    standard_error: float


@dataclass(frozen=True)
class Coefficient:
    """One coefficient; of several classes, the one that the feature speaks for or against the most."""

    name: str
    value: float
    label: str = ""


@dataclass(frozen=True)
class Effect:
    """What a column adds to the score, or to the predicted number, compared with its median."""

    column: str
    values: Array
    change: Array
    is_smooth: bool = False
    """Whether it bends between its points: steps and trees jump."""


def importances(
    model: Any,
    X: pd.DataFrame,
    y: Array,
    parts: Mapping[str, Sequence[str]],
    *,
    is_classification: bool,
    seed: int,
    most_rows: int = MOST_ROWS,
    repeats: int = REPEATS,
    listen: Callable[[], None] = lambda: None,
) -> list[Importance]:
    """Return the permutation importance of every column of the table, the largest first.

    ``parts`` are the columns of X that stand for one of the table, such as the parts of a date: shuffled together.
    ``listen`` is called after every column.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(y))[:most_rows]
    X, y = X.iloc[chosen].reset_index(drop=True), y[chosen]

    def misses(frame: pd.DataFrame) -> Array:
        said = np.asarray(model.predict(frame))
        return np.asarray(said != y, dtype=np.float64) if is_classification else np.square(said - y)

    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the model warns of is said when it is fitted for good
        usual = misses(X)
        for name, columns in parts.items():
            rises = []
            for _ in range(repeats):
                shuffled, givers = X.copy(), rng.permutation(len(X))
                shuffled[list(columns)] = X[list(columns)].iloc[givers].to_numpy()
                after = misses(shuffled.astype(X.dtypes.to_dict()))
                if not is_classification:
                    after = _per_row(after)
                given = after[
                    np.argsort(givers)
                ]  # each row is in two of them: where it took a value, where it gave one
                rises.append(after + given - after.mean() - (usual if is_classification else _per_row(usual)))
            rise = np.mean(rises, axis=0)
            found.append(Importance(name, float(rise.mean()), float(rise.std(ddof=1) / np.sqrt(len(y)))))
            listen()
    return sorted(found, key=lambda importance: -importance.rise)


def _per_row(squares: Array) -> Array:
    """Return what each row has to do with the root of the mean square: the mean is the root itself.

    It is the root, plus how the root changes with the row to first order (the delta method), for a standard error.
    """
    mean = float(np.mean(squares))
    root = np.sqrt(mean)
    return root + (squares - mean) / (2.0 * root) if mean > 0.0 else np.zeros_like(squares)


def coefficients(model: Pipeline, columns: Columns) -> tuple[list[Coefficient], float | None]:
    """Return the coefficients of a linear method by feature, and its intercept if there is one; else nothing."""
    method = model[-1]
    if not hasattr(method, "coef_"):
        return [], None
    names = readable_names(model[:-1].get_feature_names_out(), columns)
    table = np.atleast_2d(method.coef_)
    if len(table) == 1:
        intercept = float(np.ravel(method.intercept_)[0])
        return [Coefficient(name, float(value)) for name, value in zip(names, table[0], strict=True)], intercept
    strongest = np.abs(table).argmax(axis=0)
    pairs = zip(names, strongest, strict=True)
    return [Coefficient(name, float(table[k, j]), str(method.classes_[k])) for j, (name, k) in enumerate(pairs)], None


def without_steps(found: Sequence[Coefficient]) -> list[Coefficient]:
    """Return the coefficients of words, texts and gaps: numbers on steps are better shown as curves."""
    stepped = {one.name.partition(STEP)[0] for one in found if STEP in one.name}
    return [one for one in found if STEP not in one.name and one.name not in stepped]


def effects(model: Pipeline, read: pd.DataFrame, columns: Sequence[str] = ()) -> list[Effect]:
    """Return the curve of every number with more than two values, of methods linear on steps, of trees and of kernels.

    ``columns`` are those to look at; none stands for all.
    """
    prepare, method = model[0], model[-1]
    if len(read) > MOST_EFFECT_ROWS:
        read = read.iloc[some_rows(len(read), MOST_EFFECT_ROWS)]
    if hasattr(method, "trees_") or hasattr(method, "dual_coef_"):
        return _mean_effects(model, read, columns or list(read.columns))
    weights = np.atleast_2d(getattr(method, "coef_", np.empty((0, 0))))
    branch = getattr(prepare, "named_transformers_", {}).get("numbers")
    if branch is None or len(weights) != 1 or not any(isinstance(step, StepFeatures) for _, step in branch.steps):
        return []
    names = next(columns for name, _, columns in prepare.transformers_ if name == "numbers")
    own = weights[0, prepare.output_indices_["numbers"]]
    middle = read[names].median().fillna(0.0)
    curved = [name for name in names if (not columns or name in columns) and read[name].nunique() > 2]
    return [_curve(branch, own, middle, read[name].dropna(), name) for name in curved]


def _mean_effects(model: Pipeline, read: pd.DataFrame, columns: Sequence[str]) -> list[Effect]:
    """Return what each number does to the prediction on average over some rows, all else as it is in them.

    Of two classes the share of the second is followed; several have no one curve.
    """
    classes = getattr(model[-1], "classes_", None)
    if classes is not None and len(classes) != 2:
        return []
    rows = read.iloc[some_rows(len(read), EFFECT_ROWS)]

    def predict(frame: pd.DataFrame) -> Array:
        said = model.predict(frame) if classes is None else model.predict_proba(frame)[:, 1]
        return np.asarray(said, dtype=np.float64)

    found = []
    for name in read.columns[[pd.api.types.is_float_dtype(kind) for kind in read.dtypes]]:
        if name not in columns:
            continue
        column = read[name].dropna()
        if column.nunique() <= 2:
            continue
        values = np.unique([*column.quantile(np.linspace(*CENTRAL, EFFECT_POINTS)), column.median()])
        asked = pd.concat([rows.assign(**{name: value}) for value in values], ignore_index=True)
        means = predict(asked).reshape(len(values), len(rows)).mean(axis=1)
        change = means - means[np.searchsorted(values, column.median())]
        found.append(Effect(name, values, change, is_smooth=not hasattr(model[-1], "trees_")))
    return found


def _curve(branch: Any, weights: Array, middle: pd.Series, column: pd.Series, name: str) -> Effect:
    low, high = column.quantile(CENTRAL)
    values = np.unique(np.clip(np.unique(column.to_numpy()), low, high))
    values = values[np.unique(np.linspace(0, len(values) - 1, MOST_POINTS).astype(int))]
    asked = pd.DataFrame(np.tile(middle.to_numpy(), (len(values) + 1, 1)), columns=middle.index)
    asked.loc[: len(values) - 1, name] = values  # the last row is the median in every column
    score = branch.transform(asked) @ weights
    return Effect(name, values, score[:-1] - score[-1])
