"""What discriminant analysis answers, as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.class_answers import from_log_scores
from pellucid.core.onnx.graph import Answers, Value
from pellucid.core.onnx.linear_answers import lines


def linear(model: Any, X: Value) -> Answers:
    """Return labels and posteriors; the score of the first of two classes is 0."""
    scores = lines(model, X)
    scores = scores.graph.joined([scores * 0.0, scores]) if len(model.classes_) == 2 else scores
    return from_log_scores(scores, model.classes_)


def quadratic(model: Any, X: Value) -> Answers:
    """Return labels and posteriors from rows in the principal axes of each class."""
    with np.errstate(divide="ignore"):
        constants = np.log(model.priors_) - 0.5 * np.array([np.sum(np.log(own)) for own in model.scalings_])
    scores = []
    for mean, rotation, scaling, constant in zip(
        model.means_, model.rotations_, model.scalings_, constants, strict=True
    ):
        z = (X - mean) @ (rotation / np.sqrt(scaling))
        scores.append(float(constant) - 0.5 * (z * z).sum())
    return from_log_scores(X.graph.joined(scores), model.classes_)
