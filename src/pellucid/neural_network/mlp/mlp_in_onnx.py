"""Networks of dense layers as ONNX operators, in the precision of their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.class_answers import labels_at, winning_label
from pellucid.core.onnx.graph import WHOLE, Answers, NotExportableError, Value
from pellucid.neural_network.mlp.activations import LEAK


def classifier(model: Any, X: Value) -> Answers:
    """Return labels and probabilities."""
    scores = _scores(model, X)
    if model.has_several_labels:
        return {"label": (scores > 0.0).cast(WHOLE), "probabilities": scores.sigmoid()}
    shares = scores.softmax() if model.out_activation_ == "softmax" else scores.sigmoid()
    if model.n_outputs_ == 1:
        shares = X.graph.joined([1.0 - shares, shares])
    if len(model.classes_) == 1:
        return {"label": labels_at(scores.argmax(), model.classes_), "probabilities": shares}
    return {"label": winning_label(scores, model.classes_), "probabilities": shares}


def regressor(model: Any, X: Value) -> Answers:
    """Return numbers."""
    scores = _scores(model, X)
    found = scores.exp() if model.out_activation_ == "exp" else scores
    return {"variable": found.reshape(-1) if model.n_outputs_ == 1 else found}


def _scores(model: Any, X: Value) -> Value:
    if any(coef.dtype != np.float64 for coef in model.coefs_):
        raise NotExportableError(
            f"{type(model).__name__} must be fitted to double numbers to be exported, got {model.coefs_[0].dtype}. "
            "Fit it to X.astype('float64')."
        )
    layers = list(zip(model.coefs_, model.intercepts_, strict=True))
    for coef, intercept in layers[:-1]:
        X = _activated(model, X @ coef + intercept, len(intercept))
    return X @ layers[-1][0] + layers[-1][1]


def _activated(model: Any, Z: Value, n: int) -> Value:
    match model.activation:
        case "identity":
            return Z
        case "logistic" | "sigmoid":
            return Z.sigmoid()
        case "tanh":
            return Z.apply("Tanh")
        case "relu":
            return Z.apply("Max", np.float64(0.0))
        case "leaky_relu":
            return Z.apply("Max", Z * LEAK)
        case "elu":
            return (Z > 0.0).where(Z, Z.apply("Min", np.float64(0.0)).exp() - 1.0)
        case "maxout":
            return Z.reshape(-1, n // model.pieces, model.pieces).apply("ReduceMax", np.array([2]), keepdims=0)
    raise NotExportableError(
        f"{type(model).__name__} must have another activation to be exported, got {model.activation!r}: onnxruntime "
        "has no error function of double numbers."
    )
