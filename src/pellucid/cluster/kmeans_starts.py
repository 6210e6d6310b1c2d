"""Where k-means starts.

Rows are drawn in an order that depends on their values alone, so that a weight does the same as repetitions, wherever
these stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from pellucid.cluster.cluster_sums import NOTHING, ClusterSums
from pellucid.cluster.kmeans_starts_kernels import AT_ONCE
from pellucid.cluster.measured_rows import measured_rows
from pellucid.cluster.nearest_centers import Changes, pieces
from pellucid.core.threads import run_blocks
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.numerics.presented_rows import content_hashes

Start = Callable[[TrainingData, int, np.random.RandomState], Array]


class DrawnRows:
    """Rows drawn as centers one by one, and how far every row is from the nearest of them."""

    def __init__(self, data: TrainingData) -> None:
        self.rows, self.weight = measured_rows(data.X), NOTHING if data.weight is None else data.weight
        self.pieces = pieces(self.rows.shape[0])
        self.nearest = np.full(self.rows.shape[0], np.inf)
        self.indices: list[int] = []
        self._order = np.argsort(data.X @ np.cos(np.arange(data.X.shape[1])), kind="stable").astype(np.int32)

    def draw(self, chances: Array | None, rng: np.random.RandomState, n_trials: int) -> int:
        """Return a row drawn by its weight times its chance: the best center of a few."""
        chances = np.ones(len(self.nearest)) if chances is None else chances
        heights = np.cumsum((chances * self.weight if len(self.weight) else chances)[self._order])
        places = np.searchsorted(heights, rng.uniform(size=n_trials) * heights[-1], side="right")
        trials = self._order[np.minimum(places, len(heights) - 1)]
        return int(trials[0] if n_trials == 1 else trials[int(np.argmin(self._objectives(trials)))])

    def farthest(self) -> int:
        """Return the row farthest from all centers, of equally far ones the first by its values."""
        distances = self.nearest[self._order]
        return int(self._order[int(np.argmax(distances))])

    def add(self, row: int) -> None:
        """Make a row a center."""
        self.indices.append(row)
        center = self.rows.exact(np.array([row])).astype(np.float64)
        run_blocks(lambda piece: self.rows.add_center(piece, center, self.nearest), self.pieces)

    def centers(self) -> Array:
        """Return the rows drawn."""
        return self.rows.exact(np.array(self.indices)).astype(np.float64)

    def _objectives(self, trials: Array) -> Array:
        """Return the sum of squared distances to the nearest center, for each trial that may become one."""
        n_trials = len(trials)
        filled = np.concatenate((trials, np.repeat(trials[-1:], -n_trials % AT_ONCE)))
        candidates = self.rows.exact(filled).astype(np.float64)
        found = run_blocks(
            lambda piece: self.rows.objectives_with(piece, self.weight, candidates, self.nearest), self.pieces
        )
        return np.sum(found, axis=0)[:n_trials]


def plus_plus(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return rows drawn one by one, each the best of a few, with a chance that grows with the squared distance."""
    return draw_far_rows(data, n_clusters, rng).centers()


def draw_far_rows(
    data: TrainingData, n_clusters: int, rng: np.random.RandomState, n_trials: int | None = None
) -> DrawnRows:
    """Draw rows as k-means++ does."""
    n_trials = 2 + int(math.log(n_clusters)) if n_trials is None else n_trials
    drawn = DrawnRows(data)
    drawn.add(drawn.draw(None, rng, 1))
    while len(drawn.indices) < n_clusters:
        drawn.add(drawn.draw(drawn.nearest, rng, n_trials))
    return drawn


def random_rows(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return different rows drawn one by one, as likely as their weights."""
    drawn = DrawnRows(data)
    drawn.add(drawn.draw(None, rng, 1))
    while len(drawn.indices) < n_clusters:
        drawn.add(drawn.draw((drawn.nearest > 0.0).astype(np.float64), rng, 1))
    return drawn.centers()


def furthest_first(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return a row drawn at random, then again and again the row farthest from all before it."""
    drawn = DrawnRows(data)
    drawn.add(drawn.draw(None, rng, 1))
    while len(drawn.indices) < n_clusters:
        drawn.add(drawn.farthest())
    return drawn.centers()


def random_partition(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the means of clusters into which the rows are thrown at random, equal rows into the same one."""
    rows = measured_rows(data.X)
    n, salt = rows.shape[0], rng.randint(2**31 - 1)
    labels = (content_hashes(data.X, np.full(n, salt)) % np.uint64(n_clusters)).astype(np.int32)
    sums = ClusterSums(rows, data.weight, n_clusters)
    sums.move(Changes(np.arange(n, dtype=np.int32), np.full(n, -1, np.int32)), labels)
    return sums.means(np.tile(rows.middle + sums.sums.sum(axis=0) / sums.totals.sum(), (n_clusters, 1)))


def k_log_k(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the means of groups of K log K rows drawn at random: the nearest groups merge until K are left."""
    n_rows = min(data.X.shape[0], max(n_clusters, math.ceil(n_clusters * math.log(n_clusters))))
    points = random_rows(data, n_rows, rng)
    if n_rows == n_clusters:
        return points
    groups = fcluster(linkage(points, "average"), n_clusters, "maxclust") - 1
    return np.array([points[groups == k].mean(axis=0) if (groups == k).any() else points[k] for k in range(n_clusters)])


STARTS: dict[str, Start] = {
    "k-means++": plus_plus,
    "random": random_rows,
    "random-partition": random_partition,
    "furthest-first": furthest_first,
    "k-log-k": k_log_k,
}
