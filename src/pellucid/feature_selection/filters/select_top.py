"""SelectTop: the columns that say most about the target, one by one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.feature_selection.filters.column_codes import FilterSelector, coded_columns, coded_target, numbers_of
from pellucid.feature_selection.filters.relevance_solvers import (
    Relevance,
    best_first,
    correlations,
    information_relevance,
)
from pellucid.proofs.training_data import TrainingData


class SelectTop(FilterSelector):
    r"""The k columns that are most related to the target, each looked at alone, with intervals.

    Correlation is :math:`|r|`; mutual information is :math:`\sum p(x, y)\log_2\frac{p(x, y)}{p(x)p(y)}` in bits, where
    columns and targets of many different numbers are cut into bins of nearly equal weight. Of equal scores the first
    column is taken.

    Parameters
    ----------
    k : int or 'all', default=10
        Columns to select at most.
    measure : {'mutual_information', 'correlation'}, default='mutual_information'
        How they are ranked; correlation needs a target of numbers or of two labels.
    n_bins : int, default=10
        Bins for columns with more different numbers, for mutual information.
    level : float, default=0.95
        Confidence of the intervals, between 0 and 1.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Size of the correlation, or bits.
    intervals_ : ndarray of shape (n_features, 2)
        Interval of each score: Fisher's for correlations, from the likelihood ratio for information.
    pvalues_ : ndarray of shape (n_features,)
        Chance of such a score, or a larger one, without any relation.
    ranking_ : ndarray of shape (n_features,)
        Columns in falling order of their scores.
    support_ : ndarray of shape (n_features,)
        Which columns are selected.
    certificate_, trace_ : Certificate, Trace
        The scores computed again by other code, and the equations of the intervals; score by score.

    Examples
    --------
    The first column tells all about the label, the second nothing.

    >>> model = SelectTop(1).fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "yes", "yes"])
    >>> model.scores_.round(12), model.get_support()
    (array([1., 0.]), array([ True, False]))
    """

    scores_: Array
    intervals_: Array
    pvalues_: Array
    ranking_: Array

    def __init__(
        self, k: int | str = 10, *, measure: str = "mutual_information", n_bins: int = 10, level: float = 0.95
    ) -> None:
        self.k = k
        self.measure = measure
        self.n_bins = n_bins
        self.level = level

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,), floats or labels."""
        data = self._check(X, y, sample_weight)
        found = _relevance(data, self)
        ranking, trace = best_first(found.scores), Trace()
        support = np.zeros(len(ranking), dtype=bool)
        support[ranking if self.k == "all" else ranking[: int(self.k)]] = True
        for place, column in enumerate(ranking):
            trace.add(iteration=place + 1, score=float(found.scores[column]), feature=float(column))
        attributes = {
            "scores_": found.scores,
            "intervals_": found.intervals,
            "pvalues_": found.pvalues,
            "ranking_": ranking,
            "support_": support,
        }
        return self._adopt(Fit(attributes, trace, "ranked"), data)


def _relevance(data: TrainingData, parameters: Any) -> Relevance:
    """Return scores of the kind that is asked for."""
    weight, level = data.weight, float(parameters.level)
    if parameters.measure == "mutual_information":
        columns = coded_columns(data.X, weight, parameters.n_bins)
        return information_relevance(columns, coded_target(data.y, weight, parameters.n_bins), weight, level)
    return correlations(data.X, numbers_of(data.y), weight, level)
