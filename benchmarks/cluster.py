"""Speed of k-means: from the same start to the same fixed point, its start alone, and from batches."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import sklearn.cluster as peer
from rich.console import Console
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

import pellucid.cluster as ours
from benchmarks.growth import print_growth
from benchmarks.harness import OURS, Row
from benchmarks.linear_classifiers import mnist, reuters
from pellucid.core.threads import thread_count

ROUNDS = 300


class Problem(NamedTuple):
    """Rows, the centers to start from, and how many rounds the plain method takes from there."""

    X: Any
    start: np.ndarray
    n_rounds: int


def problem(X: Any, k: int) -> Problem:
    start = X[:k].toarray() if sparse.issparse(X) else X[:k].copy()
    return Problem(X, start, ours.KMeans(k, init=start, tol=0.0, max_iter=ROUNDS).fit(X).n_iter_)


def blobs(n: int, p: int, k: int) -> Problem:
    rng = np.random.default_rng(0)
    return problem(rng.standard_normal((n, p)) + 3.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)], k)


def tf_idf() -> Problem:
    return problem(sparse.csr_array(TfidfTransformer().fit_transform(reuters().X)), 20)


def inertia(data: Problem, centers: np.ndarray) -> float:
    """Return the sum of squared distances to the nearest center."""
    model = peer.KMeans(len(centers), init=centers, n_init=1, max_iter=1)
    model.cluster_centers_, model._n_threads, model.n_features_in_ = centers.astype(np.float64), 1, data.X.shape[1]
    return -float(model.score(data.X))


def by(kind: Any, **settings: Any) -> Callable[[Problem], np.ndarray]:
    def fit(data: Problem) -> Any:
        return kind(len(data.start), init=data.start, n_init=1, max_iter=ROUNDS, tol=0.0, **settings).fit(data.X)

    return lambda data: fit(data).cluster_centers_


def faiss() -> dict[str, Callable[[Problem], Any]]:
    """Return the k-means of faiss, where that is installed: in single precision, with as many rounds as are needed."""
    if not find_spec("faiss"):
        return {}
    import faiss as library

    def fit(data: Problem) -> np.ndarray:
        library.omp_set_num_threads(thread_count())
        most = len(data.X)
        machine = library.Kmeans(data.X.shape[1], len(data.start), niter=data.n_rounds, max_points_per_centroid=most)
        machine.train(data.X.astype(np.float32), init_centroids=data.start.astype(np.float32))
        return machine.centroids.astype(np.float64)

    return {"faiss": fit}


def to_convergence(name: str, prepare: Callable[[], Problem], rounds: int = 5, *, dense: bool = True) -> Row:
    """Return a row for k-means from a given start."""
    contenders = {
        OURS: by(ours.KMeans),
        "sklearn lloyd": by(peer.KMeans, algorithm="lloyd"),
        "sklearn elkan": by(peer.KMeans, algorithm="elkan"),
    }
    return Row(name, prepare, contenders | (faiss() if dense else {}), inertia, slack=1e-4, rounds=rounds)


def start_alone(n: int, p: int, k: int) -> Row:
    """Return a row for k-means++: the objective of the rows drawn, the mean of three seeds."""

    def draw(function: Callable[..., Any]) -> Callable[[Problem], Any]:
        return lambda data: [function(data.X, k, random_state=seed)[0] for seed in range(3)]

    def objective(data: Problem, starts: Any) -> float:
        return float(np.mean([inertia(data, centers) for centers in starts]))

    contenders = {OURS: draw(ours.kmeans_plusplus), "sklearn": draw(peer.kmeans_plusplus)}
    name = f"k-means++ alone {n:,} x {p}, k = {k}"
    return Row(name, lambda: blobs(n, p, k), contenders, objective, slack=0.1, rounds=5)


def from_batches(n: int, p: int, k: int) -> Row:
    """Return a row for k-means from batches: the sum of three seeds."""

    def fit(kind: Any) -> Callable[[Problem], Any]:
        return lambda data: [kind(k, random_state=seed, n_init=1).fit(data.X).inertia_ for seed in range(3)]

    contenders = {OURS: fit(ours.MiniBatchKMeans), "sklearn": fit(peer.MiniBatchKMeans)}
    name = f"MiniBatchKMeans {n:,} x {p}, k = {k}"
    return Row(name, lambda: blobs(n, p, k), contenders, lambda _data, found: float(sum(found)), slack=0.05, rounds=3)


def rows() -> list[Row]:
    """Return the rows of the table; without PELLUCID_DATA real data are numbers of the same shape."""
    shapes = ((100_000, 20, 50), (1_000_000, 8, 16), (20_000, 50, 500))
    table = [
        to_convergence(f"KMeans {n:,} x {p}, k = {k}", lambda n=n, p=p, k=k: blobs(n, p, k), rounds=3)
        for n, p, k in shapes
    ]
    table += [
        to_convergence("KMeans MNIST 60,000 x 784, k = 10", lambda: problem(mnist().X, 10), rounds=3),
        to_convergence("KMeans Reuters sparse 8,293 x 18,933, k = 20", tf_idf, dense=False),
    ]
    starts = [start_alone(n, p, k) for n, p, k in shapes]
    return [*table, *starts, from_batches(1_000_000, 20, 10)]


def report(console: Console, only: str) -> None:
    """Print how time and memory of 20 rounds grow, unless other rows are asked for."""
    if only:
        return
    sizes = (
        (50_000, 20, 25), (100_000, 20, 25), (200_000, 20, 25), (400_000, 20, 25), (100_000, 20, 50),
        (100_000, 20, 100), (100_000, 20, 200), (100_000, 40, 25), (100_000, 80, 25),
    )  # fmt: skip

    def prepare(n: int, p: int, k: int) -> Problem:
        X = np.random.default_rng(0).standard_normal((n, p))
        return Problem(X, X[:k].copy(), 20)

    def fit(data: Problem) -> Any:
        return ours.KMeans(len(data.start), init=data.start, tol=0.0, max_iter=data.n_rounds).fit(data.X)

    print_growth(console, "KMeans, 20 rounds on rows without clusters", sizes, prepare, fit)
