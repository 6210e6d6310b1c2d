"""ElasticNetCV and LassoCV: the elastic net and the lasso whose penalty cross-validation chooses."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.linear_model.linear_predictor import LinearPredictor
from pellucid.linear_model.sparse_regression.elastic_net_fit_solvers import Settings, design_of, elastic_net_fit
from pellucid.linear_model.sparse_regression.elastic_net_subproblem import selection_claim
from pellucid.linear_model.sparse_regression.enet_path import (
    FoldErrors,
    PathSettings,
    alpha_grid,
    cross_validate_paths,
    enet_path,
)
from pellucid.proofs.certificate import Claim
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import Design


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
    max_iter : int, default=1000
        Most passes of coordinate descent over the working set.
    tol : float, default=0.0001
        Duality gap to reach, as a fraction of the variance of ``y``.
    cv : int, splitter or iterable, default=None
        The folds; None for 5.
    copy_X, verbose, n_jobs
        Nothing changes: ``X`` is never changed, and folds run on all threads.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the coordinates if ``selection='random'``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates in a pass.

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
        random_state: RandomState = None,
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
        data = self._check(X, y, sample_weight)
        data = replace(data, y=_one_target(data.y))
        design = design_of(data, self.fit_intercept)
        watch = self._watch(data.X, data.y, attributes=lambda coef, b: {"coef_": coef, "intercept_": b})
        grids, folds = self._grids(data, design), self._folds(data, params)
        errors = cross_validate_paths(data.X, data.y, data.weight, folds, self._path_settings(grids), watch)
        alpha, l1_ratio = _best(grids, self._l1_ratios(), errors)
        final = elastic_net_fit(data, design, self._settings(alpha, l1_ratio))
        watch(final.attributes["coef_"], final.attributes["intercept_"])
        several = len(grids) > 1 and isinstance(self.alphas, Integral)
        attributes = {
            **final.attributes,
            **self._chosen(alpha, l1_ratio),
            "mse_path_": np.squeeze(errors.mse),
            "alphas_": np.asarray(grids) if several else grids[0],
        }
        assert final.certificate is not None
        selection = selection_claim(attributes["mse_path_"], attributes["alphas_"], alpha, self._l1_ratios(), l1_ratio)
        certificate = final.certificate.with_claims(selection, _fold_claim(errors.worst_gap))
        trace = _error_trace(self._l1_ratios(), grids, errors)
        return self._adopt(Fit(attributes, trace, certificate=certificate), data)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata are passed on: to ``split`` of the splitter."""
        from sklearn.model_selection import check_cv

        mapping = MethodMapping().add(caller="fit", callee="split")
        return MetadataRouter(owner=self).add_self_request(self).add(splitter=check_cv(self.cv), method_mapping=mapping)

    def _l1_ratios(self) -> list[float]:
        return [float(l1_ratio) for l1_ratio in np.atleast_1d(self.l1_ratio)]

    def _folds(self, data: TrainingData, params: dict[str, Any]) -> list[tuple[Array, Array]]:
        """Return the folds of the rows as they were given, without those of weight 0."""
        from sklearn.model_selection import PredefinedSplit, check_cv

        if data.folds is not None:
            return list(PredefinedSplit(data.folds).split())
        routed = process_routing(self, "fit", **params).splitter.split if _routing_enabled() else {}
        folds = list(check_cv(self.cv).split(*data.given[:2], **routed))
        return folds if data.kept is None else [(data.places(train), data.places(test)) for train, test in folds]

    def _grids(self, data: TrainingData, design: Design) -> list[Array]:
        """Return one grid per l1_ratio; an automatic one depends on all data, as every fold must use the same."""
        automatic = isinstance(self.alphas, Integral)
        correlations = design.transposed_times(design.center(data.y)[0]) if automatic else np.zeros(0)
        return [
            alpha_grid(self.alphas, correlations, len(data.y), l1_ratio=ratio, eps=self.eps, positive=self.positive)
            for ratio in self._l1_ratios()
        ]

    def _path_settings(self, grids: list[Array]) -> PathSettings:
        return PathSettings(
            l1_ratios=self._l1_ratios(),
            grids=grids,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            seed=self.random_state if self.selection == "random" else None,
        )

    def _settings(self, alpha: float, l1_ratio: float) -> Settings:
        return Settings(
            alpha=alpha,
            l1_ratio=l1_ratio,
            fit_intercept=self.fit_intercept,
            positive=self.positive,
            tol=self.tol,
            max_iter=self.max_iter,
            precompute=self.precompute,
            rng=check_random_state(self.random_state) if self.selection == "random" else None,
        )

    def _chosen(self, alpha: float, l1_ratio: float) -> dict[str, float]:
        return {"alpha_": alpha, "l1_ratio_": l1_ratio}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _best(grids: list[Array], l1_ratios: list[float], errors: FoldErrors) -> tuple[float, float]:
    """Return the penalty and the mix of smallest mean error, the first of equal ones."""
    means = errors.mse.mean(axis=-1)
    ratio, place = np.unravel_index(np.argmin(means), means.shape)
    return float(grids[ratio][place]), l1_ratios[ratio]


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
    max_iter : int, default=1000
        Most passes of coordinate descent over the working set.
    tol : float, default=0.0001
        Duality gap to reach, as a fraction of the variance of ``y``.
    copy_X, verbose, n_jobs
        Nothing changes: ``X`` is never changed, and folds run on all threads.
    cv : int, splitter or iterable, default=None
        The folds; None for 5.
    positive : bool, default=False
        Whether all coefficients must be at least 0.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the coordinates if ``selection='random'``.
    selection : {'cyclic', 'random'}, default='cyclic'
        Order of the coordinates in a pass.

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
        random_state: RandomState = None,
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
