"""Speed of hierarchical clustering and of partitioning around medoids, at the same answer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import sklearn.cluster as peer
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import cdist

import pellucid.cluster as ours
from benchmarks.harness import OURS, Row

LINKAGES = ("single", "complete", "average", "ward")
IN_MEMORY = ("single", "ward")
"""Linkages that fastcluster has a version of without the matrix of distances."""


def blobs(n: int, p: int, k: int = 30) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, p)) + 3.0 * rng.standard_normal((k, p))[rng.integers(k, size=n)]


def sum_of_heights(_X: np.ndarray, heights: np.ndarray) -> float:
    """Return what is the same for every right tree."""
    return float(np.sum(heights))


def by_estimator(library: Any, kind: str) -> Callable[[np.ndarray], np.ndarray]:
    def fit(X: np.ndarray) -> np.ndarray:
        return library.AgglomerativeClustering(10, linkage=kind, compute_distances=True).fit(X).distances_

    return fit


def trees(kind: str) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return everybody's way to a tree."""
    found = {
        OURS: by_estimator(ours, kind),
        "sklearn": by_estimator(peer, kind),
        "scipy": lambda X: scipy_linkage(X, kind)[:, 2],
    }
    if find_spec("fastcluster"):
        import fastcluster

        found["fastcluster"] = lambda X: fastcluster.linkage(X, kind)[:, 2]
        if kind in IN_MEMORY:
            found["fastcluster, vectors"] = lambda X: fastcluster.linkage_vector(X, kind)[:, 2]
    return found


class Distances(NamedTuple):
    """All distances, and the medoids to start from."""

    D: np.ndarray
    start: np.ndarray


def distances(n: int, p: int, k: int) -> Distances:
    X = blobs(n, p)
    return Distances(cdist(X, X), np.arange(k))


def medoids(start: str) -> dict[str, Callable[[Distances], float]]:
    """Return everybody's way to medoids, from BUILD or from the same rows."""

    def fit(data: Distances) -> float:
        init = data.start if start == "given" else "build"
        return ours.KMedoids(len(data.start), metric="precomputed", init=init).fit(data.D).inertia_

    found: dict[str, Callable[[Distances], float]] = {OURS: fit}
    if find_spec("kmedoids"):
        import kmedoids

        def theirs(data: Distances) -> float:
            if start == "given":
                return float(kmedoids.fasterpam(data.D, data.start.astype(np.uint64)).loss)
            return float(kmedoids.fasterpam(data.D, len(data.start), init="build").loss)

        found["kmedoids"] = theirs
    return found


def rows() -> list[Row]:
    """Return the rows of the table."""
    hierarchical = [
        Row(f"{kind} linkage 10,000 x 20", lambda: blobs(10_000, 20), trees(kind), sum_of_heights, rounds=3)
        for kind in LINKAGES
    ]
    around = [
        Row(
            f"PAM 3,000, k = {k}, {'same rows' if start == 'given' else 'BUILD'}",
            lambda k=k: distances(3000, 20, k),
            medoids(start),
            lambda _data, loss: loss,
            rounds=5,
            slack=0.02 if start == "given" else 1e-6,  # two local minima; which is better is luck
        )
        for k in (10, 50)
        for start in ("given", "build")
    ]
    return [*hierarchical, *around]
