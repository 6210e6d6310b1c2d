"""The scores that have a name here: scikit-learn's functions, and which of them are shares of a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import metrics

from pellucid.core.types import Array

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
"""Name -> score."""
