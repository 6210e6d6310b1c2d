"""Kernel ridge regression as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.graph import Answers, Value
from pellucid.kernels.choice import pairwise_kernel
from pellucid.kernels.kernels_in_onnx import products


def numbers(model: Any, X: Value) -> Answers:
    """Return the products with the training rows times their coefficients."""
    kernel = pairwise_kernel(model, model.n_features_in_)
    rows = np.arange(model.n_features_in_) if kernel.is_given else model.X_fit_
    return {"variable": products(kernel, X, rows) @ model.dual_coef_}
