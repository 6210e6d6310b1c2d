"""Lasso: least squares with an l1 penalty."""

from __future__ import annotations

from typing import Any

from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet


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
        Accepted for compatibility; ``X`` is never changed.
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
        random_state: Any = None,
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
