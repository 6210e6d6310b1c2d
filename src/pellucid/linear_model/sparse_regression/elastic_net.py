"""ElasticNet and Lasso: least squares with an l1 and a squared l2 penalty, or an l1 penalty alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, metadata_routing

from pellucid.core.arrays import on_host
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data, RandomState
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.linear_model.sparse_regression.elastic_net_fit_solvers import Settings, design_of, elastic_net_fit
from pellucid.linear_model.sparse_regression.enet_path import enet_path
from pellucid.proofs.training_data import TrainingData


class ElasticNet(LinearPredictor, RegressorMixin, CertifiedEstimator):
    r"""Linear regression that shrinks coefficients and sets some to zero.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\rho\|w\|_1 + \frac{\alpha(1-\rho)}{2}\|w\|_2^2

    Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, at least 0. For 0 use LinearRegression.
    l1_ratio : float, default=0.5
        :math:`\rho`, between 0 (ridge) and 1 (lasso).
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        The Gram matrix of the centered, weighted ``X`` if you have it. The booleans change nothing: the solver
        computes the part of it that it needs.
    max_iter : int, default=1000
        Most passes of coordinate descent over the working set.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed.
    tol : float, default=1e-4
        Duality gap to reach, as a fraction of the variance of ``y``.
    warm_start : bool, default=False
        Whether to start from ``coef_`` of the last fit.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the coordinates if ``selection='random'``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates in a pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        :math:`w`.
    intercept_ : float or ndarray of shape (n_targets,)
        :math:`b`.
    dual_gap_ : float or ndarray of shape (n_targets,)
        How far, at most, the objective is above its minimum.
    n_iter_ : int or list of int
        Passes of coordinate descent done.
    certificate_ : Certificate
        The duality gap and the mean residual.
    trace_ : Trace
        Objective, gap, working set and support along the fit.

    Examples
    --------
    >>> ElasticNet(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.45454545])
    """

    __metadata_request__fit = {"check_input": metadata_routing.UNUSED}  # noqa: RUF012  (scikit-learn's convention)

    path = staticmethod(enet_path)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None, check_input: bool = True) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets).

        A sample of weight k counts as k samples. With ``check_input=False``, ``X`` and ``y`` must be float arrays.
        """
        if check_input:
            data = self._check(X, y, sample_weight)
        else:
            data = TrainingData(X, y, sample_weight, given=(X, y, sample_weight))
        design = design_of(data, self.fit_intercept)
        # The start of a target is watched as well, so there is one report more than iterations.
        watch = self._watch_line(design, data.X, data.y, self.max_iter + 1)
        return self._adopt(elastic_net_fit(data, design, self._settings(), self._starts(), watch), data)

    @property
    def sparse_coef_(self) -> sparse.csr_array:
        """``coef_`` as a sparse matrix with one row per target."""
        return sparse.csr_array(np.atleast_2d(on_host(self.coef_)))

    def _settings(self) -> Settings:
        return Settings(
            alpha=self.alpha,
            l1_ratio=self.l1_ratio,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            precompute=self.precompute,
            rng=check_random_state(self.random_state) if self.selection == "random" else None,
        )

    def _starts(self) -> list[Array] | None:
        return list(np.atleast_2d(self.coef_)) if self.warm_start and hasattr(self, "coef_") else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class Lasso(ElasticNet):
    r"""Linear regression with few non-zero coefficients.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\|w\|_1

    Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, at least 0. For 0 use LinearRegression.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    precompute : bool or array-like of shape (n_features, n_features), default=False
        The Gram matrix of the centered, weighted ``X`` if you have it. The booleans change nothing: the solver
        computes the part of it that it needs.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed.
    max_iter : int, default=1000
        Most passes of coordinate descent over the working set.
    tol : float, default=1e-4
        Duality gap to reach, as a fraction of the variance of ``y``.
    warm_start : bool, default=False
        Whether to start from ``coef_`` of the last fit.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the coordinates if ``selection='random'``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates in a pass.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        :math:`w`.
    intercept_ : float or ndarray of shape (n_targets,)
        :math:`b`.
    dual_gap_ : float or ndarray of shape (n_targets,)
        How far, at most, the objective is above its minimum.
    n_iter_ : int or list of int
        Passes of coordinate descent done.
    certificate_ : Certificate
        The duality gap and the mean residual.
    trace_ : Trace
        Objective, gap, working set and support along the fit.

    Examples
    --------
    >>> Lasso(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.25])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: RandomState = None,
        selection: str = "cyclic",
    ) -> None:
        super().__init__(
            alpha=alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            copy_X=copy_X,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
        )
