"""Distances of rows to medoids, by scikit-learn's names."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import _VALID_METRICS

from pellucid.cluster.agglomerative.distances import PAIR_BY_PAIR
from pellucid.core.types import Array

DEPEND_ON_ALL_ROWS = {"mahalanobis", "seuclidean", "nan_euclidean", "haversine"}
METRICS = tuple(sorted({*_VALID_METRICS, "precomputed"} - DEPEND_ON_ALL_ROWS))


def distances_between(X: Array, Y: Array, metric: Any) -> Array:
    """Return the distance of each row of X to each of Y, in float64; a function is asked for every pair."""
    one, other = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if isinstance(metric, str) and metric in PAIR_BY_PAIR:
        return cdist(one, other, PAIR_BY_PAIR[metric])
    return np.asarray(pairwise_distances(one, other, metric=metric), dtype=np.float64)
