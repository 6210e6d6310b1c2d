"""Which rows of the training data hold a fitted model, if it says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from pellucid.core.types import Array


def last_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the model itself."""
    return model.steps[-1][1] if isinstance(model, Pipeline) else model


def support_rows(model: Any, n: int) -> Array:
    """Return the positions of the support vectors among the ``n`` training rows; none if the model has none."""
    final = last_step(model)
    support, shape = getattr(final, "support_", None), getattr(final, "shape_fit_", None)
    if support is not None and shape is not None:
        return np.asarray(support) if shape[0] == n else np.empty(0, dtype=int)
    dual = getattr(final, "dual_coef_", None)
    if support is None and isinstance(dual, np.ndarray) and dual.shape[-1] == n:
        return np.flatnonzero(np.any(np.atleast_2d(dual) != 0.0, axis=0))
    return np.empty(0, dtype=int)
