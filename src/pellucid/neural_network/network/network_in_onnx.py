"""Networks of torch as ONNX operators, written by torch's own exporter."""

from __future__ import annotations

import warnings
from io import BytesIO
from typing import Any

import numpy as np

from pellucid.core.onnx.class_answers import labels_at
from pellucid.core.onnx.graph import DOUBLE, WHOLE, Answers, NotExportableError, Value

OPSET = 17
"""The newest that torch's exporter writes without another package."""
NOT_IN_DOUBLE = frozenset({"AveragePool", "Conv", "ConvTranspose", "Elu", "Erf", "LeakyRelu", "Selu", "Softplus"})
"""Operators that onnxruntime has for float of 32 bits only."""


def classifier(model: Any, X: Value) -> Answers:
    """Return labels and probabilities."""
    scores = _scores(model, X)
    if model.has_several_labels:
        return {"label": (scores > 0.0).cast(WHOLE), "probabilities": scores.sigmoid()}
    return {"label": labels_at(scores.argmax(), model.classes_), "probabilities": scores.softmax()}


def regressor(model: Any, X: Value) -> Answers:
    """Return numbers."""
    scores = _scores(model, X)
    return {"variable": scores.reshape(-1) if model.targets_ == 0 else scores}


def _scores(model: Any, X: Value) -> Value:
    """Return the raw scores, computed in the precision of the weights."""
    import onnx
    import torch

    kind = next(iter(model.weights_.values())).dtype
    rows = torch.zeros((2, model.n_features_in_), dtype=torch.float64 if kind == np.float64 else torch.float32)
    content, name = BytesIO(), type(model).__name__
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # it asks for its successor, which needs another package
        try:
            model.module_(rows)
        except RuntimeError:
            raise NotExportableError(
                f"{name} must take rows of a table to be exported, got images or the like."
            ) from None
        torch.onnx.export(
            model.module_,
            (rows,),
            content,  # type: ignore[arg-type]  # a file in memory is one too
            input_names=["rows"],
            output_names=["scores"],
            dynamic_axes={"rows": {0: "rows"}, "scores": {0: "rows"}},
            opset_version=OPSET,
            dynamo=False,
        )
    inner = onnx.load_model_from_string(content.getvalue())
    missing = sorted({node.op_type for node in inner.graph.node} & NOT_IN_DOUBLE)
    if missing and kind == np.float64:
        raise NotExportableError(
            f"{name} must be fitted to rows in float32 to be exported: onnxruntime has no {missing[0]} of double "
            "numbers."
        )
    return X.graph.included(inner, {"rows": X.cast(kind)}, kind).cast(DOUBLE)
