"""BridgeRegression: least squares with the penalty sum |w_j|^q, for any q > 0."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Effort
from pellucid.core.types import Array, Data
from pellucid.linear_model.bridge_solvers import bridge_cd, tolerance
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.solvers.design import make_design


class BridgeRegression(LinearPredictor, RegressorMixin, CertifiedEstimator):
    r"""Linear regression with a power of the coefficients as penalty.

    .. math:: \min_{w,\,b}\ \frac{1}{2\sum_i s_i}\sum_i s_i\,(y_i - x_i'w - b)^2 + \alpha\sum_j |w_j|^q

    ``q = 1`` is the lasso and ``q = 2`` ridge regression. With ``q < 1`` fewer coefficients survive and those are
    shrunk less, but the problem is not convex: the certificate then only says that no single coefficient can be
    improved.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, above 0.
    q : float, default=1.5
        The power, above 0.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    max_iter : int, default=10000
        Most passes over the features.
    tol : float, default=1e-6
        Gap to reach, as a fraction of the objective at :math:`w = 0`.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features,), float
        :math:`w` and :math:`b`.
    n_iter_ : int
        Passes done.
    certificate_ : Certificate
        Grade ``optimal`` with the duality gap for ``q >= 1``, ``stationary`` for ``q < 1``.
    trace_ : Trace
        Objective, gap and number of nonzero coefficients along the fit.

    Examples
    --------
    >>> BridgeRegression(alpha=0.5, q=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.25])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        q: float = 1.5,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        tol: float = 1e-6,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.q = q
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start

    n_iter_: int

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,)."""
        data = self._check(X, y, sample_weight)
        design = make_design(data.X, fit_intercept=self.fit_intercept, sample_weight=data.weight)
        b, y_mean = design.center(data.y)
        last = getattr(self, "coef_", None)
        found = bridge_cd(
            design,
            b,
            self.alpha,
            self.q,
            effort=Effort(
                tolerance(b, self.tol, design.total_weight, data.dtype),
                self.max_iter,
                self._watch(data.X, data.y, attributes=lambda w: self._line(w, design.mean, y_mean, data.dtype)),
            ),
            start=last if self.warm_start and last is not None and len(last) == data.X.shape[1] else None,
        )
        line = self._line(found.attributes["coef_"], design.mean, y_mean, data.dtype)
        return self._adopt(replace(found, attributes={**found.attributes, **line}), data)

    def _line(self, w: Array, mean: Array, y_mean: Array, dtype: np.dtype) -> dict[str, Any]:
        coef = w.astype(dtype)
        return {"coef_": coef, "intercept_": dtype.type(y_mean - mean @ coef) if self.fit_intercept else 0.0}
