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
from pellucid.cluster.measured_rows import measured_rows
from pellucid.cluster.nearest_centers import Changes, pieces
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.numerics.presented_rows import content_hashes

BUCKETS = 1024
"""Parts of the rows in their order: a place is found in a part, so no sum over all rows is made for each draw."""

Start = Callable[[TrainingData, int, np.random.RandomState], Array]


class DrawnRows:
    """Rows drawn as centers one by one, and how far every row is from the nearest of them."""

    def __init__(self, data: TrainingData, n_clusters: int) -> None:
        self.rows, self.weight = measured_rows(data.X), NOTHING if data.weight is None else data.weight
        n, d = self.rows.shape
        self.pieces = pieces(n)
        self.nearest, self.owner = np.full(n, np.inf), np.zeros(n, np.int32)
        self.indices: list[int] = []
        self.centers = np.empty((n_clusters, d))
        self._order = np.argsort(data.X @ np.cos(np.arange(d)), kind="stable").astype(np.int32)
        self._bucket = np.empty(n, np.uint16)
        self._buckets = split_evenly(n, min(BUCKETS, max(1, n // 8)))
        for number, bucket in enumerate(self._buckets):
            self._bucket[self._order[bucket]] = number
        self._heights = np.empty(len(self._buckets))

    @property
    def is_done(self) -> bool:
        """Whether all centers are drawn."""
        return len(self.indices) == len(self.centers)

    def draw_first(self, rng: np.random.RandomState) -> None:
        """Make a row a center, as likely as its weight."""
        weight = self.weight if len(self.weight) else np.ones(len(self.nearest))
        self.add(self._order[_places(weight[self._order], rng.uniform(size=1))[0]])

    def draw_different(self, rng: np.random.RandomState) -> None:
        """Make a row a center that differs from all before, as likely as its weight."""
        chances = (self.nearest > 0.0) * (self.weight if len(self.weight) else 1.0)
        self.add(self._order[_places(chances[self._order], rng.uniform(size=1))[0]])

    def draw_far(self, rng: np.random.RandomState, n_trials: int) -> None:
        """Make a row a center, as likely as its weight times its squared distance to the others: the best of a few."""
        trials = np.array([self._far_row(share) for share in rng.uniform(size=n_trials)])
        if n_trials == 1:
            return self.add(trials[0])
        candidates = self._taken(trials)
        state = (self._gaps(candidates), self.owner, self.nearest)
        gains = run_blocks(lambda piece: self.rows.gains_of(piece, self.weight, candidates, *state), self.pieces)
        return self.add(trials[int(np.argmax(np.sum(gains, axis=0)))])

    def add_farthest(self) -> None:
        """Make the row farthest from all centers one, of equally far ones the first by its values."""
        self.add(self._order[int(np.argmax(self.nearest[self._order]))])

    def add(self, row: int) -> None:
        """Make a row a center."""
        center = self._taken(np.array([row]))
        gaps = self._gaps(center) if self.indices else np.zeros((1, 1))
        number = len(self.indices)
        state = (center, gaps, number, self.owner, self.nearest, self._bucket)

        def work(piece: slice) -> Array:
            heights = np.zeros(len(self._heights))
            self.rows.add_center(piece, self.weight, *state, heights)
            return heights

        self._heights = np.sum(run_blocks(work, self.pieces), axis=0)
        self.centers[number] = center[0]
        self.indices.append(int(row))

    def _far_row(self, share: float) -> int:
        """Return the row at this share of the sum of weighted squared distances, counted in the order of the values."""
        bucket = _places(self._heights, np.array([share]))[0]
        below = float(self._heights[:bucket].sum())
        members = self._order[self._buckets[bucket]]
        heights = self.nearest[members] * (self.weight[members] if len(self.weight) else 1.0)
        total = float(heights.sum())
        rest = (share * float(self._heights.sum()) - below) / total if total > 0.0 else 0.0
        return int(members[_places(heights, np.array([rest]))[0]])

    def _taken(self, rows: Array) -> Array:
        return self.rows.exact(rows).astype(np.float64)

    def _gaps(self, candidates: Array) -> Array:
        """Return the squared distances of candidates to the centers so far."""
        differences = candidates[:, None, :] - self.centers[: len(self.indices)]
        return np.einsum("lkj,lkj->lk", differences, differences)


def _places(heights: Array, shares: Array) -> Array:
    """Return where these shares of the sum of the heights are reached, never at a height of 0."""
    total = np.cumsum(heights)
    last = int(np.searchsorted(total, total[-1], side="left"))
    return np.minimum(np.searchsorted(total, shares * total[-1], side="right"), last)


def plus_plus(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return rows drawn one by one, each the best of a few, with a chance that grows with the squared distance."""
    return draw_far_rows(data, n_clusters, rng).centers


def draw_far_rows(
    data: TrainingData, n_clusters: int, rng: np.random.RandomState, n_trials: int | None = None
) -> DrawnRows:
    """Draw rows as k-means++ does."""
    drawn = DrawnRows(data, n_clusters)
    drawn.draw_first(rng)
    while not drawn.is_done:
        drawn.draw_far(rng, 2 + int(math.log(n_clusters)) if n_trials is None else n_trials)
    return drawn


def random_rows(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return different rows drawn one by one, as likely as their weights."""
    drawn = DrawnRows(data, n_clusters)
    drawn.draw_first(rng)
    while not drawn.is_done:
        drawn.draw_different(rng)
    return drawn.centers


def furthest_first(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return a row drawn at random, then again and again the row farthest from all before it."""
    drawn = DrawnRows(data, n_clusters)
    drawn.draw_first(rng)
    while not drawn.is_done:
        drawn.add_farthest()
    return drawn.centers


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
