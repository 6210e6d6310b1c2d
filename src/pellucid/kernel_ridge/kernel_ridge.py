"""KernelRidge: ridge regression in the space of a kernel."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.core.cards import card_of
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data
from pellucid.kernel_ridge.kernel_ridge_solvers import solve_kernel_ridge
from pellucid.kernels.choice import is_given, pairwise_kernel


class KernelPredictor(MultiOutputMixin, RegressorMixin, CertifiedEstimator):
    """What kernel ridge regressions share: predictions are sums of products with the training rows."""

    dual_coef_: Array
    X_fit_: Any
    kernel: Any

    def predict(self, X: Data) -> Array:
        r"""Return :math:`\sum_i a_i\,k(x_i, x)`, of shape (n_samples,) or (n_samples, n_targets).

        Given products ('precomputed') are those of the rows with all training rows.
        """
        check_is_fitted(self)
        X = card_of(type(self)).rules_for(self).check_rows(self, X)
        kernel = pairwise_kernel(self, X.shape[1])
        others = np.arange(X.shape[1]) if kernel.is_given else self.X_fit_
        return kernel.times(X, others, self.dual_coef_).astype(self.X_fit_.dtype, copy=False)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_given(self.kernel)
        return tags


class KernelRidge(KernelPredictor):
    r"""Ridge regression in the space of a kernel, without writing that space down.

    .. math:: \min_f \sum_i s_i\,(y_i - f(x_i))^2 + \alpha\,\|f\|^2,\qquad f(x) = \sum_i a_i\,k(x_i, x),\qquad
       (K + \alpha S^{-1})\,a = y

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1
        Penalty, at least 0; one for each target if several are given.
    kernel : str, Kernel or callable, default='linear'
        A name of scikit-learn's ('linear', 'poly', 'rbf', 'sigmoid', 'laplacian', 'cosine', 'chi2', 'additive_chi2',
        'precomputed'), an object of :mod:`pellucid.kernels` such as ``2 * RBF(0.5) + Polynomial(3)``, or a function of
        two rows that returns a number.
    gamma : float or None, default=None
        Factor of the named kernels that have one; None is one over the number of columns, 1 for 'chi2'.
    degree : float, default=3
        Power of 'poly'.
    coef0 : float, default=1
        Constant of 'poly' and 'sigmoid'.
    kernel_params : dict or None, default=None
        Keywords for a function.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples,) or (n_samples, n_targets)
        :math:`a`; 0 for rows of weight 0.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The training rows, or given products.
    certificate_, trace_ : Certificate, Trace
        How well the equations hold, with the grade 'exact'; the objective.

    Examples
    --------
    Two rows with the products 1, 0, 4 and a penalty of 1: 2 a = 1, 5 a = 2.

    >>> KernelRidge().fit([[1.0, 0.0], [0.0, 2.0]], [1.0, 2.0]).dual_coef_
    array([0.5, 0.4])
    """

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        alpha = self._penalties(1 if data.y.ndim == 1 else data.y.shape[1])
        kernel = pairwise_kernel(self, data.X.shape[1])
        found = solve_kernel_ridge(kernel, data, alpha)
        found = replace(found, attributes={**found.attributes, "X_fit_": data.given[0]})
        return self._adopt(found, data)

    def _penalties(self, n_targets: int) -> Array:
        alpha = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alpha.size not in (1, n_targets):
            raise ValueError(
                f"alpha must be one number or one for each of the {n_targets} targets, got {alpha.size}: the number of "
                "targets and the number of penalties do not correspond."
            )
        return alpha
