"""Chosen columns as an ONNX operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.onnx.graph import Answers, Value


def chosen(model: Any, X: Value) -> Answers:
    """Return the columns that were chosen."""
    return {"variable": X.columns(np.flatnonzero(model.get_support()))}
