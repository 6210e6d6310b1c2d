"""The proof that a penalty chosen by folds, or by a scorer, is the best of those tried: every score once more.

The fits of the folds are made again by a singular value decomposition, which is no code of the solver.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import svd

from pellucid.linear_model.ridge.given_predictions import GivenPredictions
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.training_data import TrainingData

SAME_SCORE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""Difference of two scores, relative to the larger of 1 and the score, that rounding may make; by dtype of the rows."""


def search_claims(fitted: Any, parameters: Any, data: TrainingData) -> tuple[Claim, ...]:
    """Return the claims about ``alpha_`` and ``best_score_``; none where the folds are drawn anew at each use.

    Nor where all targets of a fold are equal: of a constant R2 knows right from wrong only, which rounding decides.
    """
    if not _repeats(parameters.cv) or not all(np.ptp(data.given[1][test]) > 0 for _, test in _folds(parameters, data)):
        return ()
    alphas = np.atleast_1d(np.asarray(parameters.alphas, dtype=np.float64)).ravel()
    scores = _mean_scores(parameters, data, alphas)
    chosen = np.flatnonzero(alphas == fitted.alpha_)
    own = float(scores[chosen[0]]) if len(chosen) else -np.inf
    size = max(1.0, float(np.abs(scores).max()))
    bound = SAME_SCORE[np.dtype(data.X.dtype)]
    return (
        Claim(
            "penalty",
            "score of the best penalty above that of alpha_, relative",
            (float(scores.max()) - own) / size,
            bound,
            "Refit: alpha_ is not the best of alphas on these data.",
        ),
        Claim("score", "difference of best_score_ from that score", abs(fitted.best_score_ - own) / size, bound),
    )


def left_out_scores(predictions: Array, y: Array, weight: Array | None, parameters: Any) -> Array:
    """Return the score of each penalty for predictions of shape (n, t, a): per target, or a row for all together."""
    from sklearn.metrics import check_scoring

    scorer = check_scoring(estimator=GivenPredictions(), scoring=parameters.scoring)
    options = {} if weight is None else {"sample_weight": weight}
    groups = [[k] for k in range(y.shape[1])] if parameters.alpha_per_target else [list(range(y.shape[1]))]
    return np.array(
        [
            [
                scorer(GivenPredictions(), predictions[:, group, a].squeeze(), y[:, group].squeeze(), **options)
                for a in range(predictions.shape[2])
            ]
            for group in groups
        ]
    )


def _repeats(cv: Any) -> bool:
    """Return whether the folds are the same when asked for again."""
    is_drawn = getattr(cv, "random_state", 0) is None and getattr(cv, "shuffle", True)
    return not is_drawn and not hasattr(cv, "__next__")


def _mean_scores(parameters: Any, data: TrainingData, alphas: Array) -> Array:
    """Return the mean score of each penalty over the folds of the given rows."""
    from sklearn.metrics import check_scoring

    X, y, given = data.given
    rows = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    weight = np.ones(len(rows)) if given is None else given
    scorer = check_scoring(estimator=GivenPredictions(), scoring=parameters.scoring)
    scores = []
    for train, test in _folds(parameters, data):
        predictions = _predictions(rows, y, weight, train, test, alphas, fit_intercept=parameters.fit_intercept)
        options = {} if given is None or not _takes_weights(scorer) else {"sample_weight": given[test]}
        scores.append([scorer(GivenPredictions(), predicted, y[test], **options) for predicted in predictions])
    return np.mean(scores, axis=0)


def _folds(parameters: Any, data: TrainingData) -> Any:
    from sklearn.model_selection import check_cv

    return check_cv(parameters.cv).split(*data.given[:2])


def _takes_weights(scorer: Any) -> bool:
    """Return whether a search hands the weights on to the scorer."""
    if hasattr(scorer, "_accept_sample_weight"):
        return bool(scorer._accept_sample_weight())
    return "sample_weight" in signature(scorer).parameters


def _predictions(
    X: Array, y: Array, weight: Array, train: Array, test: Array, alphas: Array, *, fit_intercept: bool
) -> list[Array]:
    """Return what each penalty predicts for the test rows after a fit to the training rows."""
    share = weight[train] / weight[train].sum()
    mean, y_mean = (share @ X[train], share @ y[train]) if fit_intercept else (np.zeros(X.shape[1]), 0.0)
    root = np.sqrt(weight[train])
    left, s, right = svd(root[:, None] * (X[train] - mean), full_matrices=False, check_finite=False)
    along = left.T @ (root * (y[train] - y_mean).T).T
    rows = (X[test] - mean) @ right.T
    directions = s > 100 * np.finfo(float).eps * s.max(initial=0.0)
    found = []
    for alpha in alphas:
        shrunk = np.where(directions, s / np.where(directions, s**2 + alpha, 1.0), 0.0)
        found.append(y_mean + (rows * shrunk) @ along)
    return found
