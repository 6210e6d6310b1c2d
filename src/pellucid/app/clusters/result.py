"""Grouping: everything that is known about the clusters of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from pellucid.app.clusters.methods import ClusterMethodScore
from pellucid.app.clusters.profiles import Profile
from pellucid.app.table_model import TableModel
from pellucid.app.tables.understanding import Columns
from pellucid.cluster.choosing.recommendation import ClusterChoice
from pellucid.core.random_state import some_rows
from pellucid.core.short_html import short_html
from pellucid.core.types import Array
from pellucid.proofs.certificate import Certificate


@dataclass(frozen=True, repr=False)
class Grouping:
    """Clusters of a table, how their number and the method were chosen, and the model that assigns new rows."""

    k: int
    """Clusters."""
    was_asked: bool
    """Whether their number was given, not chosen."""
    choice: ClusterChoice | None
    """The criteria for every number; None if it was given."""
    scores: list[ClusterMethodScore]
    """Of all methods compared, k-means first."""
    chosen: ClusterMethodScore
    """The score of the method that made these clusters, one of ``scores``."""
    model: TableModel
    """A pipeline that takes tables; ``predict`` says which cluster each row belongs to."""
    labels: Array
    """The number of the cluster of each row of the table."""
    X: Array
    """The rows as numbers that can be compared."""
    profiles: list[Profile]
    """What sets each cluster apart, by rising numbers."""
    table_map: TableMap
    """The rows along their two main directions."""
    columns: Columns
    """How the columns were read, and which were left out."""
    table: pd.DataFrame
    """As it was given, all rows and columns."""
    n_compared: int
    """Rows that methods and numbers of clusters were compared on."""
    alarm: str
    """What must be said before anything else; empty if there are clusters."""
    cautions: tuple[str, ...]
    """What to beware of before the clusters are used, in sentences."""
    notes: tuple[str, ...]
    """What was read into the columns."""
    seed: int
    """What starts and samples were drawn by."""
    seconds: float
    """How long all of it took."""

    @property
    def certificate(self) -> Certificate:
        """What is proved of the clusters on these rows."""
        found: Certificate = self.model[-1].certificate_
        return found

    def frame(self) -> pd.DataFrame:
        """Return the methods compared as a pandas data frame."""
        return pd.DataFrame(
            {
                "method": [score.method.name for score in self.scores],
                "silhouette": [score.silhouette for score in self.scores],
                "stability": [score.stability for score in self.scores],
                "agreement": [score.agreement for score in self.scores],
                "smallest": [score.smallest for score in self.scores],
            }
        )

    def __repr__(self) -> str:
        lines = [f"Grouping: {self.k} clusters by {self.chosen.method.name}", self.alarm]
        return "\n".join([*filter(None, lines), *(f"  {profile.sentence}" for profile in self.profiles)])

    def _repr_html_(self) -> str:
        rows = [
            (score.method.name, *(_figure(value) for value in (score.silhouette, score.stability, score.agreement)))
            for score in self.scores
        ]
        return short_html(
            f"{self.k} clusters of {len(self.labels):,} rows by {self.chosen.method.name}",
            [profile.sentence for profile in self.profiles],
            alarm=self.alarm,
            head=("Method", "Silhouette", "Comes back", "Same as k-means"),
            rows=rows,
            chosen=next(place for place, score in enumerate(self.scores) if score is self.chosen),
            folded={"Before you rely on it": self.cautions},
            certificate=self.certificate,
        )


def _figure(value: float) -> str:
    return "-" if value != value else f"{value:.3f}"


MOST_FITTED = 20_000
"""Rows that the directions are found from."""


@dataclass(frozen=True)
class TableMap:
    """Places of all rows in two dimensions, and the part of their differences that each dimension shows."""

    places: Array
    shares: tuple[float, float]
    columns: tuple[tuple[str, ...], tuple[str, ...]]
    """The columns that matter the most for each direction."""


def draw_map(X: Array, names: list[str], most_named: int = 3) -> TableMap:
    """Return the rows along their two main directions; the largest part of each direction is above 0."""
    some = X[some_rows(len(X), MOST_FITTED)]
    mean = some.mean(axis=0)
    _, sizes, directions = np.linalg.svd(some - mean, full_matrices=False)
    total = float(np.sum(sizes**2)) or 1.0
    axes = np.zeros((2, X.shape[1]))
    axes[: min(2, len(directions))] = directions[:2]
    axes *= np.where(axes[[0, 1], np.abs(axes).argmax(axis=1)] < 0.0, -1.0, 1.0)[:, None]
    shares = [float(size**2) / total for size in sizes[:2]] + [0.0, 0.0]
    first, second = (tuple(names[j] for j in np.argsort(-np.abs(axis))[:most_named] if axis[j]) for axis in axes)
    return TableMap((X - mean) @ axes.T, (shares[0], shares[1]), (first, second))
