"""Scores of an estimator on sets of columns, one for each fold, by scikit-learn's cross-validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LinearRegression as PeerLinearRegression
from sklearn.model_selection import check_cv, cross_val_score

from pellucid.core.types import Array
from pellucid.feature_selection.search.search_rules import holds_numbers
from pellucid.linear_model import LinearRegression, LogisticRegression

LINES = (LinearRegression, PeerLinearRegression)
"""Estimators whose scores can be had from moments."""


def asked_estimator(estimator: Any, y: Any) -> Any:
    """Return the estimator to score: the one given, or a line for numbers and a logistic regression for labels."""
    if estimator is not None:
        return estimator
    if y is None:
        raise ValueError(
            "y must be given where estimator is None, which requires y to be passed, but the target y is None. Pass "
            "targets, or an estimator that needs none."
        )
    return LinearRegression() if holds_numbers(y) else LogisticRegression()


class FoldScores:
    """Scores sets of columns on the same folds, whatever the splitter draws."""

    def __init__(self, estimator: Any, X: Any, y: Any, selector: Any, params: Mapping[str, Any] | None = None) -> None:
        self.estimator, self.y, self.scoring = estimator, y, selector.scoring
        is_narrow = type(estimator) in LINES and getattr(X, "dtype", None) == np.float32
        self.X = X.astype(np.float64) if is_narrow else X  # so that fits and moments give the same scores
        self.n_jobs, self.params = getattr(selector, "n_jobs", None), dict(params or {})
        splitter = check_cv(selector.cv, y, classifier=is_classifier(estimator))
        # with parameters for the splitter, such as groups, scikit-learn must hand them on
        self.folds = splitter if self.params else list(splitter.split(X, y))

    def of_set(self, mask: Array) -> Array:
        """Return the score of each fold with these columns."""
        found = cross_val_score(
            clone(self.estimator), self.X[:, np.flatnonzero(mask)], self.y, cv=self.folds, scoring=self.scoring,
            n_jobs=self.n_jobs, params=self.params or None,
        )  # fmt: skip
        return np.asarray(found, dtype=np.float64)

    def of_moves(self, mask: Array, features: Array) -> Array:
        """Return the scores of the sets that differ from this one by each of the features, a row for each."""
        found = []
        for feature in features:
            moved = mask.copy()
            moved[feature] = not mask[feature]
            found.append(self.of_set(moved))
        return np.stack(found)
