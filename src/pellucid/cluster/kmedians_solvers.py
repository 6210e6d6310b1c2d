"""k-medians: rows to their nearest centers, centers to the medians of their rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks, shares
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.training_data import TrainingData


def best_medians(data: TrainingData, start: Callable[[], Array], n_starts: int, effort: Effort) -> Fit:
    """Return the best of several starts; of equal ones the first."""
    fits = [k_medians(data, start(), effort) for _ in range(n_starts)]
    return min(fits, key=lambda fit: fit.attributes["inertia_"])


def k_medians(data: TrainingData, centers: Array, effort: Effort) -> Fit:
    """Return the end of the rounds from these centers: labels that the medians of their rows do not change.

    Centers are kept in the precision of the data, so that what is stored is what the last round saw.
    """
    X, weight, trace, stopped = data.X, data.weights, Trace(), "max_iter"
    centers, labels = centers.astype(X.dtype), np.full(len(X), -1, np.int32)
    for n_iter in range(1, effort.max_iter + 1):
        gaps = manhattan_distances(X, centers)
        nearest, distances = gaps.argmin(axis=1).astype(np.int32), gaps.min(axis=1)
        changed, labels = int(np.sum(nearest != labels)), nearest
        objective = float(weight @ distances)
        trace.add(iteration=n_iter, objective=objective, changed=changed)
        trace.keep(centers=centers)
        if effort.watch(centers) or changed == 0:
            stopped = "no row changes its cluster" if changed == 0 else "a callback"
            break
        if n_iter < effort.max_iter:
            centers = cluster_medians(X, weight, _without_empty(labels, distances, len(centers)), centers)
    attributes = {
        "cluster_centers_": centers,
        "labels_": data.spread(labels, fill=-1),
        "inertia_": objective,
        "n_iter_": n_iter,
    }
    return Fit(attributes, trace, stopped)


def manhattan_distances(X: Array, centers: Array) -> Array:
    """Return the Manhattan distance of each row to each center, in float64."""
    out = np.empty((len(X), len(centers)))
    wide = centers.astype(np.float64)

    def work(part: slice) -> None:
        cdist(X[part].astype(np.float64, copy=False), wide, "cityblock", out=out[part])

    run_blocks(work, shares(len(X), X.size * len(centers)))
    return out


def cluster_medians(X: Array, weight: Array, labels: Array, centers: Array) -> Array:
    """Return the median of the rows of each cluster, feature by feature; an empty one keeps its center."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(len(centers) + 1))
    found, is_plain = centers.copy(), bool(np.all(weight == weight[0]))
    for k in range(len(centers)):
        rows = order[ends[k] : ends[k + 1]]
        if len(rows):
            inside = X[rows].astype(np.float64)
            low, high = (np.median(inside, axis=0),) * 2 if is_plain else middle_values(inside, weight[rows])
            found[k] = low + (high - low) / 2
    return found


def _without_empty(labels: Array, distances: Array, n_clusters: int) -> Array:
    """Return labels in which each cluster has a row: an empty one gets the row farthest from its own center."""
    counts = np.bincount(labels, minlength=n_clusters)
    if counts.all():
        return labels
    labels = labels.copy()
    for empty, row in zip(np.flatnonzero(counts == 0), np.argsort(-distances, kind="stable"), strict=False):
        if distances[row] == 0.0:  # fewer different rows than clusters
            break
        labels[row] = empty
    return labels


def middle_values(X: Array, weight: Array) -> tuple[Array, Array]:
    """Return the lower and the upper median of each column: every number between them is a median.

    A weight of k counts as k repetitions. Weights that add up to one half of all, up to rounding, count as one half.

    Examples
    --------
    >>> low, high = middle_values(np.array([[1.0], [2.0], [5.0]]), np.array([1.0, 1.0, 2.0]))
    >>> low, high
    (array([2.]), array([5.]))
    """
    order = np.argsort(X, axis=0, kind="stable")
    values, heights = np.take_along_axis(X, order, axis=0), np.cumsum(weight[order], axis=0)
    half, slack = weight.sum() / 2, sum_error(len(weight)) * weight.sum()
    columns = np.arange(X.shape[1])
    return values[(heights >= half - slack).argmax(axis=0), columns], values[
        (heights > half + slack).argmax(axis=0), columns
    ]
