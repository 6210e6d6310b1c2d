"""Distances between rows as scikit-learn's agglomerative clustering understands its ``metric``."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from pellucid.core.types import Array

EUCLIDEAN = ("euclidean", "l2")
PAIR_BY_PAIR = {**dict.fromkeys(EUCLIDEAN, "euclidean"), "l1": "cityblock", "manhattan": "cityblock"} | {
    name: name for name in ("cityblock", "chebyshev", "canberra", "braycurtis", "sqeuclidean")
}
"""Metrics in which the distance of two rows does not depend on the others, by SciPy's names."""

TILE = 256
"""Rows and columns of a matrix that are compared with their mirror image in one go."""
ASYMMETRY = 1e-10
"""Relative difference between the two sides of a distance matrix that counts as rounding."""


def check_rows(X: Array, n_clusters: int | None, metric: Any) -> None:
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


def check_distance_matrix(D: Array) -> None:
    """Refuse what is not a matrix of distances."""
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"Distance matrix should be square, got matrix of shape {D.shape}. Pass rows with a metric.")
    size = max(float(D.max()), -float(D.min()))
    diagonal = np.abs(np.diagonal(D))
    if diagonal.max() > ASYMMETRY * size:
        i = int(diagonal.argmax())
        raise ValueError(f"X must have zeros on its diagonal as a distance matrix, got {D[i, i]:g} at row {i}.")
    gap, row, other = _largest_asymmetry(D)
    if gap > ASYMMETRY * size:
        raise ValueError(
            f"X must be symmetric as a distance matrix, got {D[row, other]:g} at ({row}, {other}) and "
            f"{D[other, row]:g} at ({other}, {row}). Take the mean of both sides."
        )
    if D.min() < 0.0:
        raise ValueError(f"X must have no negative numbers as a distance matrix, got {D.min():g}.")


def _largest_asymmetry(D: Array) -> tuple[float, int, int]:
    """Return the largest difference of the two sides of a matrix and where it is, tile by tile."""
    worst = (0.0, 0, 0)
    for top, left in combinations_with_replacement(range(0, len(D), TILE), 2):
        gaps = np.abs(D[top : top + TILE, left : left + TILE] - D[left : left + TILE, top : top + TILE].T)
        place = int(gaps.argmax())
        if gaps.flat[place] > worst[0]:
            worst = (float(gaps.flat[place]), top + place // gaps.shape[1], left + place % gaps.shape[1])
    return worst


def distance_matrix(X: Array, metric: Any) -> Array:
    """Return all distances, in an array that may be written to; the upper side of a given matrix counts."""
    if isinstance(metric, str) and metric == "precomputed":
        upper = np.triu(X.astype(np.float64), 1)
    elif callable(metric):
        upper = np.triu(np.asarray(metric(X), dtype=np.float64), 1)
    elif metric in PAIR_BY_PAIR:
        return cdist(X.astype(np.float64), X.astype(np.float64), PAIR_BY_PAIR[metric])
    else:
        upper = np.triu(np.asarray(pairwise_distances(X, metric=metric), dtype=np.float64), 1)
    upper += upper.T
    return upper


def paired_gaps(X: Array, first: Array, second: Array, metric: Any) -> Array:
    """Return the distances of pairs of rows."""
    from sklearn.metrics.pairwise import paired_distances

    if isinstance(metric, str) and metric == "precomputed":
        return X[first, second].astype(np.float64)
    if isinstance(metric, str) and metric in EUCLIDEAN:
        return np.sqrt(np.square(X[first].astype(np.float64) - X[second]).sum(axis=1))
    return np.asarray(paired_distances(X[first], X[second], metric=metric), dtype=np.float64)
