"""What linear models answer about rows on a device."""

from __future__ import annotations

from typing import Any

from pellucid.core.array_api import array_namespace
from pellucid.core.device.class_answers import labels_of, log_shares


def line(model: Any, X: Any) -> Any:
    """Return the value of each line at each row, in the larger of both precisions."""
    xp = array_namespace(X)
    rows = X if X.dtype == model.coef_.dtype else xp.astype(X, model.coef_.dtype)
    return rows @ (model.coef_ if model.coef_.ndim == 1 else model.coef_.T) + model.intercept_


def decision_function(model: Any, X: Any) -> Any:
    """Return the scores; of two classes, one for each row."""
    scores = line(model, X)
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def predict(model: Any, X: Any) -> Any:
    """Return numbers, or the label with the largest score."""
    if hasattr(model, "classes_"):
        return labels_of(decision_function(model, X), model.classes_)
    return line(model, X)


def predict_proba(model: Any, X: Any) -> Any:
    """Return the probability of each class."""
    return array_namespace(X).exp(predict_log_proba(model, X))


def predict_log_proba(model: Any, X: Any) -> Any:
    """Return the logarithm of the probability of each class."""
    return log_shares(decision_function(model, X))
