"""Distances of whole clusters from their rows, for the proof of a tree: no updates, each from its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.cluster.agglomerative.distances import PAIR_BY_PAIR, distance_matrix
from pellucid.cluster.agglomerative.tree_shape import TreeShape
from pellucid.core.types import Array

ROWS_AT_ONCE = 256


def make_gaps(X: Array, metric: Any, linkage: str) -> RowGaps | WardGaps:
    """Return what measures clusters by this linkage."""
    return WardGaps(X) if linkage == "ward" else RowGaps(X, metric, linkage)


class RowGaps:
    """Single, complete or average: the least, largest or mean distance of the rows of two clusters."""

    rounding_scale = 0.0
    """Sums of positive numbers keep their digits."""

    def __init__(self, X: Array, metric: Any, linkage: str) -> None:
        self.reduce = {"single": np.minimum, "complete": np.maximum, "average": np.add}[linkage]
        self.is_mean = linkage == "average"
        self.metric = PAIR_BY_PAIR.get(metric) if isinstance(metric, str) else None
        self.X = np.asarray(X, np.float64) if self.metric else distance_matrix(X, metric)
        self.factor = 1.0 + X.shape[1] / 16 if self.metric else 1.0

    def cost(self, shape: TreeShape) -> Array:
        """Return how many distances of rows each merge takes."""
        return shape.sizes[shape.n_rows :] * shape.n_rows

    def to_clusters(self, shape: TreeShape, starts: Array, pair: Array) -> Array:
        """Return the distances of two clusters to all, which begin at these places of the order of rows."""
        ends = np.append(starts[1:], shape.n_rows)
        return np.stack([self._from_one(shape, starts, slice(starts[k], ends[k])) for k in pair])

    def _from_one(self, shape: TreeShape, starts: Array, own: slice) -> Array:
        total = None
        for first in range(own.start, own.stop, ROWS_AT_ONCE):
            rows = shape.order[first : min(first + ROWS_AT_ONCE, own.stop)]
            part = self.reduce.reduceat(self.reduce.reduce(self._distances(rows)[:, shape.order], axis=0), starts)
            total = part if total is None else self.reduce(total, part)
        assert total is not None  # every cluster has rows
        sizes = np.diff(np.append(starts, shape.n_rows))
        return total / (sizes * (own.stop - own.start)) if self.is_mean else total

    def _distances(self, rows: Array) -> Array:
        return cdist(self.X[rows], self.X, self.metric) if self.metric else self.X[rows]


class WardGaps:
    """Ward's: the distance of the means of two clusters, times what their sizes make of it."""

    def __init__(self, X: Array) -> None:
        rows = np.asarray(X, np.float64)
        self.X = rows - np.median(rows, axis=0)
        self.rounding_scale = float(np.sqrt(np.square(self.X).sum(axis=1).max(initial=0.0)))
        self.factor = 1.0 + X.shape[1] / 16

    def cost(self, shape: TreeShape) -> Array:
        """Return how many distances each merge takes, about."""
        return np.full(len(shape.children), (2 + self.X.shape[1]) * shape.n_rows)

    def to_clusters(self, shape: TreeShape, starts: Array, pair: Array) -> Array:
        """Return the distances of two clusters to all, which begin at these places of the order of rows."""
        sizes = np.diff(np.append(starts, shape.n_rows)).astype(np.float64)
        means = np.add.reduceat(self.X[shape.order], starts, axis=0) / sizes[:, None]
        factors = 2.0 * sizes * sizes[pair, None] / (sizes + sizes[pair, None])
        return np.sqrt(factors) * cdist(means[pair], means)
