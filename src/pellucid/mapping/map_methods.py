"""The methods that a map may be made by, simplest first, and which one is chosen."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.core.types import Array
from pellucid.decomposition import PCA
from pellucid.manifold import TSNE, Isomap, LocallyLinearEmbedding, SpectralEmbedding, embedding_quality
from pellucid.mapping.result import MapScore
from pellucid.tables.reading import TableError

NEIGHBORS = 10
"""Neighbors that the graphs are made of and the figures look at; fewer where rows are few."""

CLEARLY = 0.01
"""How much more of the neighborhoods a method must keep than a simpler one to be chosen."""

AS_BROAD = 0.5
"""Part of a simpler map's spread that a map must have: one that draws most rows into a corner cannot be read."""

PERPLEXITY = 30.0
"""Neighbors that a row has in a neighbor embedding; a third of the others where rows are few."""

METHODS: dict[str, Callable[[int, int, int], Any]] = {
    "PCA": lambda _n, _k, _seed: PCA(2),
    "Isomap": lambda _n, k, _seed: Isomap(n_neighbors=k, n_components=2),
    "Laplacian eigenmaps": lambda _n, k, seed: SpectralEmbedding(2, n_neighbors=k, random_state=seed),
    "locally linear embedding": lambda _n, k, seed: LocallyLinearEmbedding(
        n_neighbors=k, n_components=2, method="modified", random_state=seed
    ),
    "neighbor embedding (t-SNE)": lambda n, _k, seed: TSNE(perplexity=min(PERPLEXITY, (n - 1) / 3), random_state=seed),
}
"""From the number of rows, the number of neighbors and a seed to an estimator."""

SHORT_NAMES = dict(zip(("pca", "isomap", "laplacian", "lle", "tsne"), METHODS, strict=True))
"""By what a user writes: the name of a method."""


def compare_maps(X: Array, seed: int, listen: Callable[[str, int, int], None]) -> tuple[MapScore, ...]:
    """Return the map of every method with its figures; one that fails says why."""
    distances = cdist(X, X)
    k = min(NEIGHBORS, max(1, (len(X) - 1) // 2))
    scores = []
    for place, (name, make) in enumerate(METHODS.items()):
        listen(name, place, len(METHODS))
        scores.append(_score(name, make(len(X), k, seed), X, distances, k))
    return tuple(scores)


def _score(name: str, model: Any, X: Array, distances: Array, k: int) -> MapScore:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parts that are not connected, claims that fail: both are looked at below
            places = np.asarray(model.fit_transform(X), dtype=np.float64)
    except (ValueError, np.linalg.LinAlgError) as error:
        return MapScore(name, failure=str(error))
    places = np.column_stack([places, np.zeros((len(X), max(0, 2 - places.shape[1])))])
    if model.certificate_.failed:
        return MapScore(name, failure="its certificate does not hold")
    return MapScore(name, model, places, embedding_quality(distances, places, k))


def map_by(scores: Sequence[MapScore], method: str) -> MapScore:
    """Return the map of the method that was asked for by its short name; one that failed says why."""
    chosen = next(score for score in scores if score.name == SHORT_NAMES[method])
    if chosen.failure:
        raise TableError(f"method must be one that can map this table, got {method!r}: {chosen.failure}")
    return chosen


def best_map(scores: Sequence[MapScore]) -> MapScore:
    """Return the simplest method that no other clearly exceeds, of those whose map can be read."""
    chosen = scores[0]
    for score in scores[1:]:
        if score.kept > chosen.kept + CLEARLY and score.spread >= AS_BROAD * chosen.spread:
            chosen = score
    return chosen
