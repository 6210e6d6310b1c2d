"""RidgeCV: ridge regression whose penalty is chosen by leave-one-out or another cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import MultiOutputMixin, RegressorMixin
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
from pellucid.core.types import Array, Data, SparseOrDense
from pellucid.core.user_warnings import warn_user
from pellucid.linear_model.least_squares.least_squares_fits import fit_directly
from pellucid.linear_model.linear_predictor import CertifiedLine
from pellucid.linear_model.ridge.ridge import Ridge
from pellucid.linear_model.ridge.ridge_cv_solvers import GivenPredictions, leave_one_out
from pellucid.proofs.certificate import Claim
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.design import Design, make_design

TIE = 1e-6
"""Relative difference of two mean squared errors below which they count as equal."""


class RidgeCV(CertifiedLine, MultiOutputMixin, RegressorMixin, CertifiedEstimator):
    r"""Ridge regression with the penalty that predicts left-out rows best.

    .. math:: \hat\alpha = \arg\min_\alpha \frac1n\sum_i s_i\,\bigl(y_i - \hat y^{(-i)}_\alpha(x_i)\bigr)^2

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        Penalties to try, above 0 (at least 0 with ``cv``).
    fit_intercept : bool, default=True
        Whether to learn an intercept.
    scoring : str, callable or None, default=None
        What to maximize; None is the negative mean squared error, or R2 with ``cv``.
    cv : int, splitter, iterable or None, default=None
        None leaves out one row at a time, exactly and without refitting; anything else is a grid search.
    gcv_mode : {'auto', 'svd', 'eigen'} or None, default=None
        Nothing changes: eigenvectors are used where they keep all digits, an SVD where they would not.
    store_cv_results : bool, default=False
        Whether to keep ``cv_results_`` (leave-one-out only).
    alpha_per_target : bool, default=False
        Whether each target chooses its own penalty (leave-one-out only).

    Attributes
    ----------
    alpha_, best_score_ : float or ndarray of shape (n_targets,)
        The chosen penalty (the first of equals) and its score.
    cv_results_ : ndarray of shape (n_samples, n_alphas) or (n_samples, n_targets, n_alphas)
        Squared left-out errors, or left-out predictions with ``scoring``.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        :math:`w` at ``alpha_``.
    intercept_ : float or ndarray of shape (n_targets,)
        :math:`b`.
    certificate_ : Certificate
        That of :class:`Ridge` at ``alpha_``, and that no other penalty scores better.
    trace_ : Trace
        One row per penalty: its score, negated.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> RidgeCV(alphas=[0.01, 100.0]).fit(X, [0.0, 1.0, 2.1, 2.9]).alpha_
    0.01
    """

    alpha_: Any
    best_score_: Any
    cv_results_: Array

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None, **params: Any) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,) or (n_samples, n_targets)."""
        _raise_for_params(params, self, "fit")
        data = self._check(X, y, sample_weight)
        alphas = self._alphas()
        X, y, weight = data.X, data.y, data.weight
        if self.gcv_mode == "svd" and sparse.issparse(X):
            warn_user(
                "The 'svd' mode is not supported for sparse X and will be refused by scikit-learn 1.11. Leave it out.",
                FutureWarning,
            )
        design = make_design(X, fit_intercept=self.fit_intercept, sample_weight=weight)
        targets = y.reshape(len(y), -1).astype(np.float64, copy=False)
        # With hardly more rows than columns the fit may pass through every row, which only the rows' form survives.
        gram = design.gram() if design.shape[0] > design.shape[1] + 1 else None
        if self.cv is None:
            scores, chosen = self._choose_by_leaving_out(X, design, targets, y, weight, alphas, gram, params)
        else:
            scores, chosen = self._choose_by_grid(data, alphas, params)
        return self._adopt(self._final_fit(data, design, gram, scores, chosen), data)

    def _alphas(self) -> Array:
        return np.atleast_1d(np.asarray(self.alphas, dtype=np.float64)).ravel()

    def _final_fit(
        self, data: TrainingData, design: Design, gram: Array | None, scores: Array, chosen: dict[str, Any]
    ) -> Fit:
        """Return the fit to all rows with the penalty that was chosen by the scores."""
        targets = data.y.reshape(len(data.y), -1).astype(np.float64, copy=False)
        penalty = np.broadcast_to(chosen["alpha_"], targets.shape[1:])
        line = fit_directly(design, targets, penalty, one_target=data.y.ndim == 1, gram=gram)
        claims: tuple[Claim, ...] = ()
        if self.cv is None and self.scoring is None:
            claims = (_penalty_claim(-np.atleast_1d(chosen["best_score_"]), -scores.max(axis=1)),)
        trace = _penalty_trace(self._alphas(), scores)
        return self._fit_of(line, design, data, trace=trace, claims=claims, **chosen)

    def _choose_by_leaving_out(
        self,
        X: SparseOrDense,
        design: Design,
        targets: Array,
        y: Array,
        weight: Array | None,
        alphas: Array,
        gram: Array | None,
        params: dict[str, Any],
    ) -> tuple[Array, dict[str, Any]]:
        """Return the scores, a row per target (or one) and a column per alpha, and what was chosen by them."""
        b, y_mean = design.center(targets)
        keep = self.store_cv_results or self.scoring is not None
        own = np.ones(len(y)) if weight is None else weight

        def refit(row: int, alpha: float) -> Array:
            others = np.where(np.arange(len(y)) == row, 0.0, own)
            without = make_design(X, fit_intercept=self.fit_intercept, sample_weight=others)
            fit = fit_directly(without, targets, np.full(targets.shape[1], alpha), one_target=y.ndim == 1)
            predicted = fit.intercept + (design.raw_rows(slice(row, row + 1)) @ fit.coef)[0]
            return np.sqrt(own[row]) * (targets[row] - predicted)

        loo = leave_one_out(design, b, alphas, gram=gram, refit=refit, keep_errors=keep)
        scores = -loo.mean_squares  # (t, a)
        kept = None if loo.errors is None else loo.errors**2
        if self.scoring is not None:
            assert loo.errors is not None
            kept = _left_out_predictions(b, loo.errors, y_mean, weight)
            scores = self._scores(kept, targets, weight, params)
        scores, chosen = self._best_of(scores)
        if self.store_cv_results:
            assert kept is not None
            chosen["cv_results_"] = kept[:, 0, :] if y.ndim == 1 else kept
        return scores, chosen

    def _best_of(self, scores: Array) -> tuple[Array, dict[str, Any]]:
        """Return the scores that decide, of each target or their mean, and the first penalty of those that are best."""
        if not self.alpha_per_target:
            scores = scores.mean(axis=0, keepdims=True)
        best = np.argmax(scores, axis=1)
        score = scores[np.arange(len(scores)), best]
        if len(scores) > 1:
            return scores, {"alpha_": self._alphas()[best], "best_score_": score}
        return scores, {"alpha_": float(self._alphas()[best[0]]), "best_score_": float(score[0])}

    def _scores(self, predictions: Array, targets: Array, weight: Array | None, params: dict[str, Any]) -> Array:
        """Return the score of each penalty, of shape (t, a) per target or (1, a) for all together."""
        scorer = self._scorer()
        options = {} if weight is None else {"sample_weight": weight}
        if _routing_enabled():
            options = process_routing(self, "fit", **params, **options).scorer.score
        identity = GivenPredictions()
        n_alphas = predictions.shape[2]
        if self.alpha_per_target:
            return np.array(
                [
                    [scorer(identity, predictions[:, k, a], targets[:, k], **options) for a in range(n_alphas)]
                    for k in range(targets.shape[1])
                ]
            )
        if targets.shape[1] == 1:
            targets, predictions = targets[:, 0], predictions[:, 0, :]
        return np.array([[scorer(identity, predictions[..., a], targets, **options) for a in range(n_alphas)]])

    def _choose_by_grid(
        self, data: TrainingData, alphas: Array, params: dict[str, Any]
    ) -> tuple[Array, dict[str, Any]]:
        from sklearn.model_selection import GridSearchCV, PredefinedSplit

        X, y, weight = data.given
        cv = self.cv if data.folds is None else PredefinedSplit(data.folds)
        ridge = Ridge(fit_intercept=self.fit_intercept)
        if weight is not None:
            params = {**params, "sample_weight": weight}
        if _routing_enabled():
            ridge.set_fit_request(sample_weight=True)
        search = GridSearchCV(ridge, {"alpha": alphas}, cv=cv, scoring=self._scorer(), refit=False)
        search.fit(X, y, **params)
        chosen = {"alpha_": float(search.best_params_["alpha"]), "best_score_": float(search.best_score_)}
        return np.asarray(search.cv_results_["mean_test_score"])[None, :], chosen

    def _scorer(self) -> Any:
        from sklearn.metrics import check_scoring

        if _routing_enabled() and self.scoring is None:
            return check_scoring(estimator=self, scoring="r2").set_score_request(sample_weight=True)
        return check_scoring(estimator=self, scoring=self.scoring, allow_none=True)

    def get_metadata_routing(self) -> Any:
        """Return scikit-learn's routing of metadata to the scorer and the splitter."""
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(scorer=self._scorer(), method_mapping=MethodMapping().add(caller="fit", callee="score"))
            .add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        )


def _penalty_trace(alphas: Array, scores: Array) -> Trace:
    trace = Trace()
    for number, (alpha, column) in enumerate(zip(alphas, scores.T, strict=True), start=1):
        trace.add(iteration=number, objective=-float(column.mean()), alpha=float(alpha))
    return trace


def _left_out_predictions(b: Array, errors: Array, y_mean: Array, weight: Array | None) -> Array:
    """Return left-out predictions in the units of ``y``, of shape (n, t, a)."""
    predictions = b[:, :, None] - errors
    if weight is not None:
        root = np.sqrt(weight)
        predictions = predictions / np.where(root > 0, root, 1.0)[:, None, None]
    return predictions + y_mean[None, :, None]


def _penalty_claim(own: Array, best: Array) -> Claim:
    """Return the claim that the mean squared left-out errors ``own`` are no larger than the ``best``."""
    excess = np.max((own - best) / np.where(best > 0, best, 1.0))
    statement = "left-out error of alpha_ above the least of all alphas, relative"
    return Claim("penalty", statement, float(np.maximum(excess, 0.0)), TIE)
