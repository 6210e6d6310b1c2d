"""MRMR: columns that say much about the target and little that is said already."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from pellucid.core.estimator import fit_method
from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.feature_selection.filters.column_codes import FilterSelector, coded_columns, coded_target
from pellucid.feature_selection.filters.relevance_solvers import informations
from pellucid.feature_selection.search.search_rules import best_of
from pellucid.proofs.training_data import TrainingData


class MRMR(FilterSelector):
    r"""Columns of maximal relevance and minimal redundancy, one after the other.

    .. math:: \max_j\ I(x_j; y) - \frac1{|S|}\sum_{s \in S} I(x_j; x_s)

    or the quotient of the two, with mutual information of binned columns in bits. Of equal columns the first is taken.

    Parameters
    ----------
    k : int, default=10
        Columns to select at most.
    criterion : {'difference', 'quotient'}, default='difference'
        How relevance and mean redundancy are weighed.
    n_bins : int, default=10
        Bins for columns with more different numbers.

    Attributes
    ----------
    order_ : ndarray of shape (k,)
        Columns in the order in which they were chosen.
    relevance_ : ndarray of shape (n_features,)
        Bits that each column tells about the target.
    redundancy_ : ndarray of shape (n_features, k)
        Bits that it shares with each chosen column.
    support_ : ndarray of shape (n_features,)
        Which columns are selected.
    certificate_, trace_ : Certificate, Trace
        Information computed again, and each step replayed; relevance and redundancy step by step.

    Examples
    --------
    The second column repeats the first; the third says something new.

    >>> X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> MRMR(2).fit(X, ["a", "b", "c", "d"]).order_
    array([0, 2])
    """

    order_: Array
    relevance_: Array
    redundancy_: Array

    def __init__(self, k: int = 10, *, criterion: str = "difference", n_bins: int = 10) -> None:
        self.k = k
        self.criterion = criterion
        self.n_bins = n_bins

    @fit_method
    def fit(self, X: Data, y: Data, sample_weight: Data | None = None) -> Self:
        """Fit to ``X`` of shape (n_samples, n_features) and ``y`` of shape (n_samples,), floats or labels."""
        data = self._check(X, y, sample_weight)
        return self._adopt(rank_by_mrmr(data, self), data)


def rank_by_mrmr(data: TrainingData, parameters: Any) -> Fit:
    """Return the columns in the order of choice, with what was compared."""
    columns = coded_columns(data.X, data.weight, parameters.n_bins)
    relevance = informations(columns, coded_target(data.y, data.weight, parameters.n_bins), data.weight)
    d, trace = len(columns), Trace()
    k = min(parameters.k, d)
    redundancy, order = np.zeros((d, k)), np.zeros(k, dtype=np.int64)
    support = np.zeros(d, dtype=bool)
    for step in range(k):
        values = criterion_values(relevance, redundancy[:, :step], parameters.criterion)
        chosen = best_of(np.where(support, -np.inf, values))
        order[step], support[chosen] = chosen, True
        shared = float(redundancy[chosen, :step].mean()) if step else 0.0
        redundancy[:, step] = informations(columns, columns[chosen], data.weight)
        trace.add(iteration=step + 1, relevance=float(relevance[chosen]), redundancy=shared, feature=float(chosen))
    attributes = {"order_": order, "relevance_": relevance, "redundancy_": redundancy, "support_": support}
    return Fit(attributes, trace, "ranked")


LEAST = 1e-12
"""Bits below which a redundancy counts as this, in the quotient."""


def criterion_values(relevance: Array, redundancy: Array, criterion: str) -> Array:
    """Return the criterion of each column, given what it shares with the chosen ones, a column for each of these."""
    if redundancy.shape[1] == 0:
        return relevance
    mean = redundancy.mean(axis=1)
    return relevance - mean if criterion == "difference" else relevance / np.maximum(mean, LEAST)
