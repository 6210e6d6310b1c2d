"""The prediction of every linear model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.input_rules import ANY_SPARSE, FLOATS
from pellucid.core.types import Array, Data
from pellucid.core.watching import Watch, ignore
from pellucid.numerics.design import Design


class LinearPredictor:
    """Predicts :math:`Xw + b` from ``coef_`` and ``intercept_``; dense or sparse ``X``."""

    coef_: Array
    intercept_: Any
    fit_intercept: bool
    _flattens_one_target = True  # as scikit-learn does, except in LinearRegression

    def predict(self, X: Data) -> Array:
        r"""Return :math:`Xw + b`, of shape (n_samples,) or (n_samples, n_targets)."""
        return self._linear_scores(X)

    def _linear_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=ANY_SPARSE, dtype=FLOATS, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _shaped(self, coef: Array, intercept: Array, X: Array, y: Array) -> tuple[Array, Any]:
        return line_attributes(
            coef,
            intercept,
            dtype=X.dtype,
            fit_intercept=self.fit_intercept,
            one_dimensional=y.ndim == 1,
            flat=self._flattens_one_target,
        )

    def _watch_line(self, design: Design, X: Array, y: Array, max_iter: int | None = None) -> Watch:
        """Return the watch of an iterative solver whose iterate is ``w`` of shape (n_features, n_targets).

        ``max_iter`` is that of one target; targets fitted one by one are watched through ``one_target``.
        """

        def attributes(w: Array) -> dict[str, Any]:
            y_mean = design.center(y.reshape(len(y), -1))[1]
            coef, intercept = self._shaped(w, y_mean - design.mean @ w, X, y)
            return {"coef_": coef, "intercept_": intercept}

        most = None if max_iter is None else max_iter * (1 if y.ndim == 1 else y.shape[1])
        return self._watch(X, y, attributes=attributes, max_iter=most)  # type: ignore[attr-defined]  # CertifiedEstimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of BaseEstimator, beside
        tags.input_tags.sparse = True
        return tags


def one_target(watch: Watch, lines: Array, k: int) -> Watch:
    """Return the watch of target ``k`` alone, which fills its column of ``lines`` and shows them all."""
    if watch is ignore:
        return ignore

    def watch_one(w: Array) -> bool:
        lines[:, k] = w
        return watch(lines.copy())

    return watch_one


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
