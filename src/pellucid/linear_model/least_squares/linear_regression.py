"""LinearRegression: ordinary least squares."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin, RegressorMixin

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.types import Array, Data
from pellucid.linear_model.least_squares.least_squares_fits import (
    DesignSolution,
    fit_by_conjugate_gradients,
    fit_directly,
    fit_nonnegative,
)
from pellucid.linear_model.least_squares.line_claims import DEFAULT_TOL, is_too_large
from pellucid.linear_model.linear_predictor import CertifiedLine
from pellucid.solvers.design import Design


class LinearRegression(CertifiedLine, MultiOutputMixin, RegressorMixin, CertifiedEstimator):
    r"""Ordinary least squares.

    .. math:: \min_{w,\,b}\ \sum_i s_i\,(y_i - x_i'w - b)^2

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    copy_X : bool, default=True
        Nothing changes: ``X`` is never changed, and never copied whole.
    tol : float, default=1e-6
        Sparse data with many features: where conjugate gradients stop. Dense data: at the default every direction above
        rounding level is kept; any other value drops singular values below that fraction of the largest.
    n_jobs : int or None, default=None
        Nothing changes: all cores are used anyway.
    positive : bool, default=False
        Whether coefficients must be at least 0 (dense data only).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
        :math:`w` and :math:`b`; of all minimizers the one of least norm.
    rank_, singular_ : int, ndarray of shape (min(n_samples, n_features),)
        Rank and singular values of the centered, weighted ``X``; dense data only.
    noise_variance_, degrees_of_freedom_, unit_covariance_, feature_means_, total_weight_
        What ``standard_errors``, ``prediction_interval`` and ``summary`` compute from.
    certificate_ : Certificate
        Grade ``exact``: residual of the normal equations, error of the fitted values, certain digits of ``coef_``.
    trace_ : Trace
        One row per refinement.

    Examples
    --------
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0])
    >>> float(model.coef_[0]), float(model.intercept_)
    (2.0, 1.0)
    """

    _flattens_one_target = False
    rank_: int
    singular_: Array

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = DEFAULT_TOL,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        data = self._check(X, y, sample_weight)
        is_tall = data.X.shape[0] >= data.X.shape[1]
        design = self._design_of(data, sums_everything=is_tall and not self.positive and self.tol == DEFAULT_TOL)
        line = self._solve(design, data.X, data.y)
        more: dict[str, Any] = {}
        if line.rank is not None and line.singular is not None and not sparse.issparse(data.X):
            more = {"rank_": line.rank, "later": {"singular_": partial(_as_type, line.singular, data.dtype)}}
        return self._adopt(self._fit_of(line, design, data, **more), data)

    def _solve(self, design: Design, X: Array, y: Array) -> DesignSolution:
        targets = y.reshape(len(y), -1).astype(np.float64, copy=False)
        no_penalty = np.zeros(targets.shape[1])
        if self.positive:
            return fit_nonnegative(design, targets, no_penalty)
        if is_too_large(X):
            watch = self._watch_line(design, X, y)
            return fit_by_conjugate_gradients(design, targets, no_penalty, tol=self.tol, max_iter=None, watch=watch)
        cutoff = None if self.tol == DEFAULT_TOL or sparse.issparse(X) else self.tol
        return fit_directly(design, targets, no_penalty, one_target=y.ndim == 1, cutoff=cutoff)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.positive
        return tags


def _as_type(compute: Callable[[], Array], dtype: np.dtype) -> Array:
    return compute().astype(dtype)
