"""Nested cross-validation: how well the whole procedure does, choosing included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from pellucid.core.checks import check_whole
from pellucid.core.progress import tracked
from pellucid.core.types import Array, Data
from pellucid.model_selection.recipes import CrossValidationTest, chosen_by, one_task, validation_errors
from pellucid.model_selection.score_interval import ScoreInterval, score_interval


@dataclass(frozen=True, repr=False)
class NestedScore:
    """The score of all rows, each predicted by a model that was chosen and fitted without it."""

    interval: ScoreInterval
    chosen: tuple[str, ...]
    errors: Array
    predictions: Array

    def __repr__(self) -> str:
        counts = ", ".join(f"{name} {self.chosen.count(name)} times" for name in dict.fromkeys(self.chosen))
        return f"{self.interval!r}; chosen: {counts}"


def nested_cross_validation(
    candidates: Mapping[str, Any],
    X: Data,
    y: Data,
    *,
    outer: int = 5,
    inner: int = 5,
    rule: str = "best",
    metric: Any = None,
    random_state: int = 0,
    progress: bool = False,
) -> NestedScore:
    """Choose among candidates inside each outer fold, and predict that fold with the one chosen.

    Parameters
    ----------
    candidates : dict of str to estimator
        All classifiers or all regressors, the simplest first.
    X, y : array-like of shape (n_samples, n_features), (n_samples,)
    outer, inner : int, default=5
        Numbers of folds, at least 2.
    rule : {"best", "one standard error"}, default="best"
    metric : str or callable, default=None
        Of :func:`score_interval`; an error rate or a mean squared error if not given.
    random_state : int, default=0
        Seed of the folds.
    progress : bool, default=False
        Whether to show a progress bar.

    Examples
    --------
    >>> from pellucid.linear_model import LinearRegression, Ridge
    >>> X = np.arange(40.0)[:, None]
    >>> nested = nested_cross_validation({"line": LinearRegression(), "flat": Ridge(1e9)}, X, 2 * X[:, 0])
    >>> nested.chosen
    ('line', 'line', 'line', 'line', 'line')
    """
    check_whole(2, outer=outer, inner=inner)
    is_classification = one_task(candidates)
    folds = (StratifiedKFold if is_classification else KFold)(outer, shuffle=True, random_state=random_state)
    inside = CrossValidationTest(rule=rule, random_state=random_state, n_splits=inner).splitter(
        is_classification=is_classification
    )
    target = np.asarray(y)
    predictions = np.empty(len(target), dtype=target.dtype if is_classification else np.float64)
    chosen, errors = [], []
    for train, test in tracked(list(folds.split(X, y)), "outer folds", show=progress):
        X_train, y_train = _safe_indexing(X, train), _safe_indexing(y, train)
        splits = list(inside.split(X_train, y_train))
        found = {
            name: validation_errors(estimator, X_train, y_train, splits, is_classification)
            for name, estimator in candidates.items()
        }
        chosen.append(chosen_by(found, rule))
        model = clone(candidates[chosen[-1]]).fit(X_train, y_train)
        predictions[test] = model.predict(_safe_indexing(X, test))
        gap = predictions[test] != target[test] if is_classification else np.square(predictions[test] - target[test])
        errors.append(float(np.mean(gap)))
    name = metric or ("error rate" if is_classification else "mse")
    return NestedScore(score_interval(target, predictions, name), tuple(chosen), np.array(errors), predictions)
