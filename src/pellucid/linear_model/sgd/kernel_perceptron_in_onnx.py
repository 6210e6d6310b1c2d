"""The kernel perceptron as ONNX operators."""

from __future__ import annotations

from typing import Any

from pellucid.core.onnx.class_answers import winning_label
from pellucid.core.onnx.graph import Answers, Value
from pellucid.kernels.choice import is_given
from pellucid.kernels.kernels_in_onnx import products


def scores(model: Any, X: Value) -> Answers:
    """Return labels and scores."""
    rows = model.support_ if is_given(model.kernel) else model.support_vectors_
    found = products(model._kernel(model.gamma_), X, rows) @ model.dual_coef_.T + model.intercept_
    shown = found.reshape(-1) if len(model.classes_) == 2 else found
    return {"label": winning_label(found, model.classes_), "scores": shown}
