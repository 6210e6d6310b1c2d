"""Boosted trees, votes, bags and blends as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.answers import answers
from pellucid.core.onnx.class_answers import labels_at, over_their_sum, winning_label
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, NotExportableError, Value
from pellucid.tree.trees_in_onnx import coded, end_nodes, summed


def boosted_classifier(model: Any, X: Value) -> Answers:
    """Return labels and probabilities from the raw sums of boosted trees."""
    raw = _raw(model, X)
    is_one = len(model.baseline_) == 1
    shares = over_their_sum(raw.sigmoid(), is_one) if is_one else raw.softmax()
    return {"label": winning_label(raw, model.classes_), "probabilities": shares}


def boosted_regressor(model: Any, X: Value) -> Answers:
    """Return numbers, through the exponential where the loss learns their logarithm."""
    raw = _raw(model, X).reshape(-1)
    return {"variable": raw.exp() if model.loss in ("gamma", "poisson") else raw}


def _raw(model: Any, X: Value) -> Value:
    return summed(model.trees_, coded(X, model.categories_), len(model.baseline_)) + model.baseline_


def ada_boost(model: Any, X: Value) -> Answers:
    """Return labels and the softmax of the votes; a member votes for the class it names."""
    n, classes = model.n_classes_, model.classes_
    votes = _votes(model, X)
    if n == 1:
        return {
            "label": labels_at((votes.column(0) * 0).reshape(-1), classes),
            "probabilities": votes.column(0).equals(0).cast(DOUBLE),
        }
    weights = model.estimator_weights_[: _n_members(model)]
    scores = None
    for t, weight in enumerate(weights.tolist()):  # one after the other, as the model adds them
        own = votes.column(t).equals(np.arange(n)).where(weight, -weight / (n - 1))
        scores = own if scores is None else scores + own
    if scores is None:
        raise NotExportableError("AdaBoostClassifier must have a member to be exported, got none. Fit it again.")
    scores = scores / float(weights.sum())
    if n > 2:
        return {"label": labels_at(scores.argmax(), classes), "probabilities": (scores / float(n - 1)).softmax()}
    shown = scores.column(1) - scores.column(0)
    half = shown / 2.0
    return {"label": winning_label(shown, classes), "probabilities": X.graph.joined([-half, half]).softmax()}


def _n_members(model: Any) -> int:
    return len(model.members_ or ()) if model.trees_ is None else int(model.trees_.n_trees)


def _votes(model: Any, X: Value) -> Value:
    """Return the code of the class that each member names, of shape (rows, members)."""
    if model.trees_ is not None:
        return end_nodes(model.trees_, X).entries_of(model.trees_.value[:, 0].argmax(axis=1))
    return X.graph.joined([_codes(member, X, model.classes_).reshape(-1, 1) for member in model.members_])


def _codes(member: Any, X: Value, classes: Any) -> Value:
    """Return the label that a member names, as its place among the classes."""
    named = answers(member, X)["label"].reshape(-1, 1)
    is_this = [named.equals(np.asarray(label)) for label in classes]
    return X.graph.joined([one.cast(WHOLE) for one in is_this]).argmax()


def bagging_classifier(model: Any, X: Value) -> Answers:
    """Return labels and the mean probabilities of the members, or their shares of the votes."""
    n, total = len(model.classes_), None
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        said = answers(member, X.columns(columns))
        known = np.asarray(member.classes_, dtype=np.int64)
        if "probabilities" in said:
            shares = said["probabilities"]
            shares = shares if len(known) == n else shares @ np.eye(n)[known]
        else:
            shares = said["label"].reshape(-1, 1).equals(np.arange(n)).cast(DOUBLE)
        total = shares if total is None else total + shares
    assert total is not None  # a bag has a member
    mean = total / float(len(model.estimators_))
    return {"label": labels_at(mean.argmax(), model.classes_), "probabilities": mean}


def bagging_regressor(model: Any, X: Value) -> Answers:
    """Return the mean of what the members say."""
    pairs = zip(model.estimators_, model.estimators_features_, strict=True)
    said = [answers(member, X.columns(columns))["variable"] for member, columns in pairs]
    return {"variable": sum(said[1:], said[0]) / float(len(said))}


def blend(model: Any, X: Value) -> Answers:
    """Return the weighted mean of the members' probabilities or numbers."""
    name = "probabilities" if hasattr(model, "classes_") else "variable"
    parts = [answers(member, X) for member in model.estimators_]
    if any(name not in part for part in parts):
        raise NotExportableError(f"members must have {name} to be exported in a blend, and one has none.")
    weighted = [part[name] * float(weight) for part, weight in zip(parts, model.weights_, strict=True)]
    mean = sum(weighted[1:], weighted[0])
    if name == "variable":
        return {name: mean}
    return {"label": labels_at(mean.argmax(), model.classes_), name: mean}
