"""k-means of one column: clusters are intervals, and a dynamic program finds the best of all."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.kmeans_line_kernels import add_cluster
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

MOST_ENTRIES = 1 << 24
"""Of the table of cuts, different values times clusters, up to which it is made."""


def best_line_centers(data: TrainingData, n_clusters: int) -> tuple[Array, float] | None:
    """Return the centers of the best clustering of one column, and its objective, less what rounding can add.

    None for several columns, and for too many or too few different values.
    """
    if data.X.shape[1] != 1:
        return None
    column = (data.X.toarray() if sparse.issparse(data.X) else data.X).ravel().astype(np.float64)
    values, places = np.unique(column, return_inverse=True)
    if not n_clusters < len(values) <= MOST_ENTRIES // n_clusters:
        return None
    weight = np.bincount(places, weights=data.weight, minlength=len(values))
    middle = weight @ values / weight.sum()
    moved = values - middle
    sums = [np.concatenate(([0.0], np.cumsum(terms))) for terms in (weight, weight * moved, weight * moved**2)]
    before, cuts = np.full(len(values) + 1, np.inf), np.zeros((n_clusters, len(values) + 1), np.int32)
    before[0] = 0.0
    for k in range(n_clusters):
        after = np.full(len(values) + 1, np.inf)
        add_cluster(*sums, before, after, cuts[k])
        before = after
    stop, centers = len(values), np.empty((n_clusters, 1))
    for k in reversed(range(n_clusters)):
        start = int(cuts[k, stop])
        centers[k] = middle + weight[start:stop] @ moved[start:stop] / weight[start:stop].sum()
        stop = start
    return centers, max(float(before[-1]) - 8 * EPSILON * np.sqrt(len(values)) * float(sums[2][-1]), 0.0)
