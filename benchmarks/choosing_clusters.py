"""Speed of silhouettes and of spectral clustering, at the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn.cluster as peer
import sklearn.metrics as peer_metrics
from scipy import sparse
from sklearn.datasets import make_moons

import pellucid.cluster as ours
from benchmarks.harness import OURS, Row


class Clusters(NamedTuple):
    """Rows and their clusters."""

    X: np.ndarray
    labels: np.ndarray


def blobs(n: int, p: int, k: int) -> Clusters:
    rng = np.random.default_rng(0)
    labels = rng.integers(k, size=n)
    return Clusters(rng.standard_normal((n, p)) + 3.0 * rng.standard_normal((k, p))[labels], labels)


def moons(n: int) -> Clusters:
    return Clusters(*make_moons(n, noise=0.06, random_state=0))


def silhouettes(n: int, p: int, k: int) -> Row:
    return Row(
        f"silhouettes {n:,} x {p}, k = {k}",
        lambda: blobs(n, p, k),
        {
            OURS: lambda data: ours.silhouette_samples(data.X, data.labels),
            "sklearn": lambda data: peer_metrics.silhouette_samples(data.X, data.labels),
        },
        lambda data, found: 1.0 + distance_from_exact(data, found),
    )


def distance_from_exact(data: Clusters, found: np.ndarray) -> float:
    """Return how far the silhouettes of some rows are from those by definition: nobody may look at fewer pairs."""
    worst = 0.0
    for i in range(0, len(found), 997):
        distances = np.sqrt(np.square(data.X - data.X[i]).sum(axis=1))
        means = np.bincount(data.labels, distances) / np.bincount(data.labels)
        own = int(data.labels[i])
        members = int(np.sum(data.labels == own))
        a, b = means[own] * members / (members - 1), np.delete(means, own).min()
        worst = max(worst, abs(float((b - a) / max(a, b)) - float(found[i])))
    return worst


def cut_links(_data: Clusters, model: Any) -> float:
    """Return the links that the clusters cut, as a part of all links of each: what spectral clustering makes small."""
    links = model.affinity_matrix_
    links = links.toarray() if sparse.issparse(links) else np.array(links)
    np.fill_diagonal(links, 0.0)
    clusters = [model.labels_ == k for k in np.unique(model.labels_)]
    return float(sum(1.0 - links[np.ix_(rows, rows)].sum() / links[rows].sum() for rows in clusters))


def spectral(name: str, prepare: Callable[[], Clusters], **settings: Any) -> Row:
    def by(kind: Any) -> Callable[[Clusters], Any]:
        return lambda data: kind(random_state=0, **settings).fit(data.X)

    return Row(
        f"spectral {name}",
        prepare,
        {OURS: by(ours.SpectralClustering), "sklearn": by(peer.SpectralClustering)},
        cut_links,
        slack=1e-3,
    )


def rows() -> list[Row]:
    """Return the rows of the table."""
    return [
        silhouettes(20_000, 10, 8),
        silhouettes(20_000, 50, 20),
        silhouettes(5_000, 2, 3),
        spectral("3,000 blobs x 10", lambda: blobs(3000, 10, 8), n_clusters=8, gamma=0.1),
        spectral("3,000 moons", lambda: moons(3000), n_clusters=2, gamma=20.0),
        spectral("3,000 moons, neighbors", lambda: moons(3000), n_clusters=2, affinity="nearest_neighbors"),
    ]
