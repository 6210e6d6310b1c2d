"""Proof of an exhaustive clustering: all partitions were counted, and none has a better score.

Partitions are made a second time by another way, from the last row to the first: each row joins a cluster that is there
or begins one. Of more than so many a random sample is scored again, which proves no optimum: the grade is ``bounded``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.sampling import draws, in_percent, most_wrong

MOST_SCORED = 2000


def certify_exhaustive(
    X: Array,
    labels: Array,
    score: Any,
    value: float,
    *,
    n_clusters: int | None = None,
    maximize: bool = False,
    counted: int | None = None,
    most_scored: int = MOST_SCORED,
) -> Certificate:
    """Return what is known of the best clustering of all: scores of all others, or of a random sample, again."""
    measure, sign = SCORES[score] if isinstance(score, str) else score, -1.0 if maximize else 1.0
    n, total = len(X), _ways(n_clusters)(len(X), 0)
    own = float(measure(X, np.asarray(labels)))
    bound = sum_error(X.size) * max(abs(own), abs(value))
    tried = list(_all(n, n_clusters)) if total <= most_scored else _drawn(n, n_clusters, most_scored)
    gaps = [sign * (value - float(measure(X, codes))) for codes in tried]
    best = float(np.nanmax([0.0, *gaps]))
    of = f"{total:,} clusterings"
    if len(tried) < total:
        share = in_percent(most_wrong(len(tried)))
        of = f"{len(tried):,} of {total:,} clusterings, drawn at random (at most {share} better, at 99 %)"
    claims = [
        Claim("score", "distance of the score from its recomputed value", abs(own - value), bound),
        Claim("no better", f"by how much one of {of} is better", best, bound),
    ]
    if counted is not None:
        claims.append(Claim("counted", "clusterings missed of all there are", abs(float(total - counted)), 0.0))
    return Certificate("optimal" if len(tried) == total else "bounded", tuple(claims))


def _all(n: int, k: int | None) -> Iterator[Array]:
    """Yield every partition once, made from the last row on."""

    def extend(row: int, clusters: list[list[int]]) -> Iterator[Array]:
        if row < 0:
            if k is None or len(clusters) == k:
                yield _codes(n, clusters)
            return
        for cluster in list(clusters):
            cluster.append(row)
            yield from extend(row - 1, clusters)
            cluster.pop()
        clusters.append([row])
        yield from extend(row - 1, clusters)
        clusters.pop()

    return extend(n - 1, [])


def _codes(n: int, clusters: list[list[int]]) -> Array:
    codes = np.empty(n, np.int64)
    for label, rows in enumerate(sorted(clusters, key=min)):
        codes[rows] = label
    return codes


def _ways(k: int | None) -> Callable[[int, int], int]:
    """Return the function that counts how the rest of the rows can follow when so many clusters are there."""

    @cache
    def ways(rows_left: int, used: int) -> int:
        if rows_left == 0:
            return int(k is None or used == k)
        return used * ways(rows_left - 1, used) + ways(rows_left - 1, used + 1)

    return ways


def _drawn(n: int, k: int | None, count: int) -> list[Array]:
    """Return partitions drawn at random, all as likely."""
    rng, ways, found = draws(), _ways(k), []
    for _ in range(count):
        codes, used = np.zeros(n, np.int64), 0
        for row, left in enumerate(range(n - 1, -1, -1)):
            joins = used * ways(left, used) / ways(left + 1, used)
            codes[row] = rng.integers(used) if rng.uniform() < joins else used
            used = max(used, int(codes[row]) + 1)
        found.append(codes)
    return found


def _inertia(X: Array, labels: Array) -> float:
    """Return the squared distances of pairs in a cluster over its size, which is those of its rows to their mean."""
    squares = cdist(X, X, "sqeuclidean")
    clusters = [squares[np.ix_(own, own)] for own in (np.flatnonzero(labels == k) for k in np.unique(labels))]
    return float(sum(part.sum() / (2.0 * len(part)) for part in clusters))


def _diameter(X: Array, labels: Array) -> float:
    """Return the largest distance of two rows of one cluster."""
    return float(cdist(X, X)[labels[:, None] == labels].max())


SCORES: dict[str, Callable[[Array, Array], float]] = {"inertia": _inertia, "diameter": _diameter}
