"""What centers say of rows: the nearest, the objective, all distances."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.cluster_sums import NOTHING, own_distances
from pellucid.cluster.kmeans.measured_rows import measured_rows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON

LOOKED_AT = 256
"""Rows whose nearest center a fit finds again from differences, at most."""
DIFFERENCES = 1 << 21
"""That this may take, for all rows and centers."""
DIGITS_LEFT = 1e-4
"""Part of the squares of row and center above which their distance is told from a product."""
ENTRIES_AT_ONCE = 1 << 18
"""Distances computed in one go, or entries of sparse rows that are filled up with zeros."""


def assign_rows(X: Any, centers: Array) -> Array:
    """Return the nearest center of each row, of equally near ones the first."""
    return nearest_centers(X, centers).finish()


def score_rows(X: Any, weight: Array | None, centers: Array) -> float:
    """Return the sum of squared distances of rows to their nearest centers."""
    nearest = nearest_centers(X, centers)
    return own_distances(nearest.rows, NOTHING if weight is None else weight, nearest.centers, nearest.bounds.labels)


def nearest_centers(X: Any, centers: Array) -> NearestCenters:
    """Return who is nearest to which of the centers."""
    centers = np.asarray(centers, dtype=np.float64)
    nearest = NearestCenters(measured_rows(X), centers)
    nearest.assign(centers)
    return nearest


def center_distances(X: Any, centers: Array) -> Array:
    """Return the distance of each row to each center.

    From products, and where these leave fewer than 12 digits, from differences.
    """
    centers = np.asarray(centers, dtype=np.float64)
    distances, middle = np.empty((X.shape[0], len(centers))), np.zeros(X.shape[1])
    if not sparse.issparse(X):
        middle = centers.mean(axis=0)
    moved = centers - middle
    sizes = np.einsum("kj,kj->k", moved, moved)

    def work(part: slice) -> None:
        rows = X[part].astype(np.float64) if sparse.issparse(X) else X[part] - middle
        own = (
            np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            if sparse.issparse(X)
            else np.einsum("ij,ij->i", rows, rows)
        )
        whole = own[:, None] + sizes
        squares = whole - 2.0 * np.asarray(rows @ moved.T)
        for k in range(len(centers)):
            close = np.flatnonzero(~(squares[:, k] > DIGITS_LEFT * whole[:, k]))
            if len(close):
                squares[close, k] = exact_distances(X[part][close], centers[k])
        np.sqrt(squares, out=distances[part])

    run_blocks(work, split_evenly(X.shape[0], 1 + X.shape[0] * max(centers.shape) // ENTRIES_AT_ONCE))
    return distances


def exact_distances(X: Any, center: Array) -> Array:
    """Return the sums of squared differences of rows from a center."""
    if not sparse.issparse(X):
        return np.square(np.subtract(X, center, dtype=np.float64)).sum(axis=1)
    distances = np.empty(X.shape[0])
    for piece in split_evenly(X.shape[0], 1 + X.shape[0] * X.shape[1] // ENTRIES_AT_ONCE):
        distances[piece] = exact_distances(X[piece].toarray(), center)
    return distances


def strays_of_some(X: Any, centers: Array, labels: Array) -> tuple[float, int]:
    """Return how many of some rows, told from differences, have a nearer center than their own, and of how many."""
    count = int(np.clip(DIFFERENCES / centers.size, LOOKED_AT // 16, LOOKED_AT))
    some = np.unique(np.linspace(0, X.shape[0] - 1, count).astype(np.intp))
    exact = np.stack([exact_distances(X[some], center) for center in centers], axis=1)
    own = exact[np.arange(len(some)), labels[some]]
    return float(np.sum(own > exact.min(axis=1) * (1.0 + 4 * EPSILON * X.shape[1]))), len(some)
