"""Products of powers of columns as ONNX operators."""

from __future__ import annotations

from typing import Any

from pellucid.core.onnx.graph import Answers, NotExportableError, Value
from pellucid.core.onnx.transformers import monomial


def expanded(model: Any, X: Value) -> Answers:
    """Return the monomials of each row."""
    if model.functions is not None:
        raise NotExportableError("BasisExpansion must have powers, not functions of yours, to be exported.")
    return {"variable": X.graph.joined([monomial(X, powers) for powers in model.powers_])}
