"""What linear models answer, as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.linear_classifier import dense
from pellucid.core.onnx.class_answers import over_their_sum, winning_label
from pellucid.core.onnx.graph import WHOLE, Answers, Value


def lines(model: Any, X: Value) -> Value:
    """Return the value of each line at each row, of shape (rows, lines)."""
    return X @ np.atleast_2d(dense(model.coef_)).T + np.atleast_1d(
        np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64)
    )


def numbers(model: Any, X: Value) -> Answers:
    """Return what a regression predicts."""
    found = lines(model, X)
    return {"variable": found.reshape(-1) if model.coef_.ndim == 1 else found}


def scores(model: Any, X: Value) -> Answers:
    """Return labels and the scores they are decided by."""
    found = lines(model, X)
    return {"label": _label(model, found), "scores": found.reshape(-1) if _is_one(model) else found}


def logistic(model: Any, X: Value) -> Answers:
    """Return labels and the probabilities of the logistic model."""
    found = lines(model, X)
    pair = found.graph.joined([(-found).sigmoid(), found.sigmoid()]) if _is_one(model) else found.softmax()
    return {"label": _label(model, found), "probabilities": pair}


def one_against_rest(model: Any, X: Value) -> Answers:
    """Return labels and what each line says through the logistic function, of several classes over their sum."""
    found = lines(model, X)
    own = found.sigmoid()
    is_set = getattr(model, "multilabel_", False)
    return {"label": _label(model, found), "probabilities": own if is_set else over_their_sum(own, _is_one(model))}


def sgd(model: Any, X: Value) -> Answers:
    """Return labels, and probabilities where the loss has them."""
    if model.loss == "log_loss":
        return one_against_rest(model, X)
    if model.loss != "modified_huber":
        return scores(model, X)
    found = lines(model, X)
    own = (found.clip(-1.0, 1.0) + 1.0) / 2.0
    return {"label": _label(model, found), "probabilities": over_their_sum(own, _is_one(model))}


def _label(model: Any, found: Value) -> Value:
    """Return the label of the largest score; of a matrix of labels, ones where the score is above 0."""
    if getattr(model, "multilabel_", False):
        return (found > 0.0).cast(WHOLE)
    return winning_label(found, model.classes_)


def _is_one(model: Any) -> bool:
    return len(np.atleast_2d(dense(model.coef_))) == 1
