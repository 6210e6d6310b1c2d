"""Speed of maps: the same map, or one with no more stress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.manifold as peer
from scipy.spatial.distance import pdist
from sklearn.datasets import load_digits, make_swiss_roll

from benchmarks.harness import OURS, Row
from pellucid import manifold as ours
from pellucid.core.threads import thread_count
from pellucid.manifold.tsne.tsne_solvers import Forces, affinities_of, joint_affinities, neighbors_and_distances
from pellucid.neighbors.metric import Metric
from pellucid.solvers.laplacian import neighbor_links


def roll(n: int) -> np.ndarray:
    return np.asarray(make_swiss_roll(n, random_state=0)[0])


def digits(n: int) -> np.ndarray:
    return np.asarray(load_digits().data[:n])


def by(name: str, library: Any, **how: Any) -> Callable[[np.ndarray], Any]:
    return lambda X: getattr(library, name)(**how).fit(X)


def both(name: str, **how: Any) -> dict[str, Callable[[np.ndarray], Any]]:
    return {OURS: by(name, ours, **how), "sklearn": by(name, peer, **how)}


def same_map(_X: np.ndarray, _model: Any) -> float:
    """Return nothing to minimize: the maps are the same up to rounding, which the tests show."""
    return 0.0


def left_out(_X: np.ndarray, model: Any) -> float:
    """Return what the map leaves out of the products of the paths."""
    return float(model.reconstruction_error())


def error(_X: np.ndarray, model: Any) -> float:
    """Return the sum of the eigenvalues, which are all but rounding."""
    return float(model.reconstruction_error_)


def stress(X: np.ndarray, model: Any) -> float:
    """Return the stress of the places."""
    return (
        float(np.sum((pdist(model.embedding_) - pdist(X)) ** 2)) if model.get_params()["metric_mds"] else model.stress_
    )


def many_digits(n: int) -> np.ndarray:
    """Return digits again and again, each time with other noise, so that no two rows are the same."""
    known = load_digits().data
    return np.tile(known, (-(-n // len(known)), 1))[:n] + np.random.default_rng(0).standard_normal((n, 64))


def divergence(X: np.ndarray, model: Any) -> float:
    """Return the divergence of the places from the affinities, over all pairs; peers sum up something near it."""
    places = np.asarray(getattr(model, "embedding_", model), dtype=np.float64)
    neighbors, distances = neighbors_and_distances(X, 91, Metric("euclidean"))
    return Forces(joint_affinities(neighbors, affinities_of(distances, 30.0)), 2, 0.0).measured(places)[0]


def neighbor_embeddings() -> dict[str, Callable[[np.ndarray], Any]]:
    """Return ours and the peers with as many steps: 250 with exaggeration and 750 without."""
    found = both("TSNE", random_state=0)
    try:
        from openTSNE import TSNE  # 500 steps of its own accord
    except ImportError:
        return found
    return found | {"openTSNE": lambda X: TSNE(n_iter=750, n_jobs=thread_count(), random_state=0).fit(X)}


def faiss_links(X: np.ndarray) -> Any:
    """Return the ten nearest rows of each by faiss, the peer for the graph alone; in float32, as it knows no other."""
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    rows = np.ascontiguousarray(X, dtype=np.float32)
    index.add(rows)
    return index.search(rows, 10)[1]


def rows() -> list[Row]:
    """Return the rows of the table."""
    n = 5_000
    found = [
        Row(f"Isomap {n:,} x 3, 10 neighbors", lambda: roll(n), both("Isomap", n_neighbors=10), left_out, rounds=2),
        Row(
            f"LLE {n:,} x 3, 12 neighbors",
            lambda: roll(n),
            both("LocallyLinearEmbedding", n_neighbors=12, random_state=0),
            error,
            slack=1e-2,
        ),
        *(
            Row(
                f"LLE {method} 2,000 x 3, 12 neighbors",
                lambda: roll(2_000),
                both("LocallyLinearEmbedding", n_neighbors=12, method=method, random_state=0),
                error,
                rounds=3,
                slack=1e-2,
            )
            for method in ("modified", "ltsa")
        ),
        *(
            Row(
                f"SpectralEmbedding {n:,} x 3, {k} neighbors",
                lambda: roll(n),
                both("SpectralEmbedding", n_neighbors=k, random_state=0),
                same_map,
                rounds=5,
            )
            for k in (10, 50)
        ),
        Row(
            "SpectralEmbedding rbf 2,000 x 3",
            lambda: roll(2_000),
            both("SpectralEmbedding", affinity="rbf"),
            same_map,
            3,
        ),
        Row("MDS 1,000 x 64", lambda: digits(1_000), both("MDS", init="classical_mds", n_init=1), stress, rounds=3),
        Row(
            "MDS 1,000 x 64, non-metric, 20 steps",
            lambda: digits(1_000),
            both("MDS", init="classical_mds", n_init=1, metric_mds=False, max_iter=20),
            stress,
            rounds=2,
        ),
        *(
            Row(f"TSNE {size:,} x 64", lambda size=size: many_digits(size), neighbor_embeddings(), divergence, rounds=1)
            for size in (2_000, 5_000, 10_000)
        ),
        Row("ClassicalMDS 2,000 x 64", lambda: digits(2_000), both("ClassicalMDS"), same_map, rounds=3),
        Row(
            "ClassicalMDS 1,000 x 64, manhattan",
            lambda: digits(1_000),
            both("ClassicalMDS", metric="manhattan"),
            same_map,
            rounds=3,
        ),
    ]
    graph = {OURS: lambda X: neighbor_links(X, 10, is_given=False), "faiss": faiss_links}
    try:
        import faiss  # noqa: F401  (the peer for graphs, where it is installed)
    except ImportError:
        return found
    return [*found, Row(f"neighbor graph {n:,} x 3, 10 neighbors", lambda: roll(n), graph, same_map)]
