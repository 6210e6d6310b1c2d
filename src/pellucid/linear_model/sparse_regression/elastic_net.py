"""ElasticNet: least squares with an l1 and a squared l2 penalty."""

from __future__ import annotations

import warnings
from numbers import Number
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, metadata_routing

from pellucid.core.certificate import Certificate
from pellucid.core.checks import check_between, check_nonnegative, check_one_of, check_whole
from pellucid.core.estimator import CertifiedEstimator, fit_method
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.watching import Watch
from pellucid.linear_model.linear_input import check_linear_input
from pellucid.linear_model.linear_predictor import LinearPredictor, one_target, stored_intercept
from pellucid.linear_model.relative_weights import relative_weights
from pellucid.linear_model.sparse_regression.elastic_net_path_solver import solve_at
from pellucid.linear_model.sparse_regression.elastic_net_penalty import ElasticNetPenalty
from pellucid.linear_model.sparse_regression.elastic_net_proof import (
    FittedElasticNet,
    elastic_net_certificate,
    gap_bound,
    intercept_bound,
    prove_elastic_net,
)
from pellucid.linear_model.sparse_regression.elastic_net_solvers import Iterate, PassBudget, gap_at
from pellucid.linear_model.sparse_regression.enet_path import enet_path
from pellucid.linear_model.sparse_regression.given_gram import given_gram
from pellucid.linear_model.worst_certificate import worst_certificate
from pellucid.numerics.design import Design, make_design
from pellucid.numerics.working_gram import WorkingGram


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
        Accepted for compatibility; ``X`` is never changed.
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
        random_state: Any = None,
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
        self._check_parameters()
        weight = None if isinstance(sample_weight, Number) else sample_weight
        if check_input:
            X, y, weight = check_linear_input(self, X, y, weight)
        relative = relative_weights(weight)
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=relative)
        gram = WorkingGram(design, given_gram(self.precompute, design))
        targets, y_means = design.center(y)
        targets, y_means = targets.reshape(len(y), -1), np.atleast_1d(y_means)
        starts = self._starts(targets.shape[1])

        trace = Trace()
        # The start of a target is watched as well, so there is one report more than iterations.
        watch, lines = self._watch_line(design, X, y, self.max_iter + 1), np.zeros((X.shape[1], targets.shape[1]))
        fits = [
            self._fit_target(X.dtype, gram, b, y_means[k], starts[k], trace, one_target(watch, lines, k))
            for k, b in enumerate(targets.T)
        ]
        self._store(fits, one_dimensional=y.ndim == 1)
        self._conclude(worst_certificate([fit["certificate"] for fit in fits]), trace, X, y, weight)
        return self

    @property
    def sparse_coef_(self) -> sparse.csr_array:
        """``coef_`` as a sparse matrix with one row per target."""
        return sparse.csr_array(np.atleast_2d(self.coef_))

    def _check_parameters(self) -> None:
        check_nonnegative(alpha=self.alpha, tol=self.tol)
        check_between(0, 1, l1_ratio=self.l1_ratio)
        check_whole(max_iter=self.max_iter)
        check_one_of(("cyclic", "random"), selection=self.selection)
        check_one_of(
            (True, False), fit_intercept=self.fit_intercept, positive=self.positive, warm_start=self.warm_start
        )
        if self.alpha == 0:
            warnings.warn(
                "alpha should be above 0, got 0. Without a penalty this is least squares: use LinearRegression.",
                stacklevel=2,
            )

    def _starts(self, n_targets: int) -> list[Array | None]:
        if not (self.warm_start and hasattr(self, "coef_")):
            return [None] * n_targets
        return list(np.atleast_2d(self.coef_))

    def _fit_target(
        self,
        dtype: Any,
        gram: WorkingGram,
        b: Array,
        y_mean: float,
        start: Array | None,
        trace: Trace,
        watch: Watch,
    ) -> dict[str, Any]:
        """Return the fitted attributes of one target and its certificate."""
        design, n = gram.design, len(b)
        penalty = ElasticNetPenalty.of(self.alpha, self.l1_ratio, n, positive=self.positive)
        mean_sq_target = float(b @ b) / n
        mean_sq_raw = mean_sq_target + float(y_mean) ** 2
        bound = gap_bound(self.tol, mean_sq_target, mean_sq_raw)
        budget = PassBudget(
            goal=n * bound,
            max_iter=self.max_iter,
            rng=check_random_state(self.random_state) if self.selection == "random" else None,
            watch=watch,
            trace=trace,
            scale=n,
            may_keep_start=start is not None,
            margin=0.5,  # a single fit can afford to end well below its bound
        )
        at = Iterate.start(gram, b, start)
        gap, n_iter = solve_at(gram, b, penalty, at, budget)
        line = _line(at.w, design, y_mean, dtype)
        _check_finite_line(line)
        w, intercept = line["coef_"].astype(np.float64), float(line["intercept_"])
        products = design.mean * w
        drift = y_mean - float(products.sum()) - intercept
        if dtype == np.float32 and self.alpha > 0:  # what is stored has fewer digits than what was found
            gap = gap_at(gram, b, penalty, w) + 0.5 * n * drift**2
        scale = np.sqrt(mean_sq_raw) + float(np.abs(products).sum()) + abs(intercept)
        certificate = elastic_net_certificate(
            gap=gap / n,
            bound=bound,
            discrepancy=0.0,
            reproduced=bound,
            drift=abs(drift),
            drift_bound=intercept_bound(intercept, scale, dtype),
        )
        return {**line, "dual_gap_": gap / n, "n_iter_": n_iter, "certificate": certificate}

    def _store(self, fits: list[dict[str, Any]], *, one_dimensional: bool) -> None:
        if len(fits) == 1:
            self.coef_, self.dual_gap_, self.n_iter_ = (fits[0][name] for name in ("coef_", "dual_gap_", "n_iter_"))
        else:
            self.coef_ = np.array([fit["coef_"] for fit in fits])
            self.dual_gap_ = np.array([fit["dual_gap_"] for fit in fits])
            self.n_iter_ = [fit["n_iter_"] for fit in fits]
        intercepts = np.array([fit["intercept_"] for fit in fits])
        self.intercept_ = stored_intercept(
            intercepts, fit_intercept=self.fit_intercept, one_dimensional=one_dimensional
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _prove(self, X: Data, y: Data, sample_weight: Data | None = None) -> Certificate:
        weight = None if isinstance(sample_weight, Number) else sample_weight
        X, y, weight = check_linear_input(self, X, y, weight, reset=False)
        return self._prove_line(X, y, weight, alpha=self.alpha, l1_ratio=self.l1_ratio)

    def _prove_line(self, X: Array, y: Array, weight: Array | None, *, alpha: float, l1_ratio: float) -> Certificate:
        relative = relative_weights(weight)
        X = X.astype(np.float64, copy=False)
        y = y.astype(np.float64, copy=False).reshape(len(y), -1)
        coefs, intercepts = np.atleast_2d(self.coef_), np.broadcast_to(self.intercept_, y.shape[1])
        gaps = np.atleast_1d(self.dual_gap_)
        return worst_certificate(
            [
                prove_elastic_net(
                    X,
                    y[:, k],
                    np.ones(len(y)) if relative is None else relative,
                    FittedElasticNet(
                        coef=coefs[k],
                        intercept=float(intercepts[k]),
                        dual_gap=float(gaps[k]),
                        alpha=float(alpha),
                        l1_ratio=float(l1_ratio),
                        fit_intercept=self.fit_intercept,
                        positive=self.positive,
                        tol=self.tol,
                    ),
                )
                for k in range(y.shape[1])
            ]
        )


def _line(w: Array, design: Design, y_mean: float, dtype: Any) -> dict[str, Any]:
    coef = w.astype(dtype)
    return {"coef_": coef, "intercept_": dtype.type(y_mean - float((design.mean * coef).sum()))}


def _check_finite_line(line: dict[str, Any]) -> None:
    if not (np.isfinite(line["coef_"]).all() and np.isfinite(line["intercept_"])):
        raise ValueError("X and y must have products within the range of floats, got an overflow. Rescale them.")
