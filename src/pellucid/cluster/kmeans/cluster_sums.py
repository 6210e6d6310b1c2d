"""Sums of the rows of clusters, and squared distances to centers, with the same bits on any number of threads."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pellucid.cluster.kmeans.measured_rows import DenseRows, SparseRows, measured_rows
from pellucid.cluster.kmeans.nearest_centers import Move, pieces
from pellucid.core.threads import run_blocks, shares
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData

NOTHING = np.empty(0)
"""Stands for weights that are all 1, and for distances that nobody asks for."""


class ClusterSums:
    """Sums of the rows of each cluster, moved by ``rows.middle``, kept up to date while rows change their cluster.

    Each cluster adds its rows in their order, so the sums have the same bits on any number of threads.
    """

    def __init__(self, rows: DenseRows | SparseRows, weight: Array | None, n_clusters: int) -> None:
        self.rows, self.weight = rows, NOTHING if weight is None else weight
        self.sums, self.totals = np.zeros((n_clusters, rows.shape[1])), np.zeros(n_clusters)
        self.counts = np.zeros(n_clusters, np.int64)
        self._has_middle = bool(rows.middle.any())
        self.scatter = self._scatter()

    def _scatter(self) -> float:
        """Return the sum of squared distances of all rows to the middle."""
        labels = np.zeros(self.rows.shape[0], np.int32)
        return own_distances(self.rows, self.weight, self.rows.middle[None], labels)

    def move(self, moves: Sequence[Move], labels: Array) -> None:
        """Bring the sums up to date."""
        state = (self.sums, self.totals, self.counts)
        work = sum(len(move.rows) for move in moves) * self.rows.shape[1]

        def work_on(clusters: slice) -> None:
            for move in moves:
                self.rows.move(*move, labels, self.weight, clusters, state)

        run_blocks(work_on, shares(len(self.counts), work))

    def gather(self, labels: Array) -> None:
        """Sum all rows anew: what a far row leaves behind in a sum is rounding."""
        for total in (self.sums, self.totals, self.counts):
            total[:] = 0
        for piece in pieces(len(labels)):
            rows = np.arange(piece.start, piece.stop, dtype=np.int32)
            self.move([Move(rows, np.full(len(rows), -1, np.int32))], labels)

    def means(self, centers: Array) -> Array:
        """Return the means; a cluster without rows keeps its center."""
        is_used = self.totals > 0.0
        means = self.sums / np.where(is_used, self.totals, 1.0)[:, None]
        if self._has_middle:
            means += self.rows.middle
        means[~is_used] = centers[~is_used]
        return means

    def objective(self, centers: Array) -> float:
        """Return the sum of squared distances to these centers, from the sums: O(k p)."""
        moved = centers - self.rows.middle if self._has_middle else centers
        gains = 2.0 * np.einsum("kj,kj->k", self.sums, moved) - self.totals * np.einsum("kj,kj->k", moved, moved)
        return max(self.scatter - float(gains.sum()), 0.0)

    def mean_variance(self) -> float:
        """Return the mean over the features of their variance."""
        total = float(self.totals.sum())
        mean = self.sums.sum(axis=0) / total
        return max(self.scatter / total - float(mean @ mean), 0.0) / len(mean)


def mean_variance(data: TrainingData) -> float:
    """Return the mean over the features of their variance."""
    rows, n = measured_rows(data.X), data.X.shape[0]
    sums = ClusterSums(rows, data.weight, 1)
    sums.gather(np.zeros(n, np.int32))
    return sums.mean_variance()


def own_distances(
    rows: DenseRows | SparseRows, weight: Array, centers: Array, labels: Array, distances: Array = NOTHING
) -> float:
    """Return the weighted sum of squared distances to the rows' own centers; write them where there is room."""
    return math.fsum(
        run_blocks(lambda piece: rows.own_distances(piece, weight, centers, labels, distances), pieces(rows.shape[0]))
    )
