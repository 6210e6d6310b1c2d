"""The methods that are compared on a table, and how each does."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from pellucid.cluster import AgglomerativeClustering, KMeans, KMedoids, SpectralClustering, silhouette_score
from pellucid.cluster.choosing.criteria import agreement, labels_of
from pellucid.core.types import Array
from pellucid.mixture import GaussianMixture

BOOTSTRAPS = 5
NEIGHBORS = 10
LEAST_VARIANCE = 0.01
"""Added to the variances of a mixture, whose columns have a variance of about 1: words of one cluster have none."""
NEARLY = 0.02
"""A mean silhouette that is larger by less is no reason to prefer another method to k-means."""


@dataclass(frozen=True)
class ClusterMethod:
    """A way to find clusters: ``make(k, n_rows, seed)`` returns the estimator."""

    name: str
    make: Callable[[int, int, int], Any]
    assigns: bool
    """Whether it can say of new rows where they belong, so that a model can be made of it."""
    most_rows: int | None = None
    """Rows that a model of it may be fitted to."""


METHODS = (
    ClusterMethod("k-means", lambda k, _n, seed: KMeans(k, n_init=10, random_state=seed), True),
    ClusterMethod("k-medoids", lambda k, _n, seed: KMedoids(k, random_state=seed), True, most_rows=5000),
    ClusterMethod(
        "Gaussian mixture",
        lambda k, _n, seed: GaussianMixture(
            k, covariance_type="diag", reg_covar=LEAST_VARIANCE, n_init=3, random_state=seed
        ),
        True,
    ),
    ClusterMethod("agglomerative (Ward)", lambda k, _n, _seed: AgglomerativeClustering(k), False),
    ClusterMethod(
        "spectral (neighbors)",
        lambda k, n, seed: SpectralClustering(
            k, affinity="nearest_neighbors", n_neighbors=min(NEIGHBORS, n), random_state=seed
        ),
        False,
    ),
)
"""The first is the one that is chosen if no other is clearly better."""


@dataclass(frozen=True)
class ClusterMethodScore:
    """How a method does with the chosen number of clusters, on the rows that all methods were compared on."""

    method: ClusterMethod
    silhouette: float
    stability: float
    stability_error: float
    smallest: int
    """Rows of its smallest cluster."""
    agreement: float
    """Adjusted Rand index with the clusters of the first method."""
    seconds: float
    failure: str = ""


def compare_methods(X: Array, k: int, seed: int, listen: Callable[[str], None]) -> list[ClusterMethodScore]:
    """Return the scores of all methods, in their order."""
    scores: list[ClusterMethodScore] = []
    first: Array | None = None
    for method in METHODS:
        listen(method.name)
        try:
            score, labels = _score(method, X, k, seed, first)
        except (ValueError, np.linalg.LinAlgError) as error:
            nan = math.nan
            scores.append(ClusterMethodScore(method, nan, nan, nan, 0, nan, nan, str(error)))
            continue
        first = labels if first is None else first
        scores.append(score)
    return scores


def _score(method: ClusterMethod, X: Array, k: int, seed: int, first: Array | None) -> tuple[ClusterMethodScore, Array]:
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of graphs in pieces, and of rows drawn twice: the scores tell
        labels = labels_of(method.make(k, len(X), seed).fit(X), X)
        seconds = time.monotonic() - start
        rng = np.random.default_rng(seed)
        found = [
            agreement(lambda rows, new: method.make(k, len(rows), new).fit(rows), X, labels, rng)
            for _ in range(BOOTSTRAPS)
        ]
    counts = np.unique(labels, return_counts=True)[1]
    silhouette = silhouette_score(X, labels) if 1 < len(counts) < len(X) else math.nan
    score = ClusterMethodScore(
        method,
        silhouette,
        float(np.mean(found)),
        float(np.std(found, ddof=1)) / math.sqrt(BOOTSTRAPS),
        int(counts.min()),
        1.0 if first is None else float(adjusted_rand_score(first, labels)),
        seconds,
    )
    return score, labels


def best_method(scores: list[ClusterMethodScore], n_rows: int) -> ClusterMethodScore:
    """Return the first method, or one that assigns new rows too and has a clearly larger silhouette."""
    able = [
        score
        for score in scores
        if score.method.assigns and n_rows <= (score.method.most_rows or n_rows) and not math.isnan(score.silhouette)
    ]
    if not able:
        return scores[0]
    best = max(able, key=lambda score: score.silhouette)
    return able[0] if best.silhouette < able[0].silhouette + NEARLY else best
