"""LinearSVR: a line with a tube around it, which rows leave at a cost."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.input_rules import ANY_SPARSE, FLOATS
from pellucid.core.random_state import drawn_seed
from pellucid.core.types import Array, Data, RandomState
from pellucid.svm.linear_svc.linear_svr_solvers import fit_tube


class LinearSVR(RegressorMixin, CertifiedEstimator):
    r"""Linear support vector regression: residuals up to epsilon cost nothing.

    .. math:: \min_{w,\,b}\ \tfrac12\|w\|_2^2 + \tfrac12(b/s)^2 + C\sum_i c_i\max(0, |y_i - w'x_i - b| - \varepsilon)

    The intercept is penalized as the weight of one more, constant feature :math:`s`, as in LIBLINEAR.

    Parameters
    ----------
    epsilon : float, default=0.0
        Half the width of the tube, in the unit of ``y``.
    tol : float, default=1e-4
        Duality gap to reach, as a part of the objective; never more than 1e-6 is accepted.
    C : float, default=1.0
        Cost of leaving the tube, above 0.
    loss : {'epsilon_insensitive', 'squared_epsilon_insensitive'}, default='epsilon_insensitive'
        Whether what is beyond the tube is squared.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    intercept_scaling : float, default=1.0
        :math:`s`: the larger, the less :math:`b` is penalized.
    dual : 'auto' or bool, default='auto'
        Checked, but it changes nothing: the method follows from loss and shape.
    verbose : int, default=0
        Nothing is printed, whatever it is: see ``trace_``.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows where they are visited one by one: where rows and columns are many.
    max_iter : int, default=1000
        Most iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights :math:`w`.
    intercept_ : ndarray of shape (1,)
        :math:`b`; the number 0.0 without an intercept.
    dual_coef_ : ndarray of shape (n_samples,)
        Only for the loss that is not squared: the pull of each row, of size at most its cost, and 0 inside the tube.
    n_iter_ : int
        Iterations done.
    certificate_, trace_ : Certificate, Trace
        The duality gap; objective and gap along the fit.

    Examples
    --------
    A line through 0 whose tube of 1/2 reaches the farther point: 2w = 3 - 1/2.

    >>> LinearSVR(epsilon=0.5, C=10.0, fit_intercept=False).fit([[1.0], [2.0]], [1.5, 3.0]).coef_.round(6)
    array([1.25])
    """

    coef_: Array
    intercept_: Any
    dual_coef_: Array
    n_iter_: int

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = "auto",
        verbose: int = 0,
        random_state: RandomState = None,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and numbers ``y``; a row of weight k counts as k rows."""
        data = self._check(X, y, sample_weight)
        watch = self._watch(data.X, data.given[1], attributes=dict)
        seed = drawn_seed(self.random_state)
        return self._adopt(fit_tube(data, self, watch, seed), data)

    def predict(self, X: Data) -> Array:
        r"""Return :math:`w'x + b`, of shape (n_samples,)."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=ANY_SPARSE, dtype=FLOATS, reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
