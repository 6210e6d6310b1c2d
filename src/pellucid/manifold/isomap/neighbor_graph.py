"""What both the search for a neighbor graph and its proof need: the metric and its distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array
from pellucid.manifold.dissimilarities import is_given
from pellucid.neighbors.metric import Metric

BLOCK_ENTRIES = 2**21
"""Distances of one block of rows: 16 MB."""


def graph_metric(parameters: Any) -> Metric:
    """Return the metric that the parameters of Isomap mean."""
    return Metric.resolve(parameters.metric, parameters.p, parameters.metric_params)


def distance_block(metric: Metric, queries: Any, X: Any) -> Array:
    """Return distances of some rows to all, float64; infinite where a given sparse matrix stores none."""
    if not is_given(metric.name):
        return np.asarray(metric.table(queries, X), dtype=np.float64)
    if not sparse.issparse(queries):
        return np.array(queries, dtype=np.float64)
    found, stored = np.full(queries.shape, np.inf), queries.tocoo()
    found[stored.row, stored.col] = stored.data
    return found
