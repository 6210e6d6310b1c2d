"""Distances of rows, by name or given, and the parts of a graph of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from pellucid.core.input_rules import InputRules
from pellucid.core.types import Array, Data, MetricLike, SparseOrDense
from pellucid.neighbors.metric import Metric
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.distance_matrix import check_distance_matrix

GIVEN = "precomputed"
NAMES = {*PAIRWISE_DISTANCE_FUNCTIONS, *(name for names in VALID_METRICS.values() for name in names)} - {"pyfunc"}
ROWS_AT_ONCE = 256


def is_given(metric: MetricLike) -> bool:
    """Return whether ``X`` holds distances of the rows instead of rows."""
    return isinstance(metric, str) and metric == GIVEN


def check_metric_name(metric: MetricLike) -> None:
    """Refuse names that stand for no metric."""
    if isinstance(metric, str) and metric not in NAMES:
        raise ValueError(f"metric must be one of {sorted(NAMES)} or a function of two rows, got {metric!r}.")


def all_distances(metric: Metric, X: Array) -> Array:
    """Return the distances of all rows, float64; given ones as they are, a function's looked at."""
    if is_given(metric.name):
        return np.array(X, dtype=np.float64)
    if not isinstance(metric.name, str):
        found = np.asarray(pairwise_distances(X, metric=metric.name, **metric.params), dtype=np.float64)
    else:
        X = np.asarray(X, dtype=np.float64)
        found = np.empty((len(X), len(X)))
        for start in range(0, len(X), ROWS_AT_ONCE):
            found[start : start + ROWS_AT_ONCE] = metric.table(X[start : start + ROWS_AT_ONCE], X)
    np.fill_diagonal(found, 0.0)
    check_distance_matrix(found)
    return found


def distances_to(metric: Metric, new: Array, X: SparseOrDense) -> Array:
    """Return the distances of new rows to all training rows, which may be given."""
    return np.asarray(new if is_given(metric.name) else metric.table(new, X), dtype=np.float64)


@dataclass(frozen=True)
class DistanceRules(InputRules):
    """Rules for rows, or for given distances of all rows, which are symmetric, at least 0, and 0 on the diagonal."""

    given: bool = False

    def check(self, estimator: Any, X: Data, *args: Any, **options: Any) -> TrainingData:
        """Return the training data; of given distances that differ by rounding, the mean of both."""
        data = super().check(estimator, X, *args, **options)
        if not self.given:
            return data
        check_distance_matrix(data.X)
        whole = data.X if np.array_equal(data.X, data.X.T) else (data.X + data.X.T) / 2.0
        if whole.diagonal().any():
            whole = whole - np.diag(whole.diagonal())
        return replace(data, X=whole)

    def check_rows(self, estimator: Any, X: Data) -> Any:
        """Return new rows, or their distances to all training rows."""
        X = super().check_rows(estimator, X)
        if self.given and X.min(initial=0.0) < 0.0:
            raise ValueError(f"X must have no negative numbers as distances of new rows, got {X.min():g}.")
        return X


MOST_NAMED = 5


def parts_of(graph: Any) -> list[Array]:
    """Return the rows of each part, in the order of their first rows."""
    n_parts, labels = connected_components(sparse.csr_array(graph), directed=False)
    return [np.flatnonzero(labels == label) for label in range(n_parts)]


def named(parts: Iterable[Array]) -> str:
    """Return a text that says how large the first parts are and which row each begins with.

    Examples
    --------
    >>> named([np.array([0, 2]), np.array([1])])
    '2 with row 0, 1 with row 1'
    """
    return listed(f"{len(part)} with row {part[0]}" for part in parts)


def listed(texts: Iterable[str]) -> str:
    """Return the first of some texts, with dots for the others."""
    every = list(texts)
    return ", ".join([*every[:MOST_NAMED], *(["..."] if len(every) > MOST_NAMED else [])])
