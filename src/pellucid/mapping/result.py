"""MappedTable: the map of a table, and what every method kept of its distances."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pellucid.core.random_state import some_rows
from pellucid.core.short_html import short_html
from pellucid.core.types import Array
from pellucid.manifold import EmbeddingQuality
from pellucid.proofs.certificate import Certificate
from pellucid.tables.understanding import Columns

MOST_DOTS, SIDE = 500, 320.0
"""Of the small map that a notebook shows: rows drawn, and the longer side."""


@dataclass(frozen=True)
class MapScore:
    """One method: its map of the rows compared, and how good it is; or why there is none."""

    name: str
    model: Any = None
    places: Array | None = None
    quality: EmbeddingQuality | None = None
    failure: str = ""

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
    scores: tuple[MapScore, ...]
    compared: Array
    """Which rows the methods were compared on and fitted to; the others were placed by ``transform``."""
    prepared: Array
    """The rows compared, as numbers in one unit."""
    columns: Columns
    table: pd.DataFrame
    color: str | None
    """The column that colors the dots; it does not move them."""
    seed: int
    is_asked_for: bool
    """Whether the method was asked for, whichever keeps neighbors best."""
    certificate: Certificate
    """What is proved of the chosen map, computed again from the rows compared by other code than the fit's."""
    seconds: float

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
