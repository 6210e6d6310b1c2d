"""A score with the interval in which it would fall on other test rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, rankdata
from sklearn.utils import check_consistent_length, column_or_1d

from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.types import Array, Data
from pellucid.model_selection.scores import SCORES, Score
from pellucid.probability.bootstrap import bootstrap

METHODS = ("auto", "exact", "bootstrap")


@dataclass(frozen=True, repr=False)
class ScoreInterval:
    """A score, its interval, and how the interval was found."""

    name: str
    score: float
    low: float
    high: float
    level: float
    method: str
    n_samples: int

    def __repr__(self) -> str:
        return f"{self.name} {self.score:.4g} [{self.low:.4g}, {self.high:.4g}] ({self.level:.0%}, {self.method})"


def score_interval(
    y_true: Data,
    y_pred: Data,
    metric: str | Callable[[Array, Array], float] = "accuracy",
    *,
    level: float = 0.95,
    method: str = "auto",
    n_resamples: int = 2000,
    random_state: Any = 0,
) -> ScoreInterval:
    """Return a score of predictions on test rows, with a confidence interval.

    Accuracy, error rate, precision and recall are shares of a count: their interval is Clopper and Pearson's, which
    covers at least at its level for every number of rows. All others are resampled with replacement (BCa); the area
    under the ROC curve within each class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Truth and prediction: labels, numbers, or scores of the second class for ``"roc auc"``.
    metric : str or callable (y_true, y_pred) -> float, default="accuracy"
        One of the names in ``SCORES``, or a function.
    level : float, default=0.95
        Confidence level.
    method : {"auto", "exact", "bootstrap"}, default="auto"
        ``exact`` for shares only.
    n_resamples : int, default=2000
        Resamples of the bootstrap.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the resamples.

    Examples
    --------
    >>> score_interval([0, 1, 1, 0, 1, 1, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0, 0, 1, 1, 1])
    accuracy 0.9 [0.555, 0.9975] (95%, exact binomial)
    """
    check_one_of(METHODS, method=method)
    check_whole(n_resamples=n_resamples)
    score = _find(metric)
    y, given = _checked(y_true, y_pred, score.kind)
    if method == "exact" and score.count is None:
        raise ValueError(f"method must be 'bootstrap' for {score.name}, got 'exact': it is no share of a count.")
    if score.count is not None and method != "bootstrap":
        return _exact(score, y, given, level)
    return _resampled(score, y, given, level, n_resamples, random_state)


def _find(metric: Any) -> Score:
    if callable(metric):
        return Score(getattr(metric, "__name__", "score"), lambda y, given: float(metric(y, given)), "anything")
    check_one_of(SCORES, metric=metric)
    return SCORES[metric]


def _checked(y_true: Data, y_pred: Data, kind: str) -> tuple[Array, Array]:
    y, given = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y, given)
    if len(y) == 0:
        raise ValueError("y_true must have at least one row, got none.")
    numbers = {"labels": (), "anything": (), "ranking": (given,), "numbers": (y, given)}[kind]
    for values in numbers:
        if values.dtype.kind not in "biuf" or not np.isfinite(values.astype(float)).all():
            raise ValueError(f"y_true and y_pred must hold finite numbers for this score, got {values.dtype}.")
    return y, given


def _exact(score: Score, y: Array, given: Array, level: float) -> ScoreInterval:
    assert score.count is not None
    successes, trials = score.count(y, given)
    if trials == 0:
        return ScoreInterval(score.name, 0.0, 0.0, 1.0, level, "no row counts: nothing is known", len(y))
    interval = binomtest(successes, trials).proportion_ci(level, method="exact")
    return ScoreInterval(
        score.name, successes / trials, float(interval.low), float(interval.high), level, "exact binomial", len(y)
    )


def _resampled(
    score: Score, y: Array, given: Array, level: float, n_resamples: int, random_state: Any
) -> ScoreInterval:
    options: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "random_state": random_state}
    if score.kind == "ranking":
        labels = np.unique(y)
        if len(labels) != 2:
            raise ValueError(f"y_true must have two classes for {score.name}, got {len(labels)}.")
        groups = [given[y == label].astype(float) for label in labels]
        found = bootstrap(*groups, statistic=_area, **options)
    else:
        codes = np.arange(len(y))  # labels need not be numbers: their rows are resampled
        found = bootstrap(codes, statistic=lambda rows: score.function(y[_rows(rows)], given[_rows(rows)]), **options)
    return ScoreInterval(
        score.name,
        float(found.estimate),
        float(found.low),
        float(found.high),
        level,
        f"bootstrap, {found.method}",
        len(y),
    )


def _rows(values: Array) -> Array:
    return np.asarray(values, dtype=np.intp)


def _area(lower: Array, upper: Array) -> float:
    """Return the share of pairs in which the second class has the larger score; ties count half."""
    ranks = rankdata(np.concatenate([lower, upper]))
    m, n = len(lower), len(upper)
    return float((ranks[m:].sum() - n * (n + 1) / 2) / (m * n))
