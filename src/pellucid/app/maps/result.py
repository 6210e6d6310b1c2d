"""MappedTable: the map of a table, and what every method kept of its distances."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from pellucid.app.tables.reading import TableError
from pellucid.app.tables.understanding import Columns
from pellucid.core.random_state import some_rows
from pellucid.core.short_html import short_html
from pellucid.core.types import Array
from pellucid.decomposition import PCA
from pellucid.manifold import (
    TSNE,
    EmbeddingQuality,
    Isomap,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    embedding_quality,
)
from pellucid.proofs.certificate import Certificate

MOST_DOTS, SIDE = 500, 320.0
"""Of the small map that a notebook shows: rows drawn, and the longer side."""


@dataclass(frozen=True)
class MapScore:
    """One method: its map of the rows compared, and how good it is; or why there is none."""

    name: str
    """The method, in words."""
    model: Any = None
    """The estimator, fitted to the rows compared; None if there is no map."""
    places: Array | None = None
    """Of the rows compared, of shape (n_compared, 2); None if there is no map."""
    quality: EmbeddingQuality | None = None
    """Trustworthiness, continuity and the like; None if there is no map."""
    failure: str = ""
    """Why there is no map; empty if there is one."""

    @property
    def kept(self) -> float:
        """How much of the neighborhoods the map keeps: the mean of trustworthiness and continuity."""
        return -1.0 if self.quality is None else (self.quality.trustworthiness + self.quality.continuity) / 2.0

    @property
    def spread(self) -> float:
        """How much of its area a map uses: of as many cells as there are rows, the share that hold one.

        It is 0.63 where rows lie at random, and near 0 where most of them share a corner or a few threads.
        """
        if self.places is None:
            return 0.0
        side = math.ceil(math.sqrt(len(self.places)))
        low, extent = self.places.min(axis=0), np.ptp(self.places, axis=0)
        cells = ((self.places - low) / np.where(extent > 0.0, extent, 1.0) * side).astype(int).clip(0, side - 1)
        return len(np.unique(cells @ [side, 1])) / len(self.places)


@dataclass(frozen=True)
class MappedTable:
    """The places of all rows, the methods compared, and where the rows came from."""

    places: Array
    """Of shape (n_rows, 2)."""
    chosen: MapScore
    """The method of the map, one of ``scores``."""
    scores: tuple[MapScore, ...]
    """Of all methods, the simplest first."""
    compared: Array
    """Which rows the methods were compared on and fitted to; the others were placed by ``transform``."""
    prepared: Array
    """The rows compared, as numbers in one unit."""
    columns: Columns
    """How the columns that make the map were read, and which were left out."""
    table: pd.DataFrame
    """As it was given, all rows and columns."""
    color: str | None
    """The column that colors the dots; it does not move them."""
    seed: int
    """What starts of the methods were drawn by."""
    is_asked_for: bool
    """Whether the method was asked for, whichever keeps neighbors best."""
    certificate: Certificate
    """What is proved of the chosen map, computed again from the rows compared by other code than the fit's."""
    seconds: float
    """How long all of it took."""

    def __str__(self) -> str:
        return f"Map of {len(self.places):,} rows by {self.chosen.name}: {self.chosen.quality}"

    def _repr_html_(self) -> str:
        rows = []
        for score in self.scores:
            quality = score.quality
            values = (quality.trustworthiness, quality.continuity, score.spread) if quality is not None else ()
            rows.append((score.name, *(f"{value:.3f}" for value in values), *([score.failure] if not values else [])))
        return short_html(
            f"Map of {len(self.places):,} rows by {self.chosen.name}",
            head=("Method", "Trustworthiness", "Continuity", "Area used"),
            rows=rows,
            chosen=next(place for place, score in enumerate(self.scores) if score is self.chosen),
            picture=_dots(self.places),
            certificate=self.certificate,
        )


def _dots(places: Array) -> str:
    """Return some of the rows as dots."""
    some = places[some_rows(len(places), MOST_DOTS)]
    low, extent = some.min(axis=0), float(np.ptp(some, axis=0).max()) or 1.0
    across, down = np.ptp(some, axis=0) / extent * SIDE
    dots = "".join(
        f"<circle cx='{SIDE * x:.1f}' cy='{down - SIDE * y:.1f}' r='2.5'/>" for x, y in (some - low) / extent
    )
    box = f"-4 -4 {across + 8:.0f} {down + 8:.0f}"
    return f"<svg viewBox='{box}' role='img' fill='#0072b2' fill-opacity='0.6'>{dots}</svg>"


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
