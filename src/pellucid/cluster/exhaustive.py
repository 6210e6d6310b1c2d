"""exhaustive_clustering: the best of all clusterings of a few rows, under any score."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array

from pellucid.core.checks import check_whole
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.cluster.exhaustive import certify_exhaustive


@dataclass(frozen=True, eq=False)
class ExhaustiveClustering:
    """The best clustering of all, its score, and how many were looked at."""

    labels: Array
    score: float
    n_clusters: int
    n_partitions: int
    trace: Trace
    certificate: Certificate


def exhaustive_clustering(
    X: Data,
    score: Any = "inertia",
    *,
    n_clusters: int | None = None,
    maximize: bool = False,
    max_partitions: int = 200_000,
) -> ExhaustiveClustering:
    """Return the clustering of the rows with the least score, after a look at every one there is.

    Of equal scores the first in the order of labels counts: 0, 0, 0 comes before 0, 0, 1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows.
    score : {'inertia', 'diameter'} or callable, default='inertia'
        The sum of squared distances to the means, the largest distance within a cluster, or a function of ``X`` and
        the labels that returns a number; it must not depend on how clusters are numbered. NaN means: not this one.
    n_clusters : int or None, default=None
        How many clusters; None for any number, which takes a score that does not simply fall with it.
    maximize : bool, default=False
        Whether the largest score is the best.
    max_partitions : int, default=200000
        Most partitions to look at: Bell's numbers grow fast, 52 for 5 rows, 115,975 for 10.

    Examples
    --------
    >>> found = exhaustive_clustering([[0.0], [1.0], [5.0], [6.0]], n_clusters=2)
    >>> found.labels, found.score, found.n_partitions
    (array([0, 0, 1, 1]), 1.0, 7)
    >>> found.certificate.grade
    'optimal'
    """
    X = check_array(X, dtype=np.float64)
    check_whole(max_partitions=max_partitions)
    n, measure, sign = len(X), score_named(score), -1.0 if maximize else 1.0
    _refuse_too_many(n, n_clusters, max_partitions)
    best, best_labels, count, trace = math.inf, np.zeros(n, np.int64), 0, Trace()
    for labels in partitions(n, n_clusters):
        count += 1
        codes = np.array(labels)
        value = sign * float(measure(X, codes))
        if value < best:
            best, best_labels = value, codes
            trace.add(iteration=count, objective=sign * value, clusters=int(codes.max()) + 1)
    if math.isinf(best):
        raise ValueError("score must be a finite number for at least one clustering, got none. Look at the function.")
    certificate = certify_exhaustive(
        X, best_labels, score, sign * best, n_clusters=n_clusters, maximize=maximize, counted=count
    )
    warn_unless_holds(certificate, "exhaustive_clustering")
    return ExhaustiveClustering(best_labels, sign * best, int(best_labels.max()) + 1, count, trace, certificate)


def _refuse_too_many(n: int, n_clusters: int | None, max_partitions: int) -> None:
    if n_clusters is not None:
        check_whole(n_clusters=n_clusters)
        if n_clusters > n:
            raise ValueError(f"n_clusters must be at most the number of rows, got {n_clusters} for {n} rows.")
    count = partition_count(n, n_clusters)
    if count > max_partitions:
        into = "" if n_clusters is None else f" into {n_clusters}"
        raise ValueError(
            f"X must have few enough rows to look at every clustering, got {n} rows, which can be clustered{into} in "
            f"{count:,} ways. Raise max_partitions above that, or use KMeans or AgglomerativeClustering."
        )


def bell_number(n: int) -> int:
    """Return in how many ways n rows can be cut into clusters, by Bell's triangle.

    Examples
    --------
    >>> [bell_number(n) for n in range(7)]
    [1, 1, 2, 5, 15, 52, 203]
    """
    row = [1]
    for _ in range(n):
        following = [row[-1]]
        for value in row:
            following.append(following[-1] + value)
        row = following
    return row[0]


def stirling_number(n: int, k: int) -> int:
    """Return in how many ways n rows can be cut into k clusters: S(n, k) = k S(n - 1, k) + S(n - 1, k - 1).

    Examples
    --------
    >>> [stirling_number(5, k) for k in range(1, 6)]
    [1, 15, 25, 10, 1]
    """
    row = [1] + [0] * k
    for _ in range(n):
        row = [0] + [j * row[j] + row[j - 1] for j in range(1, k + 1)]
    return row[k]


def partition_count(n: int, k: int | None = None) -> int:
    """Return how many partitions there are, into k clusters or into any number."""
    return bell_number(n) if k is None else stirling_number(n, k)


def partitions(n: int, k: int | None = None) -> Iterator[list[int]]:
    """Yield the labels of every partition once, in the order of a dictionary; the same list, changed in place.

    The first row has the label 0, and no row has a label more than 1 above all before it.

    Examples
    --------
    >>> [labels.copy() for labels in partitions(3)]
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    labels, used = [0] * n, [1] * n  # used[i]: clusters among the rows up to i
    most = n if k is None else k
    while True:
        if k is None or used[-1] == k:
            yield labels
        i = n - 1
        while i > 0 and labels[i] == min(used[i - 1], most - 1):
            i -= 1
        if i == 0:
            return
        labels[i] += 1
        used[i] = max(used[i - 1], labels[i] + 1)
        for j in range(i + 1, n):
            labels[j], used[j] = 0, used[i]


Score = Callable[[Array, Array], float]


def inertia(X: Array, labels: Array) -> float:
    """Return the sum of squared distances to the means of the clusters."""
    total = 0.0
    for label in range(labels.max() + 1):
        rows = X[labels == label]
        total += float(np.square(rows - rows.mean(axis=0)).sum())
    return total


def diameter(X: Array, labels: Array) -> float:
    """Return the largest distance of two rows of a cluster."""
    gaps = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    return float(gaps[labels[:, None] == labels].max())


SCORES: dict[str, Score] = {"inertia": inertia, "diameter": diameter}


def score_named(score: Any) -> Score:
    """Return the function of a score that is given by its name, or is one."""
    if callable(score):
        return score
    if score not in SCORES:
        raise ValueError(f"score must be one of {tuple(SCORES)} or a function of X and labels, got {score!r}.")
    return SCORES[score]
