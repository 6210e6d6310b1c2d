"""How far the answers of a graph, run by onnxruntime, are from those of its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier, is_regressor

from pellucid.core.onnx.answers import feeds_of
from pellucid.core.onnx.graph import NotExportableError
from pellucid.core.types import Array, Data

METHODS = {"label": ("predict",), "probabilities": ("predict_proba",), "scores": ("decision_function",)}
"""Output -> the methods of the model that say the same."""


@dataclass(frozen=True)
class Difference:
    """What was found on some rows."""

    n_rows: int
    n_labels: int
    """Rows with another label."""
    largest: float
    """Largest difference of a number, as a part of the largest number in its column."""

    def __str__(self) -> str:
        return f"labels: {self.n_labels} of {self.n_rows} rows; numbers: at most {self.largest:.1e} of their size"


def measured(proto: Any, model: Any, X: Data) -> str:
    """Return in words how the graph and the model differ on these rows; refuse a graph with another label."""
    if find_spec("onnxruntime") is None:
        return "not measured: onnxruntime is not installed"
    found = difference(proto, model, X)
    if found.n_labels:
        raise NotExportableError(
            f"labels of the graph must be those of the model, got others in {found.n_labels} of {found.n_rows} rows. "
            "Write words as in the table of the fit, if they are written otherwise; else report it with model and rows."
        )
    return str(found)


def difference(proto: Any, model: Any, X: Data) -> Difference:
    """Return how the outputs of a graph differ from what the model says about these rows."""
    answers = {output.name: _answer(model, output.name, X) for output in proto.graph.output}  # refuses wrong rows first
    said, n_labels, largest = run(proto, feeds_of(model, X)), 0, 0.0
    for name, own in answers.items():
        values = said[name]
        if values.shape != own.shape:
            raise NotExportableError(f"{name} must have the shape {own.shape} of the model's, got {values.shape}.")
        if name == "label":
            n_labels = int((values != own).reshape(len(own), -1).any(axis=1).sum())
        else:
            largest = max(largest, _relative(values, np.asarray(own, dtype=np.float64)))
    return Difference(len(own), n_labels, largest)


def _relative(values: Array, own: Array) -> float:
    """Return the largest difference as a part of the largest number in its column; what is not finite must be equal."""
    values, own = (part.reshape(len(own), -1) for part in (values, own))
    same = (values == own) | (np.isnan(values) & np.isnan(own))
    with np.errstate(invalid="ignore"):
        size = np.max(np.where(np.isfinite(own), np.abs(own), 0.0), axis=0, initial=0.0)
        apart = np.where(same, 0.0, np.abs(values - own)) / np.where(size > 0.0, size, 1.0)
    return float(np.max(np.where(np.isnan(apart), np.inf, apart), initial=0.0))


def _answer(model: Any, output: str, X: Data) -> Array:
    """Return what the model says where the graph has this output."""
    names = METHODS.get(output) or (
        ("predict", "transform") if is_classifier(model) or is_regressor(model) else ("transform", "predict")
    )
    method = next(getattr(model, name) for name in names if hasattr(model, name))
    found = method(X)
    return np.asarray(found.toarray() if issparse(found) else found)


def run(proto: Any, feeds: Mapping[str, Array]) -> dict[str, Array]:
    """Return the outputs of a graph, by name, for what its inputs are fed."""
    session = session_of(proto)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def session_of(proto: Any, n_threads: int = 0) -> Any:
    """Return onnxruntime ready to run a graph on the processor, on as many threads as it likes, or as are named."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, n_threads
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
