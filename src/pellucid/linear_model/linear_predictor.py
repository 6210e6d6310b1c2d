"""The prediction of every linear model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.types import Array, Data
from pellucid.linear_model.linear_input import FLOATS, SPARSE_FORMATS


class LinearPredictor:
    """Predicts :math:`Xw + b` from ``coef_`` and ``intercept_``; dense or sparse ``X``."""

    coef_: Array
    intercept_: Any

    def predict(self, X: Data) -> Array:
        r"""Return :math:`Xw + b`, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._linear_scores(X)

    def _linear_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=SPARSE_FORMATS, dtype=FLOATS, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _store_line(self, w: Array, mean: Array, y_mean: Array, *, dtype: Any, one_target: bool) -> None:
        """Set ``coef_`` and ``intercept_`` from ``w`` of shape (n_features, n_targets) found on centered data."""
        self.coef_, self.intercept_ = line_attributes(w, mean, y_mean, dtype=dtype, one_target=one_target)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def line_attributes(w: Array, mean: Array, y_mean: Array, *, dtype: Any, one_target: bool) -> tuple[Array, Any]:
    """Return ``coef_`` and ``intercept_`` in scikit-learn's shapes: the intercept undoes the centering."""
    intercept = y_mean - mean @ w
    if one_target:
        return w[:, 0].astype(dtype), dtype.type(intercept[0])
    return np.ascontiguousarray(w.T, dtype=dtype), intercept.astype(dtype)
