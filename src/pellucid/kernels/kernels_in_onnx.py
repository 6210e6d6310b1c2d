"""Kernels as ONNX operators: the products of rows with the rows that a machine keeps."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.onnx.distances import squared_distances, summed_differences
from pellucid.core.onnx.graph import NotExportableError, Value
from pellucid.core.types import Array
from pellucid.kernels.kernel import Kernel


def products(kernel: Kernel, X: Value, points: Any) -> Value:
    """Return the products of rows with points, of shape (rows, points)."""
    if kernel.is_given:
        return X.columns(points)
    Z = np.asarray(points.toarray() if sparse.issparse(points) else points, dtype=np.float64)
    return _of(kernel, X, Z)


def _of(kernel: Any, X: Value, Z: Array) -> Value:
    match type(kernel).__name__:
        case "Linear":
            return X @ Z.T
        case "Polynomial":
            return (kernel.gamma * (X @ Z.T) + kernel.coef0) ** float(kernel.degree)
        case "Sigmoid":
            return (kernel.gamma * (X @ Z.T) + kernel.coef0).apply("Tanh")
        case "Cosine":
            length = np.sqrt((Z * Z).sum(axis=1, keepdims=True))
            return _at_length_1(X) @ (Z / np.where(length > 0.0, length, 1.0)).T
        case "RBF":
            return (-kernel.gamma * squared_distances(X, Z)).exp()
        case "Laplacian":
            return (-kernel.gamma * summed_differences(X, Z, Value.abs)).exp()
        case "Constant":
            return (X @ np.zeros(Z.T.shape)) + kernel.value
        case "Scaled":
            return kernel.factor * _of(kernel.kernel, X, Z)
        case "Sum":
            return reduce(Value.__add__, (_of(part, X, Z) for part in kernel.parts))
        case "Product":
            return reduce(Value.__mul__, (_of(part, X, Z) for part in kernel.parts))
    raise NotExportableError(
        f"kernel must be linear, polynomial, sigmoid, cosine, RBF or Laplacian, or made of these, to be exported, got "
        f"{kernel!r}."
    )


def _at_length_1(X: Value) -> Value:
    length = (X * X).sum().sqrt()
    return X / (length > 0.0).where(length, 1.0)
