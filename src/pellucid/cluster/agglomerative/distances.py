"""Distances between rows as scikit-learn's clusterings understand their ``metric``."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import _VALID_METRICS

from pellucid.core.types import Array, MetricLike
from pellucid.solvers.distance_matrix import check_distance_matrix

EUCLIDEAN = ("euclidean", "l2")
PAIR_BY_PAIR = {**dict.fromkeys(EUCLIDEAN, "euclidean"), "l1": "cityblock", "manhattan": "cityblock"} | {
    name: name for name in ("cityblock", "chebyshev", "canberra", "braycurtis", "sqeuclidean")
}
"""Metrics in which the distance of two rows does not depend on the others, by SciPy's names."""


def check_rows(X: Array, n_clusters: int | None, metric: MetricLike) -> None:
    """Refuse more clusters than rows, what is no distance matrix, and rows that have no angle."""
    n = X.shape[0]
    if n_clusters is not None and n_clusters > n:
        raise ValueError(
            f"n_clusters must be at most the number of rows, got n_clusters={n_clusters} for {n} rows: "
            "Cannot extract more clusters than samples. Ask for fewer clusters."
        )
    if isinstance(metric, str) and metric == "precomputed":
        check_distance_matrix(X)
    if isinstance(metric, str) and metric == "cosine" and not X.any(axis=1).all():
        raise ValueError(
            f"X must have no rows of zeros for metric 'cosine', got one at row {int(X.any(axis=1).argmin())}. Cosine "
            "affinity cannot be used when X contains zero vectors: leave them out."
        )


def distance_matrix(X: Array, metric: MetricLike) -> Array:
    """Return all distances, in an array that may be written to; the upper side of a given matrix counts."""
    from sklearn.metrics import pairwise_distances

    if isinstance(metric, str) and metric == "precomputed":
        upper = np.triu(X.astype(np.float64), 1)
    elif callable(metric):
        upper = np.triu(np.asarray(metric(X), dtype=np.float64), 1)
    elif metric in PAIR_BY_PAIR:
        return cdist(X.astype(np.float64), X.astype(np.float64), PAIR_BY_PAIR[metric])
    else:
        upper = np.triu(np.asarray(pairwise_distances(X.astype(np.float64), metric=metric)), 1)
    upper += upper.T
    return upper


def paired_gaps(X: Array, first: Array, second: Array, metric: MetricLike) -> Array:
    """Return the distances of pairs of rows."""
    from sklearn.metrics.pairwise import paired_distances

    if isinstance(metric, str) and metric == "precomputed":
        return X[first, second].astype(np.float64)
    if isinstance(metric, str) and metric in EUCLIDEAN:
        return np.sqrt(np.square(X[first].astype(np.float64) - X[second]).sum(axis=1))
    X = X.astype(np.float64)
    return np.asarray(paired_distances(X[first], X[second], metric=metric), dtype=np.float64)


DEPEND_ON_ALL_ROWS = {"mahalanobis", "seuclidean", "nan_euclidean", "haversine"}
PAIR_METRICS = tuple(sorted({*_VALID_METRICS, "precomputed"} - DEPEND_ON_ALL_ROWS))


def distances_between(X: Array, Y: Array, metric: MetricLike) -> Array:
    """Return the distance of each row of X to each of Y, in float64; a function is asked for every pair."""
    one, other = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if isinstance(metric, str) and metric in PAIR_BY_PAIR:
        return cdist(one, other, PAIR_BY_PAIR[metric])
    return np.asarray(pairwise_distances(one, other, metric=metric), dtype=np.float64)
