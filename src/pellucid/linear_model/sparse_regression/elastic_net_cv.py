"""ElasticNetCV: the elastic net whose penalty cross-validation chooses."""

from __future__ import annotations

import warnings
from numbers import Integral, Number
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.model_selection import check_cv
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from pellucid.core.certificate import Certificate, Claim, UncertifiedWarning
from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_positive, check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.linear_model.linear_input import check_linear_input
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.linear_model.relative_weights import relative_weights
from pellucid.linear_model.sparse_regression.elastic_net import ElasticNet
from pellucid.linear_model.sparse_regression.elastic_net_cv_proof import selection_claim
from pellucid.linear_model.sparse_regression.enet_path import alpha_grid, enet_path
from pellucid.linear_model.sparse_regression.path_cross_validation import FoldErrors, PathSettings, cross_validate_paths
from pellucid.numerics.design import make_design


class ElasticNetCV(LinearPredictor, RegressorMixin, CertifiedEstimator):
    r"""Elastic net with the :math:`\alpha` and :math:`\rho` of smallest mean squared error on held-out folds.

    .. math:: \min_{w,\,b}\ \frac{1}{2n}\|y - Xw - b\|_2^2 + \alpha\rho\|w\|_1 + \frac{\alpha(1-\rho)}{2}\|w\|_2^2

    Of equal errors the first counts: the largest :math:`\alpha` of the first :math:`\rho`.

    Parameters
    ----------
    l1_ratio : float or list of float, default=0.5
        :math:`\rho`, or the values to choose from, between 0 (ridge) and 1 (lasso).
    eps : float, default=1e-3
        Smallest over largest value of an automatic grid.
    alphas : int or array-like, default=100
        The number of values of an automatic grid, or the values.
    fit_intercept : bool, default=True
        Whether to learn :math:`b`; if not, it is 0.
    precompute : 'auto', bool or array-like of shape (n_features, n_features), default='auto'
        The Gram matrix of the centered ``X`` for the final fit, if you have it; 'auto' and the booleans change nothing.
    max_iter, tol, positive, random_state, selection
        As in :class:`ElasticNet`.
    cv : int, splitter or iterable, default=None
        The folds; None for 5.
    copy_X, verbose, n_jobs
        Accepted for compatibility; ``X`` is never changed, and folds run on all threads.

    Attributes
    ----------
    alpha_, l1_ratio_ : float
        The values chosen.
    coef_, intercept_, dual_gap_, n_iter_
        The model fitted to all data with them, as in :class:`ElasticNet`.
    mse_path_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratios, n_alphas, n_folds)
        Mean squared errors on the held-out folds.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratios, n_alphas)
        The grids.
    certificate_ : Certificate
        That of the final fit, and that the values chosen have the smallest error.
    trace_ : Trace
        Mean error of each :math:`\alpha` and :math:`\rho`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 3.0]
    >>> ElasticNetCV(alphas=[1.0, 0.001], cv=2).fit(X, y).alpha_
    0.001
    """

    path = staticmethod(enet_path)

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: Any = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None, **params: Any) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,).

        A sample of weight k counts as k samples in fits and errors. ``params`` go to the splitter, if metadata routing
        is enabled.
        """
        _raise_for_params(params, self, "fit")
        self._check_parameters()
        weight = None if isinstance(sample_weight, Number) else sample_weight
        X, y, weight = check_linear_input(self, X, y, weight)
        y = _one_target(y)
        routed = process_routing(self, "fit", **params).splitter.split if _routing_enabled() else {}
        folds = list(check_cv(self.cv).split(X, y, **routed))

        grids = self._grids(X, y, weight)
        watch = self._watch(
            X, y, attributes=lambda coef: {"coef_": coef, "intercept_": self.intercept_}, max_iter=len(folds) + 1
        )
        errors = cross_validate_paths(X, y, weight, folds, self._settings(grids), watch)
        self._select(grids, errors)
        model = self._refit(X, y, weight)
        trace = _error_trace(self._l1_ratios(), grids, errors)
        watch(self.coef_)
        claims = (self._selection(), _fold_claim(errors.worst_gap))
        self._conclude(model.certificate_.with_claims(*claims), trace, X, y, weight)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata are passed on: to ``split`` of the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=check_cv(self.cv), method_mapping=mapping)

    def _check_parameters(self) -> None:
        check_positive(eps=self.eps)
        check_nonnegative(tol=self.tol)
        check_whole(max_iter=self.max_iter)
        check_one_of(("cyclic", "random"), selection=self.selection)
        check_one_of((True, False), fit_intercept=self.fit_intercept, positive=self.positive, copy_X=self.copy_X)
        for l1_ratio in self._l1_ratios():
            check_between(0, 1, l1_ratio=l1_ratio)

    def _l1_ratios(self) -> list[float]:
        return [float(l1_ratio) for l1_ratio in np.atleast_1d(self.l1_ratio)]

    def _grids(self, X: Array, y: Array, weight: Array | None) -> list[Array]:
        """Return one grid per l1_ratio; an automatic one depends on all data, as every fold must use the same."""
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=relative_weights(weight))
        automatic = isinstance(self.alphas, Integral)
        correlations = design.transposed_times(design.center(y)[0]) if automatic else np.zeros(0)
        return [
            alpha_grid(self.alphas, correlations, len(y), l1_ratio=l1_ratio, eps=self.eps, positive=self.positive)
            for l1_ratio in self._l1_ratios()
        ]

    def _settings(self, grids: list[Array]) -> PathSettings:
        return PathSettings(
            l1_ratios=self._l1_ratios(),
            grids=grids,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.random_state if self.selection == "random" else None,
        )

    def _select(self, grids: list[Array], errors: FoldErrors) -> None:
        mean_errors = errors.mse.mean(axis=-1)
        ratio, alpha = np.unravel_index(np.argmin(mean_errors), mean_errors.shape)
        self.alpha_ = float(grids[ratio][alpha])
        self._keep_l1_ratio(self._l1_ratios()[ratio])
        self.mse_path_ = np.squeeze(errors.mse)
        several = len(grids) > 1 and isinstance(self.alphas, Integral)
        self.alphas_ = np.asarray(grids) if several else grids[0]

    def _keep_l1_ratio(self, l1_ratio: float) -> None:
        self.l1_ratio_ = l1_ratio

    def _refit(self, X: Array, y: Array, weight: Array | None) -> ElasticNet:
        model = ElasticNet(
            alpha=self.alpha_,
            l1_ratio=getattr(self, "l1_ratio_", 1.0),
            fit_intercept=self.fit_intercept,
            precompute=self.precompute,
            max_iter=self.max_iter,
            tol=self.tol,
            positive=self.positive,
            random_state=self.random_state,
            selection=self.selection,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UncertifiedWarning)  # its claims become ours, which warn
            model.fit(X, y, sample_weight=weight, check_input=False)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        self.dual_gap_, self.n_iter_ = model.dual_gap_, model.n_iter_
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _selection(self) -> Claim:
        return selection_claim(
            self.mse_path_, self.alphas_, self.alpha_, self._l1_ratios(), getattr(self, "l1_ratio_", 1.0)
        )

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        weight = None if isinstance(sample_weight, Number) else sample_weight
        X, y, weight = check_linear_input(self, X, y, weight, reset=False)
        final = ElasticNet._prove_line(
            self,  # type: ignore[arg-type]  # the proof reads only attributes that both classes have
            X,
            _one_target(y),
            weight,
            alpha=self.alpha_,
            l1_ratio=getattr(self, "l1_ratio_", 1.0),
        )
        return final.with_claims(self._selection())


def _one_target(y: Array) -> Array:
    if y.ndim == 2 and y.shape[1] > 1:
        raise ValueError(
            f"y must be of shape (n_samples,), got {y.shape}. Choose the penalty of each target on its own."
        )
    return column_or_1d(y, warn=True)


def _fold_claim(worst_gap: float) -> Claim:
    return Claim(
        "folds",
        "largest duality gap of a path on a fold, relative to what tol allows",
        worst_gap,
        1.0,
        "Raise max_iter or tol, or standardize X.",
    )


def _error_trace(l1_ratios: list[float], grids: list[Array], errors: FoldErrors) -> Trace:
    trace = Trace()
    for l1_ratio, grid, of_folds in zip(l1_ratios, grids, errors.mse, strict=True):
        for alpha, mse in zip(grid, of_folds, strict=True):
            trace.add(
                iteration=len(trace), objective=mse.mean(), deviation=float(mse.std()), alpha=alpha, l1_ratio=l1_ratio
            )
    return trace
