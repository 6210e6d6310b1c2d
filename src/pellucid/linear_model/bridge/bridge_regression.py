"""BridgeRegression: least squares with the penalty sum |w_j|^q, for any q > 0."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_positive, check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data
from pellucid.linear_model.bridge.bridge_proof import prove_bridge
from pellucid.linear_model.bridge.bridge_solvers import bridge_cd
from pellucid.linear_model.linear_input import check_linear_input
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.numerics.design import make_design


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
        check_positive(alpha=self.alpha, hint="For no penalty use LinearRegression.")
        check_positive(q=self.q, tol=self.tol)
        check_whole(max_iter=self.max_iter)
        X, y, weight = check_linear_input(self, X, y, sample_weight, multi_output=False)
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=weight)
        b, y_mean = design.center(y)
        last = getattr(self, "coef_", None)
        solution = bridge_cd(
            design,
            b,
            self.alpha,
            self.q,
            tol=self.tol,
            max_iter=self.max_iter,
            start=last if self.warm_start and last is not None and len(last) == X.shape[1] else None,
            dtype=X.dtype,
            watch=self._watch(X, y, attributes=lambda w: self._line(w, design.mean, y_mean, X.dtype)),
        )
        for name, value in self._line(solution.x, design.mean, y_mean, X.dtype).items():
            setattr(self, name, value)
        self.n_iter_ = solution.n_iter
        self._conclude(solution.certificate, solution.trace, X, y, weight)
        return self

    def _line(self, w: Array, mean: Array, y_mean: Array, dtype: Any) -> dict[str, Any]:
        intercept = dtype.type(y_mean - mean @ w) if self.fit_intercept else 0.0
        return {"coef_": w.astype(dtype), "intercept_": intercept}

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        X, y, weight = check_linear_input(self, X, y, sample_weight, multi_output=False, reset=False)
        return prove_bridge(
            X,
            y,
            self.coef_,
            float(self.intercept_),
            alpha=self.alpha,
            q=self.q,
            tol=self.tol,
            fit_intercept=self.fit_intercept,
            weight=weight,
        )
