"""Greedy choice by relevance and redundancy: the information of a chosen column with all others is computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.fit import Fit
from pellucid.core.trace import Trace
from pellucid.feature_selection.filters.column_codes import coded_columns, coded_target
from pellucid.feature_selection.filters.mrmr_criterion import criterion_values
from pellucid.feature_selection.filters.relevance_solvers import informations
from pellucid.feature_selection.search.set_choice import best_of
from pellucid.proofs.training_data import TrainingData


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
