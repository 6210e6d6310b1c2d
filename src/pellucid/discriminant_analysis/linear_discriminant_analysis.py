"""LinearDiscriminantAnalysis: Gaussian classes that share one covariance."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.input_rules import FLOATS
from pellucid.core.types import Array, Data
from pellucid.discriminant_analysis.discriminant_scores import DiscriminantScores
from pellucid.discriminant_analysis.linear_discriminant_solvers import linear_discriminants


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin, DiscriminantScores, ClassifierMixin, TransformerMixin, CertifiedEstimator
):
    r"""Classes with normal densities :math:`N(\mu_k, \Sigma)`: the boundaries are planes.

    .. math:: \delta_k(x) = x'\Sigma^{-1}\mu_k - \tfrac12\mu_k'\Sigma^{-1}\mu_k + \log\pi_k

    For two classes the boundary is :math:`w'x + w_0 = 0` with :math:`w = \Sigma^{-1}(\mu_1 - \mu_0)` and
    :math:`w_0 = -\tfrac12(\mu_1 + \mu_0)'w + \log(\pi_1/\pi_0)`; some notes forget the last term.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}, default="svd"
        ``svd`` drops directions in which nothing varies within classes; ``lsqr`` and ``eigen`` take shrinkage, and
        ``lsqr`` cannot transform.
    shrinkage : "auto", float or None, default=None
        Share of a multiple of the identity in the covariance; ``auto`` is Ledoit and Wolf's.
    priors : array-like of shape (n_classes,), default=None
        Prior probabilities :math:`\pi_k`; the shares in the data if not given.
    n_components : int, default=None
        Dimension of the projection, at most ``min(n_classes - 1, n_features)``.
    store_covariance : bool, default=False
        Whether ``svd`` stores ``covariance_``, too.
    tol : float, default=1e-4
        Standard deviations below this, after scaling each feature to 1, count as 0; for ``svd``.
    covariance_estimator : estimator, default=None
        With ``covariance_`` after ``fit``, instead of shrinkage.

    Attributes
    ----------
    classes_, priors_, means_ : ndarray of shape (n_classes,), (n_classes,), (n_classes, n_features)
        Labels, prior probabilities and means.
    coef_, intercept_ : ndarray of shape (1 or n_classes, n_features), (1 or n_classes,)
        The discriminants; for two classes their difference.
    covariance_ : ndarray of shape (n_features, n_features)
        The shared covariance, of the classes weighted by ``priors_``; if asked for.
    scalings_, xbar_, explained_variance_ratio_
        Fisher's projection, its origin (``svd``), and the share of the variance between classes of each component.
    certificate_, trace_
        Means, priors and discriminants solve their equations.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], [0, 0, 0, 1, 1, 1]
    >>> model = LinearDiscriminantAnalysis().fit(X, y)  # means 1 and 5, variance 2/3: w = 6, w_0 = -3 * 6
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[6.]]), array([-18.]))
    """

    means_: Array
    priors_: Array
    coef_: Array
    intercept_: Array
    scalings_: Array
    xbar_: Array

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: Any = None,
        priors: Data | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    @fit_method
    def fit(self, X: Data, y: Data) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and the labels ``y``."""
        data = self._check(X, y)
        if len(data.y) == len(data.classes):
            raise ValueError(
                f"The number of samples must be more than the number of classes, got {len(data.y)} of each. Add rows."
            )
        n_components = self._component_count(len(data.classes), data.X.shape[1])
        settings = SimpleNamespace(**{**self.get_params(deep=False), "n_components": n_components})
        return self._adopt(linear_discriminants(data, settings), data)

    def transform(self, X: Data) -> Array:
        """Return Fisher's projection, of shape (n_samples, n_components)."""
        if self.solver == "lsqr":
            raise NotImplementedError(
                "transform not implemented for 'lsqr' solver (use 'svd' or 'eigen'): it finds no projection."
            )
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        centered = X - self.xbar_ if self.solver == "svd" else X
        return np.asarray(centered @ self.scalings_)[:, : self._n_features_out]

    def _class_scores(self, X: Data) -> Array:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        return np.column_stack([np.zeros_like(scores[:, :1]), scores]) if len(self.classes_) == 2 else scores

    def decision_function(self, X: Data) -> Array:
        """Return the log odds of the second class if there are two, else the discriminants."""
        scores = self._class_scores(X)
        return scores[:, 1] if len(self.classes_) == 2 else scores

    def _component_count(self, n_classes: int, n_features: int) -> int:
        most = min(n_classes - 1, n_features)
        if self.n_components is None:
            return most
        if self.n_components > most:
            raise ValueError(
                f"n_components cannot be larger than min(n_features, n_classes - 1) = {most}, got {self.n_components}."
            )
        return self.n_components
