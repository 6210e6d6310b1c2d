r"""Lloyd's method for k-means: rows go to their nearest center, centers to the mean of their rows, until nothing moves.

Distances come from :math:`\|x\|^2 - 2x'\mu + \|\mu\|^2`, with rows and centers moved to the middle of the centers, in
blocks. Where two centers are so near each other that rounding could have swapped them, squared differences are summed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans_kernels import add_rows, nearest_pass
from pellucid.cluster.kmeans_proof import kmeans_certificate, rounding_of_centers
from pellucid.core.effort import Effort
from pellucid.core.fit import Fit
from pellucid.core.rounding import EPSILON
from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.trace import Trace
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array

BLOCK = 1 << 16
"""Distances computed in one go."""

LOOKED_AT = 256
"""Rows whose nearest center a fit finds again from differences."""


def best_lloyd(data: TrainingData, start: Callable[[], Array], n_starts: int, effort: Effort) -> Fit:
    """Return the best of several runs, the first of equally good ones."""
    return min((lloyd(data, start(), effort) for _ in range(n_starts)), key=lambda fit: fit.attributes["inertia_"])


def lloyd(data: TrainingData, centers: Array, effort: Effort) -> Fit:
    """Return the fit from a start; ``effort.goal`` is a part of the mean variance of the features."""
    X, weight, trace = data.X, data.weights, Trace()
    goal, moved, before = effort.goal * mean_variance(X, weight), math.inf, np.full(X.shape[0], -1)
    stopped = "max_iter"
    for n_iter in range(1, effort.max_iter + 1):
        labels, distances = assign_rows(X, centers)
        means = cluster_means(X, weight, labels, distances, centers)
        last, moved = moved, float(np.sum((means - centers) ** 2))
        changed = int(np.count_nonzero(labels != before))
        trace.add(iteration=n_iter, objective=float(weight @ distances), changed=changed, moved=moved)
        trace.keep(centers=centers, labels=labels)
        if changed == 0 or max(last, moved) <= goal:  # twice: the next step from here is as short
            stopped = "no row changed its cluster" if changed == 0 else "centers moved less than tol"
            break
        if effort.watch(means):
            stopped = "callback"
            break
        centers, before = means, labels
    centers = centers.astype(X.dtype)
    labels, distances = assign_rows(X, centers)
    moved = float(np.sum((cluster_means(X, weight, labels, distances, centers) - centers) ** 2))
    some = np.unique(np.linspace(0, X.shape[0] - 1, LOOKED_AT).astype(np.intp))
    exact = np.stack([exact_distances(X[some], center) for center in centers], axis=1)
    strays = np.sum(exact[np.arange(len(some)), labels[some]] > exact.min(axis=1))
    certificate = kmeans_certificate(float(strays), moved, goal + rounding_of_centers(X, len(centers)), len(some))
    attributes = {
        "cluster_centers_": centers,
        "labels_": data.spread(labels, fill=-1),
        "inertia_": float(weight @ exact_distances(X, centers[labels])),
        "n_iter_": n_iter,
    }
    return Fit(attributes, trace, stopped, certificate)


def assign_rows(X: Any, centers: Array) -> tuple[Array, Array]:
    """Return the nearest center of each row, of equally near ones the first, and the squared distance to it."""
    labels, distances = np.empty(X.shape[0], np.int32), np.empty(X.shape[0])
    middle = _middle(X, centers)
    shifted = centers - middle
    sizes, slack = np.einsum("kj,kj->k", shifted, shifted), 16 * EPSILON * (X.shape[1] + 4)

    def work(part: slice) -> None:
        for rows in _blocks(part, max(centers.shape)):
            block = _moved_rows(X, rows, middle)
            products, close = np.asarray(block @ shifted.T), np.empty(rows.stop - rows.start, bool)
            nearest_pass(products, sizes, _row_sizes(block), slack, labels[rows], distances[rows], close)
            if close.any():
                which = np.flatnonzero(close) + rows.start
                exact = np.stack([exact_distances(X[which], center) for center in centers], axis=1)
                labels[which] = exact.argmin(axis=1)
                distances[which] = exact.min(axis=1)

    run_blocks(work, split_evenly(X.shape[0], thread_count()))
    return labels, distances


def cluster_means(X: Any, weight: Array, labels: Array, distances: Array, centers: Array) -> Array:
    """Return the mean of the rows of each cluster; an empty one gets the farthest row of all, if there is one."""
    labels = _without_empty_clusters(labels, distances, len(centers))
    total = np.bincount(labels, weights=weight, minlength=len(centers))[:, None]
    middle = _middle(X, centers)

    def work(part: slice) -> Array:
        sums = np.zeros(centers.shape)
        for rows in _blocks(part, X.shape[1]):
            if sparse.issparse(X):
                members = sparse.csr_array((weight[rows], (labels[rows], np.arange(rows.stop - rows.start))))
                part_sums = members @ X[rows]
                sums[: part_sums.shape[0]] += part_sums.toarray()
            else:
                add_rows(_moved_rows(X, rows, middle), weight[rows], labels[rows], sums)
        return sums

    sums = np.sum(run_blocks(work, split_evenly(X.shape[0], thread_count())), axis=0)
    return np.where(total > 0.0, middle + sums / np.where(total > 0.0, total, 1.0), centers)


def _without_empty_clusters(labels: Array, distances: Array, n_clusters: int) -> Array:
    counts = np.bincount(labels, minlength=n_clusters)
    if counts.all():
        return labels
    labels = labels.copy()
    for empty, row in zip(np.flatnonzero(counts == 0), np.argsort(-distances, kind="stable"), strict=False):
        if distances[row] == 0.0:  # fewer different rows than clusters
            break
        labels[row] = empty
    return labels


def plus_plus(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return rows drawn one by one, each the best of a few, with a chance that grows with the squared distance."""
    return _drawn_rows(data, n_clusters, rng, lambda squared: squared, n_trials=2 + int(math.log(n_clusters)))


def random_rows(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return different rows drawn one by one, as likely as their weights."""
    return _drawn_rows(data, n_clusters, rng, lambda squared: (squared > 0.0).astype(np.float64), n_trials=1)


def _drawn_rows(
    data: TrainingData, n_clusters: int, rng: np.random.RandomState, chance: Callable[[Array], Array], n_trials: int
) -> Array:
    """Draw rows with a chance that depends on the squared distance to the nearest one drawn before.

    They are drawn from the rows in an order that depends on their values alone, so that a weight does the same as
    repetitions, wherever these stand.
    """
    X, weight = data.X, data.weights
    order = np.argsort(np.asarray(X @ np.cos(np.arange(X.shape[1]))), kind="stable")
    chances, nearest = np.ones(X.shape[0]), np.full(X.shape[0], np.inf)
    centers: list[Array] = []
    while len(centers) < n_clusters:
        heights = np.cumsum((weight * chances)[order])
        places = np.searchsorted(heights, rng.uniform(size=n_trials if centers else 1) * heights[-1], side="right")
        trials = _picked(X, order[np.minimum(places, X.shape[0] - 1)])
        measured = [np.minimum(nearest, exact_distances(X, center)) for center in trials]
        best = int(np.argmin([float(weight @ distances) for distances in measured]))
        centers.append(trials[best])
        nearest = measured[best]
        chances = chance(nearest)
    return np.array(centers)


STARTS: dict[str, Callable[[TrainingData, int, np.random.RandomState], Array]] = {
    "k-means++": plus_plus,
    "random": random_rows,
}


def center_distances(X: Any, centers: Array) -> Array:
    """Return the distance of each row to each center."""
    return np.sqrt(np.stack([exact_distances(X, center) for center in centers], axis=1))


def exact_distances(X: Any, center: Array) -> Array:
    """Return the sums of squared differences of rows from a center, or each from its own."""
    if not sparse.issparse(X):
        return np.square(np.subtract(X, center, dtype=np.float64)).sum(axis=1)
    out = np.empty(X.shape[0])
    for rows in _blocks(slice(0, X.shape[0]), X.shape[1]):
        out[rows] = np.square(_picked(X, rows) - (center if center.ndim == 1 else center[rows])).sum(axis=1)
    return out


def mean_variance(X: Any, weight: Array) -> float:
    """Return the mean over the features of their variance."""
    total = weight.sum()
    if sparse.issparse(X):
        mean = np.asarray(X.T @ weight) / total
        return float(np.mean(np.maximum(np.asarray(X.multiply(X).T @ weight) / total - mean**2, 0.0)))
    mean = weight @ X / total
    return float(np.mean(weight @ np.square(X - mean) / total))


def _blocks(part: slice, width: int) -> Iterator[slice]:
    height = max(1, BLOCK // width)
    return (slice(start, min(start + height, part.stop)) for start in range(part.start, part.stop, height))


def _middle(X: Any, centers: Array) -> Array:
    """Return what rows and centers are moved by, so that distances keep their digits; sparse rows stay."""
    return np.zeros(centers.shape[1]) if sparse.issparse(X) else centers.mean(axis=0, dtype=np.float64)


def _moved_rows(X: Any, rows: slice, middle: Array) -> Any:
    return X[rows].astype(np.float64) if sparse.issparse(X) else np.subtract(X[rows], middle, dtype=np.float64)


def _picked(X: Any, rows: Any) -> Array:
    picked = X[rows]
    return np.asarray(picked.toarray() if sparse.issparse(picked) else picked, dtype=np.float64)


def _row_sizes(block: Any) -> Array:
    if sparse.issparse(block):
        return np.asarray(block.multiply(block).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", block, block)
