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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def line_attributes(
    coef: Array, intercept: Array, *, dtype: Any, fit_intercept: bool, one_dimensional: bool, flat: bool = True
) -> tuple[Array, Any]:
    """Return ``coef_`` and ``intercept_`` in scikit-learn's shapes, from (n_features, n_targets) and (n_targets,).

    ``one_dimensional`` says that ``y`` was; a single column of a matrix ``y`` gives flat coefficients if ``flat``.
    """
    single = coef.shape[1] == 1 and (one_dimensional or flat)
    shaped = coef[:, 0].astype(dtype) if single else np.ascontiguousarray(coef.T, dtype=dtype)
    return shaped, stored_intercept(
        intercept.astype(dtype), fit_intercept=fit_intercept, one_dimensional=one_dimensional
    )


def stored_intercept(intercepts: Array, *, fit_intercept: bool, one_dimensional: bool) -> Any:
    """Return ``intercept_`` as scikit-learn keeps it: 0.0 if there is none, a number for a ``y`` of one dimension."""
    if not fit_intercept:
        return 0.0
    return intercepts[0] if one_dimensional else intercepts
