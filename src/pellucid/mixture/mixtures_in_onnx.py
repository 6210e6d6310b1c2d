"""Mixtures as ONNX operators: the component of each row and its responsibilities."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from pellucid.core.onnx.graph import BOOL, Answers, Value
from pellucid.mixture.covariance_kinds import KINDS
from pellucid.probability.densities_in_onnx import log_density


def gaussian(model: Any, X: Value) -> Answers:
    """Return the answers of Gaussian components."""
    components = model._components()
    is_matrix, peaks = model.covariance_type in ("full", "tied"), KINDS[model.covariance_type].log_peaks(components)
    joint = []
    for k, (mean, peak) in enumerate(zip(components.means, peaks, strict=True)):
        factor = components.factors if model.covariance_type == "tied" else components.factors[k]
        z = (X - mean) @ factor if is_matrix else (X - mean) * factor
        joint.append(float(peak) - 0.5 * (z * z).sum())
    scores = X.graph.joined(joint)
    return {"label": scores.argmax(), "probabilities": scores.softmax()}


def any_density(model: Any, X: Value) -> Answers:
    """Return the answers of components of any density; a row that none can produce has the weights."""
    with np.errstate(divide="ignore"):
        logs = np.log(model.weights_.astype(np.float64))
    joint = []
    for log, densities in zip(logs.tolist(), model.densities_, strict=True):
        columns = [X.column(j) for j in range(len(densities))] if model.by_column_ else [X]
        parts = [log_density(density, column) for density, column in zip(densities, columns, strict=True)]
        joint.append(reduce(Value.__add__, parts) + log)
    scores = X.graph.joined(joint)
    impossible = scores.max().apply("IsInf", dtype=BOOL)
    shares = impossible.where(model.weights_[None], impossible.where(0.0, scores).softmax())
    return {"label": shares.argmax(), "probabilities": shares}
