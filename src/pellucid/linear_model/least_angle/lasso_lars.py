"""LassoLars: the lasso, fitted along its path."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.linear_model.least_angle.lars import Lars
from pellucid.linear_model.least_angle.lars_solvers import LarsRules


class LassoLars(Lars):
    r"""Lasso that follows its path from :math:`w = 0` down to ``alpha``, breakpoint by breakpoint.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\|w\|_1

    Several targets are fitted one by one.

    Parameters
    ----------
    alpha : float, default=1.0
        Weight of the penalty, at least 0; 0 gives least squares.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    verbose : bool or int, default=False
        Accepted for compatibility; see ``trace_``.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of the centered ``X``, or whether to compute it; 'auto' does if there are more samples than
        features.
    max_iter : int, default=500
        Most steps.
    eps, copy_X
        Accepted for compatibility; columns that others explain do not join, and ``X`` is never changed.
    fit_path : bool, default=True
        Whether to keep the whole path.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    jitter : float, default=None
        Upper end of uniform noise added to ``y``, which makes ties unlikely.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise.

    Attributes
    ----------
    coef_, intercept_
        The model at ``alpha``, the end of the path.
    alphas_, active_, coef_path_, n_iter_, trace_
        As in :class:`Lars`.
    certificate_ : Certificate
        Equal correlations at every breakpoint, with the signs of the coefficients: the optimality conditions.

    Examples
    --------
    >>> LassoLars(alpha=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]).coef_
    array([0.25])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        verbose: Any = False,
        precompute: Any = "auto",
        max_iter: int = 500,
        eps: float = np.finfo(float).eps,
        copy_X: bool = True,
        fit_path: bool = True,
        positive: bool = False,
        jitter: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.fit_path = fit_path
        self.positive = positive
        self.jitter = jitter
        self.random_state = random_state

    def _rules(self, n_samples: int) -> LarsRules:
        return LarsRules(lasso=True, positive=self.positive, lowest=n_samples * self.alpha, max_iter=self.max_iter)
