"""Speed of the neighbors family: fit and ten neighbors of every query. MNIST comes from the folder PELLUCID_DATA."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.neighbors as peer
from scipy.spatial import cKDTree

import pellucid.neighbors as ours
from benchmarks.harness import OURS, Row
from pellucid.core.threads import thread_count

K = 10


class Problem(NamedTuple):
    """Rows and queries."""

    X: np.ndarray
    queries: np.ndarray


def gaussian(n: int, p: int, n_queries: int) -> Problem:
    rng = np.random.default_rng(0)
    return Problem(rng.standard_normal((n, p)), rng.standard_normal((n_queries, p)))


def mnist(n_queries: int = 1000) -> Problem:
    """Return the digits if they are there, otherwise numbers of the same shape and about the same spectrum."""
    folder = Path(os.environ.get("PELLUCID_DATA", ".")) / "mnist"
    files = [folder / f"{part}-images-idx3-ubyte.gz" for part in ("train", "t10k")]
    if all(path.exists() for path in files):
        images = [
            np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=16).reshape(-1, 784) for path in files
        ]
        return Problem(images[0].astype(float), images[1][:n_queries].astype(float))
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((784, 784)) / np.arange(1.0, 785.0)[:, None]
    return Problem(*(rng.standard_normal((n, 784)) @ mixing for n in (60_000, n_queries)))


def total_distance(data: Problem, indices: np.ndarray) -> float:
    """Return the sum of the distances of the neighbors, from differences: smallest for the right ones."""
    pairs = zip(data.queries, indices, strict=True)
    return float(sum(np.linalg.norm(data.X[near] - query, axis=1).sum() for query, near in pairs))


def by_pellucid(data: Problem) -> np.ndarray:
    model = ours.KNeighborsRegressor(K).fit(data.X, data.X[:, 0])
    return model.kneighbors(data.queries)[1]


def by_scikit_learn(algorithm: str) -> Callable[[Problem], np.ndarray]:
    def search(data: Problem) -> np.ndarray:
        model = peer.KNeighborsRegressor(K, algorithm=algorithm, n_jobs=thread_count()).fit(data.X, data.X[:, 0])
        return model.kneighbors(data.queries)[1]

    return search


def by_scipy(data: Problem) -> np.ndarray:
    return cKDTree(data.X).query(data.queries, K, workers=thread_count())[1]


def faiss() -> dict[str, Callable[[Problem], Any]]:
    """Return the exact search of faiss, where that is installed; it works in single precision."""
    if not find_spec("faiss"):
        return {}
    import faiss as library

    def search(data: Problem) -> np.ndarray:
        library.omp_set_num_threads(thread_count())
        index = library.IndexFlatL2(data.X.shape[1])
        index.add(data.X.astype(np.float32))
        return index.search(data.queries.astype(np.float32), K)[1]

    return {"faiss": search}


class Labeled(NamedTuple):
    """Rows and their classes."""

    X: np.ndarray
    y: np.ndarray


def clouds(n: int, p: int) -> Labeled:
    """Return rows of ten classes around ten points."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n)
    return Labeled(rng.standard_normal((10, p))[y] + rng.standard_normal((n, p)), y)


def by_centroid(library: Any, **settings: Any) -> Callable[[Labeled], np.ndarray]:
    """Return the fit of centroids, and the answer to every row."""
    return lambda data: library.NearestCentroid(**settings).fit(data.X, data.y).predict(data.X)


def error_rate(data: Labeled, labels: np.ndarray) -> float:
    """Return the share of rows that are with another class."""
    return float(np.mean(labels != data.y))


def centroid_row(title: str, n: int, p: int, **settings: Any) -> Row:
    """Return a row about centroids."""
    entries = {OURS: by_centroid(ours, **settings), "scikit-learn": by_centroid(peer, **settings)}
    return Row(title, lambda: clouds(n, p), entries, error_rate, rounds=5)


def rows() -> list[Row]:
    """Return the rows of the table."""
    brute = {OURS: by_pellucid, "scikit-learn": by_scikit_learn("brute"), **faiss()}
    trees = {OURS: by_pellucid, "scikit-learn": by_scikit_learn("kd_tree"), "cKDTree": by_scipy}
    return [
        Row("50,000 x 50, 5,000 queries", lambda: gaussian(50_000, 50, 5000), brute, total_distance, rounds=3),
        Row("50,000 x 5, 50,000 queries", lambda: gaussian(50_000, 5, 50_000), trees, total_distance, rounds=5),
        Row("60,000 x 4, 60,000 queries", lambda: gaussian(60_000, 4, 60_000), trees, total_distance, rounds=5),
        Row("MNIST 60,000 x 784, 1,000 queries", mnist, brute, total_distance, rounds=3),
        centroid_row("centroids, 100,000 x 50", 100_000, 50),
        centroid_row("centroids, 20,000 x 784", 20_000, 784),
        centroid_row("centroids, 20,000 x 784, manhattan", 20_000, 784, metric="manhattan"),
    ]
