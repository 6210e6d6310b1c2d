"""Kernel machines as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.linear_classifier import dense
from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, NotExportableError, Value
from pellucid.core.types import Array
from pellucid.kernels.kernels_in_onnx import products
from pellucid.svm.kernel_machine.machine_rows import class_blocks, class_pairs, machine_coefs
from pellucid.svm.kernel_machine.support_vector_model import machine_kernel, matrix_function
from pellucid.svm.svc.svc_probability import SUREST


def svr(model: Any, X: Value) -> Answers:
    """Return numbers."""
    return {"variable": (_products(model, X) @ dense(model.dual_coef_).T + model.intercept_).reshape(-1)}


def svc(model: Any, X: Value) -> Answers:
    """Return the label with most votes of the machines, and the scores."""
    n = len(model.classes_)
    coefs = machine_coefs(dense(model.dual_coef_), class_blocks(model.n_support_))
    scores = _products(model, X) @ coefs.T + model.intercept_
    if n == 2:
        label = labels_at((scores >= 0.0).cast(WHOLE).reshape(-1), model.classes_)
        if hasattr(model, "probability_slopes_"):
            return {"label": label, "probabilities": _pair_of_shares(scores, model.probability_slopes_[0])}
        return {"label": label, "scores": scores.reshape(-1)}
    first, second = (np.array([[pair[k] == c for c in range(n)] for pair in class_pairs(n)], float) for k in (0, 1))
    is_first = (scores > 0.0).cast(DOUBLE)
    votes = is_first @ first + (1.0 - is_first) @ second
    confident = scores @ (first - second)
    by_class = votes + confident / (3.0 * (confident.abs() + 1.0))
    winners = by_class if model.break_ties else votes
    shown = scores if model.decision_function_shape == "ovo" else by_class
    return {"label": labels_at(winners.argmax(), model.classes_), "scores": shown}


def _pair_of_shares(scores: Value, slopes: Array) -> Value:
    """Return the probabilities of two classes; of more they are coupled by equations, which a graph cannot solve."""
    steep = (scores > 0.0).where(float(slopes[1]), float(slopes[0])) * scores
    share = steep.sigmoid().clip(SUREST, 1.0 - SUREST)
    return scores.graph.joined([1.0 - share, share])


def _products(model: Any, X: Value) -> Value:
    if matrix_function(model.kernel) is not None:
        raise NotExportableError(
            f"{type(model).__name__} must have a kernel with a name to be exported, got a function."
        )
    kernel = machine_kernel(model, float(model.gamma_))
    return products(kernel, X, model.support_ if kernel.is_given else model.support_vectors_)
