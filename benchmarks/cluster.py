"""Speed of clustering: k-means from the same start, to the same fixed point."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import sklearn.cluster as peer

import pellucid.cluster as ours
from benchmarks.harness import OURS, Row
from pellucid.core.threads import thread_count

ROUNDS = 100


class Problem(NamedTuple):
    """Rows and the centers to start from."""

    X: np.ndarray
    start: np.ndarray


def blobs(n: int, p: int, k: int) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) + 3.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]
    return Problem(X, X[:k].copy())


def inertia(data: Problem, centers: np.ndarray) -> float:
    """Return the sum of squared distances to the nearest center."""
    blocks = (data.X[i : i + 1000] for i in range(0, len(data.X), 1000))
    return float(sum(np.square(block[:, None] - centers).sum(axis=2).min(axis=1).sum() for block in blocks))


def by(kind: Any, **settings: Any) -> Callable[[Problem], np.ndarray]:
    def fit(data: Problem) -> np.ndarray:
        return kind(len(data.start), init=data.start, n_init=1, max_iter=ROUNDS, tol=0.0, **settings).fit(data.X)

    return lambda data: fit(data).cluster_centers_


def faiss() -> dict[str, Callable[[Problem], Any]]:
    """Return the k-means of faiss, where that is installed; it works in single precision and does all its rounds."""
    if not find_spec("faiss"):
        return {}
    import faiss as library

    def fit(data: Problem) -> np.ndarray:
        library.omp_set_num_threads(thread_count())
        most = len(data.X)
        machine = library.Kmeans(data.X.shape[1], len(data.start), niter=ROUNDS, max_points_per_centroid=most)
        machine.train(data.X.astype(np.float32), init_centroids=data.start.astype(np.float32))
        return machine.centroids.astype(np.float64)

    return {"faiss": fit}


def rows() -> list[Row]:
    """Return the rows of the table."""
    contenders = {
        OURS: by(ours.KMeans),
        "sklearn lloyd": by(peer.KMeans, algorithm="lloyd"),
        "sklearn elkan": by(peer.KMeans, algorithm="elkan"),
        **faiss(),
    }
    shapes = ((20_000, 10, 8), (50_000, 50, 20), (10_000, 100, 100))
    return [
        Row(f"KMeans {n:,} x {p}, k = {k}", lambda n=n, p=p, k=k: blobs(n, p, k), contenders, inertia, slack=1e-4)
        for n, p, k in shapes
    ]
