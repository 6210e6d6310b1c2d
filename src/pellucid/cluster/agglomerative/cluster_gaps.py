"""Distances of whole clusters from their rows, for the proof of a tree: no updates, each from its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.cluster.agglomerative.distances import PAIR_BY_PAIR, distance_matrix
from pellucid.cluster.agglomerative.tree_shape import TreeShape
from pellucid.core.types import Array

ROWS_AT_ONCE = 256
EXACT = 2.0**48
"""Whole numbers below it are exact, and so far apart that their roots differ too."""


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
        # the mean of Manhattan distances is one quotient; of Euclidean ones it is a sum of roots
        is_settled = linkage == "complete" or (linkage == "average" and metric in ("cityblock", "l1", "manhattan"))
        self.settles_ties = is_settled and self.metric is not None and _are_small_and_whole(self.X, len(X) * X.shape[1])

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
        self.settles_ties = _are_small_and_whole(2.0 * self.X, len(X) ** 2 * X.shape[1])

    def cost(self, shape: TreeShape) -> Array:
        """Return how many distances each merge takes, about."""
        return np.full(len(shape.children), (2 + self.X.shape[1]) * shape.n_rows)

    def to_clusters(self, shape: TreeShape, starts: Array, pair: Array) -> Array:
        """Return the distances of two clusters to all, which begin at these places of the order of rows."""
        sizes = np.diff(np.append(starts, shape.n_rows)).astype(np.float64)
        sums = np.add.reduceat(self.X[shape.order], starts, axis=0)
        # gaps of means times both sizes: no quotient before the last, so that equal distances are equal numbers
        gaps = [sizes[:, None] * sums[k] - sizes[k] * sums for k in pair]
        squares = np.stack([np.square(gap).sum(axis=1) for gap in gaps])
        return np.sqrt(2.0 * squares / ((sizes * sizes[pair, None]) * (sizes + sizes[pair, None])))


def _are_small_and_whole(X: Array, terms: int) -> bool:
    """Return whether sums of this many squares of whole numbers as large are exact."""
    size = float(np.abs(X).max(initial=0.0))
    return terms * size * (1.0 + size) < EXACT and bool(np.array_equal(X, np.rint(X)))
