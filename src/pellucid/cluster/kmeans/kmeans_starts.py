"""Where k-means starts.

Rows are drawn in an order that depends on their values alone, so that a weight does the same as repetitions, wherever
these stand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.cluster.agglomerative.agglomerative_solvers import merge_tree
from pellucid.cluster.agglomerative.dendrogram import cut
from pellucid.cluster.kmeans.center_answers import NOTHING, ClusterSums
from pellucid.cluster.kmeans.kmeans_starts_kernels import AT_ONCE
from pellucid.cluster.kmeans.measured_rows import hashes_of, measured_rows
from pellucid.cluster.kmeans.nearest_centers import pieces
from pellucid.core.arrays import is_foreign
from pellucid.core.threads import WORTH_SHARING, run_blocks, split_evenly
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData

if TYPE_CHECKING:
    from pellucid.cluster.kmeans.starts_on_device import RowsDrawnOnDevice

BUCKET_BITS = 10
"""Of the hash, that say in which part of the rows one stands: no sum over all rows is made for each draw."""
FEW_ROWS = 1 << 15
"""So few are one bucket, and sorted once."""
MOST_TRIALS = 8
"""Tried side by side: a byte of each row says which of them it would be nearer to."""
ALL = 255
"""The bits of all of them."""

Start = Callable[[TrainingData, int, np.random.RandomState], Array]


class DrawnRows:
    """Rows drawn as centers one by one, and how far every row is from the nearest of them.

    The rows stand, for the draws, in the order of their hashes, in buckets.
    """

    def __init__(self, data: TrainingData, n_clusters: int) -> None:
        self.rows, self.weight = measured_rows(data.X), NOTHING if data.weight is None else data.weight
        n, d = self.rows.shape
        self.pieces = pieces(n) if n > FEW_ROWS else split_evenly(n, 2)
        self.nearest, self.owner = np.full(n, np.inf), np.zeros(n, np.int32)
        self.indices: list[int] = []
        self.centers = np.zeros((n_clusters, d))
        self._helps = np.full(n, ALL, np.uint8)
        self._order = np.argsort(hashes_of(self.rows), kind="stable") if n <= FEW_ROWS else None
        self._bucket = np.zeros(n, np.uint16)
        if self._order is None:
            self._bucket[:] = hashes_of(self.rows, keep=BUCKET_BITS)
        self._heights = np.zeros(1 if self._order is not None else 1 << BUCKET_BITS)

    @property
    def is_done(self) -> bool:
        """Whether all centers are drawn."""
        return len(self.indices) == len(self.centers)

    def draw_any(self, rng: np.random.RandomState) -> None:
        """Make a row a center that differs from all before, as likely as its weight."""
        self.add(self._rows_at(self._sums(self._if_different), rng.uniform(size=1), self._if_different)[0])

    def draw_far(self, rng: np.random.RandomState, n_trials: int) -> None:
        """Make a row a center, as likely as its weight times its squared distance to the others: the best of a few."""
        trials = self._rows_at(self._heights, rng.uniform(size=n_trials), self._if_far)
        if n_trials == 1:
            self.add(trials[0])
            return
        gains = np.empty(n_trials)
        for first in range(0, n_trials, MOST_TRIALS):
            some = trials[first : first + MOST_TRIALS]
            candidates = self._taken(np.concatenate((some, np.repeat(some[-1:], -len(some) % AT_ONCE))))
            gains[first : first + len(some)] = self._gains(candidates)[: len(some)]
        best = int(np.argmax(gains))
        self.add(trials[best], 1 << (best - first) if best >= first else ALL)  # only the last ones have bits

    def _gains(self, candidates: Array) -> Array:
        """Return what each candidate would take off the sum of squared distances, and note which rows it helps."""
        state = (self._gaps(candidates), self.owner, self.nearest, self._helps)

        def work(piece: slice) -> Array:
            gains = np.zeros(len(candidates))
            self.rows.gains_of(piece, self.weight, candidates, *state, gains)
            return gains

        run = run_blocks if self.rows.shape[0] * candidates.size >= WORTH_SHARING else map
        return np.asarray(np.sum(list(run(work, self.pieces)), axis=0))

    def add_farthest(self) -> None:
        """Make the row farthest from all centers one, of equally far ones the first in the order of the draws."""
        ties = np.flatnonzero(self.nearest == self.nearest.max())
        self.add(ties[int(np.argmin(hashes_of(self.rows, ties)))])

    def add(self, row: int, bit: int = ALL) -> None:
        """Make a row a center; only rows with this bit can be nearer to it."""
        if bit == ALL:
            self._helps.fill(ALL)
        number = len(self.indices)
        self.indices.append(int(row))
        self.centers[number] = self._taken(np.array([row]))[0]
        state = (self.centers, number, bit, self.owner, self.nearest, self._helps, self._bucket)

        def work(piece: slice) -> Array:
            heights = np.zeros(len(self._heights))
            self.rows.add_center(piece, self.weight, *state, heights)
            return heights

        parts = self.pieces if self._order is None else [slice(0, len(self.nearest))]
        self._heights = np.asarray(np.sum(run_blocks(work, parts), axis=0))

    def _if_different(self, rows: Any) -> Array:
        return np.where(self.nearest[rows] > 0.0, self._weights(rows), 0.0)

    def _if_far(self, rows: Any) -> Array:
        return self.nearest[rows] * self._weights(rows)

    def _weights(self, rows: Any) -> Any:
        return self.weight[rows] if len(self.weight) else 1.0

    def _sums(self, chance_of: Callable[[Any], Array]) -> Array:
        """Return the sums of chances in the buckets."""
        found = np.zeros(len(self._heights))
        for piece in self.pieces:
            found += np.bincount(self._bucket[piece], weights=chance_of(piece), minlength=len(found))
        return found

    def _rows_at(self, heights: Array, shares: Array, chance_of: Callable[[Any], Array]) -> Array:
        """Return the rows at these shares of the sum of the heights, which are sums of chances in the buckets."""
        if not heights.any():  # fewer different rows than centers: one comes twice
            return self._rows_at(self._sums(_one), shares, _one)
        if self._order is not None:
            return self._order[_places(chance_of(self._order), shares)]
        whole, found = np.concatenate(([0.0], np.cumsum(heights))), []
        for share, bucket in zip(shares, _places(heights, shares), strict=True):
            members = self._members(bucket)
            rest = (share * whole[-1] - whole[bucket]) / (whole[bucket + 1] - whole[bucket])
            found.append(members[_places(chance_of(members), np.clip([rest], 0.0, 1.0))[0]])
        return np.array(found)

    def _members(self, bucket: int) -> Array:
        """Return the rows of a bucket, in the order of the draws."""
        members = np.flatnonzero(self._bucket == bucket)
        return members[np.argsort(hashes_of(self.rows, members), kind="stable")]

    def _taken(self, rows: Array) -> Array:
        return self.rows.exact(rows).astype(np.float64)

    def _gaps(self, candidates: Array) -> Array:
        """Return the squared distance of each center so far to the nearest of every four candidates."""
        known = self.centers[: len(self.indices)]
        return np.ascontiguousarray(
            cdist(candidates, known, "sqeuclidean").reshape(-1, AT_ONCE, len(known)).min(axis=1)
        )


def _one(rows: Any) -> Array:
    return np.ones(rows.stop - rows.start if isinstance(rows, slice) else len(rows))


def _places(heights: Array, shares: Array) -> Array:
    """Return where these shares of the sum of the heights are reached, never at a height of 0."""
    total = np.cumsum(heights)
    last = np.searchsorted(total, total[-1], side="left")
    return np.minimum(np.searchsorted(total, shares * total[-1], side="right"), last)


def drawn_rows(data: TrainingData, n_clusters: int) -> DrawnRows | RowsDrawnOnDevice:
    """Return what draws rows, in memory or on a device."""
    if not is_foreign(data.X):
        return DrawnRows(data, n_clusters)
    from pellucid.cluster.kmeans.starts_on_device import RowsDrawnOnDevice

    return RowsDrawnOnDevice(data, n_clusters)


def plus_plus(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return rows drawn one by one, each the best of a few, with a chance that grows with the squared distance."""
    return draw_far_rows(data, n_clusters, rng).centers


def draw_far_rows(
    data: TrainingData, n_clusters: int, rng: np.random.RandomState, n_trials: int | None = None
) -> DrawnRows | RowsDrawnOnDevice:
    """Draw rows as k-means++ does; by itself it tries four, or eight for many clusters."""
    if n_trials is None:
        n_trials = AT_ONCE if 2 + math.log(n_clusters) < 6 else MOST_TRIALS
    drawn = drawn_rows(data, n_clusters)
    drawn.draw_any(rng)
    while not drawn.is_done:
        drawn.draw_far(rng, n_trials)
    return drawn


def random_rows(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return different rows drawn one by one, as likely as their weights."""
    drawn = drawn_rows(data, n_clusters)
    while not drawn.is_done:
        drawn.draw_any(rng)
    return drawn.centers


def furthest_first(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return a row drawn at random, then again and again the row farthest from all before it."""
    drawn = drawn_rows(data, n_clusters)
    drawn.draw_any(rng)
    while not drawn.is_done:
        drawn.add_farthest()
    return drawn.centers


def random_partition(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the means of clusters into which the rows are thrown at random, equal rows into the same one."""
    rows = measured_rows(data.X)
    salt = rng.randint(2**31 - 1)
    labels = (hashes_of(rows, salt=salt) % np.uint64(n_clusters)).astype(np.int32)
    sums = ClusterSums(rows, data.weight, n_clusters)
    sums.gather(labels)
    return sums.means(np.tile(rows.middle + sums.sums.sum(axis=0) / sums.totals.sum(), (n_clusters, 1)))


def k_log_k(data: TrainingData, n_clusters: int, rng: np.random.RandomState) -> Array:
    """Return the means of groups of K log K rows drawn at random: the nearest groups merge until K are left."""
    n_rows = min(data.X.shape[0], max(n_clusters, math.ceil(n_clusters * math.log(n_clusters))))
    points = random_rows(data, n_rows, rng)
    if n_rows == n_clusters:
        return points
    groups = cut(merge_tree(points, "average", "euclidean", None, n_rows - n_clusters), n_clusters)
    return np.array([points[groups == k].mean(axis=0) for k in range(n_clusters)])


STARTS: dict[str, Start] = {
    "k-means++": plus_plus,
    "random": random_rows,
    "random-partition": random_partition,
    "furthest-first": furthest_first,
    "k-log-k": k_log_k,
}
