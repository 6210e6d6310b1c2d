"""Named scores, and a score with the interval in which it would fall on other test rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest, rankdata
from sklearn import metrics
from sklearn.utils import check_consistent_length, column_or_1d

from pellucid.core.checks import check_one_of, check_whole
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.bootstrap import bootstrap

METHODS = ("auto", "exact", "bootstrap")
Count = Callable[[Array, Array], tuple[int, int]]
"""From truth and prediction to (successes, trials), the same for every resample of the rows that count."""


@dataclass(frozen=True)
class Score:
    """A score of predictions; ``count`` makes it a share, ``kind`` says what it needs."""

    name: str
    function: Callable[[Array, Array], float]
    kind: str
    count: Count | None = None


def _right(y: Array, given: Array) -> tuple[int, int]:
    return int(np.sum(y == given)), len(y)


def _wrong(y: Array, given: Array) -> tuple[int, int]:
    return int(np.sum(y != given)), len(y)


def _found(y: Array, given: Array) -> tuple[int, int]:
    positive = y == positive_label(y, given)
    return int(np.sum(positive & (given == y))), int(np.sum(positive))


def _true_among_called(y: Array, given: Array) -> tuple[int, int]:
    called = given == positive_label(y, given)
    return int(np.sum(called & (given == y))), int(np.sum(called))


def positive_label(y: Array, given: Array) -> Any:
    """Return the second of two labels, the one that recall and precision are about."""
    labels = np.unique(np.concatenate([y, given]))
    if len(labels) > 2:
        raise ValueError(f"y_true must have two classes for this score, got {len(labels)}. Use accuracy.")
    return labels[-1]


def _of_positive(function: Callable[..., float]) -> Callable[[Array, Array], float]:
    return lambda y, given: float(function(y, given, pos_label=positive_label(y, given), zero_division=0.0))


SCORES = {
    score.name: score
    for score in (
        Score("accuracy", lambda y, given: float(np.mean(y == given)), "labels", _right),
        Score("error rate", lambda y, given: float(np.mean(y != given)), "labels", _wrong),
        Score("precision", _of_positive(metrics.precision_score), "labels", _true_among_called),
        Score("recall", _of_positive(metrics.recall_score), "labels", _found),
        Score("f1", _of_positive(metrics.f1_score), "labels"),
        Score("roc auc", lambda y, score: float(metrics.roc_auc_score(y, score)), "ranking"),
        Score("mse", lambda y, given: float(metrics.mean_squared_error(y, given)), "numbers"),
        Score("rmse", lambda y, given: float(metrics.root_mean_squared_error(y, given)), "numbers"),
        Score("rss", lambda y, given: float(np.sum((y - given) ** 2)), "numbers"),
        Score("mae", lambda y, given: float(metrics.mean_absolute_error(y, given)), "numbers"),
        Score("r2", lambda y, given: float(metrics.r2_score(y, given)), "numbers"),
    )
}
"""Name -> score: scikit-learn's functions, and which of them are shares of a count."""


@dataclass(frozen=True, repr=False)
class ScoreInterval:
    """A score, its interval, and how the interval was found."""

    name: str
    """Name of the score."""
    score: float
    """The score on the rows given."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    level: float
    """Confidence level, between 0 and 1."""
    method: str
    """How the interval was found, in words, such as ``exact binomial``."""
    n_samples: int
    """Rows that were predicted."""

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
    random_state: RandomState = 0,
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


def _find(metric: str | Callable[..., float]) -> Score:
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
    score: Score, y: Array, given: Array, level: float, n_resamples: int, random_state: RandomState
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
