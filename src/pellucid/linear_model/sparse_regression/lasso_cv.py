"""LassoCV: the lasso whose penalty cross-validation chooses."""

from __future__ import annotations

from typing import Any

from pellucid.linear_model.sparse_regression.elastic_net_cv import ElasticNetCV


class LassoCV(ElasticNetCV):
    r"""Lasso with the :math:`\alpha` of smallest mean squared error on held-out folds.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\|w\|_1

    Of equal errors the largest :math:`\alpha` counts.

    Parameters
    ----------
    eps : float, default=1e-3
        Smallest over largest value of an automatic grid.
    alphas : int or array-like, default=100
        The number of values of an automatic grid, or the values.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of the centered ``X`` for the final fit, if you have it; 'auto' and the booleans change nothing.
    max_iter, tol, positive, random_state, selection
        As in :class:`Lasso`.
    cv : int, splitter or iterable, default=None
        The folds; None for 5.
    copy_X, verbose, n_jobs
        Accepted for compatibility; ``X`` is never changed, and folds run on all threads.

    Attributes
    ----------
    alpha_ : float
        The value chosen.
    coef_, intercept_, dual_gap_, n_iter_
        The model fitted to all data with it, as in :class:`Lasso`.
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared errors on the held-out folds.
    alphas_ : ndarray of shape (n_alphas,)
        The grid.
    certificate_ : Certificate
        That of the final fit, and that the value chosen has the smallest error.
    trace_ : Trace
        Mean error of each :math:`\alpha`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> LassoCV(alphas=[1.0, 0.001], cv=2).fit(X, y).alpha_
    0.001
    """

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        super().__init__(
            l1_ratio=1.0,
            eps=eps,
            alphas=alphas,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            tol=tol,
            cv=cv,
            copy_X=copy_X,
            verbose=verbose,
            n_jobs=n_jobs,
            positive=positive,
            random_state=random_state,
            selection=selection,
        )

    def _chosen(self, alpha: float, _l1_ratio: float) -> dict[str, float]:
        return {"alpha_": alpha}  # a lasso has no mix to choose
