"""Errors of candidates on validation sets, and who wins by them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing

from pellucid.core.types import Array, Data

RULES = ("best", "one standard error")


def one_task(candidates: Mapping[str, Any]) -> bool:
    """Return whether all candidates are classifiers; refuse a mixture."""
    kinds = {is_classifier(estimator) for estimator in candidates.values()}
    if len(kinds) != 1:
        raise ValueError(f"candidates must be all classifiers or all regressors, at least one, got {list(candidates)}.")
    return kinds.pop()


def validation_errors(
    estimator: Any, X: Data, y: Data, splits: list[tuple[Array, Array]], is_classification: bool
) -> Array:
    """Return the error of an estimator on each validation set: the rate of mistakes, or the mean squared error."""
    errors = []
    for train, validation in splits:
        model = clone(estimator).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        given = np.asarray(model.predict(_safe_indexing(X, validation)))
        right = np.asarray(_safe_indexing(y, validation))
        errors.append(split_error(right, given, is_classification))
    return np.array(errors, dtype=np.float64)


def split_error(right: Array, given: Array, is_classification: bool) -> float:
    """Return the error on one validation set: the rate of mistakes, or the mean squared error."""
    return float(np.mean(given != right) if is_classification else np.mean(np.square(given - right)))


def chosen_by(errors: dict[str, Array], rule: str) -> str:
    """Return the first candidate with the smallest mean error, or the first within one standard error of it."""
    means = {name: float(values.mean()) for name, values in errors.items()}
    best = min(means, key=lambda name: means[name])
    if rule == "best":
        return best
    limit = means[best] + standard_error(errors[best])
    return next(name for name, mean in means.items() if mean <= limit)


def standard_error(errors: Array) -> float:
    """Return the standard error of the mean error; 0 if there is one split only."""
    return float(errors.std(ddof=1) / np.sqrt(len(errors))) if len(errors) > 1 else 0.0
