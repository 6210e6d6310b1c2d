"""The nearest center of every row, kept up to date while the centers move.

The labels are those of the plain method, but most rows are left alone: an upper bound of the distance to the own center
and lower bounds of those to groups of other centers say that nothing can have changed. One group is Hamerly's method,
as many as centers is Elkan's, between them stands Yinyang's; memory decides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.cluster.kmeans.measured_rows import Bounds, DenseRows, SparseMeasured
from pellucid.cluster.kmeans.nearest_centers_kernels import find_doubtful
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

SHARE_FOR_BOUNDS = 0.16
"""Memory for labels and bounds, as a part of the rows."""
FEW_ROWS = 4096
"""So few are one piece of work."""
STRIP = 256
"""Rows whose bounds are looked at together."""
PIECES = 8
NOBODY = np.empty(0, np.intp)
PIECE_ROWS = 1 << 16


class Move(NamedTuple):
    """Rows that go to another cluster, and from which (-1: from none)."""

    rows: Array
    before: Array


class NearestCenters:
    """Labels of rows, by the centers that ``assign`` was given last; ``names`` are these labels as the user counts."""

    def __init__(self, rows: DenseRows | SparseMeasured, centers: Array) -> None:
        n_groups = int(min(len(centers), max(1.0, SHARE_FOR_BOUNDS * rows.row_bytes / 4 - 2)))
        n = rows.shape[0]
        self.rows = rows
        self.order, ends = group_centers(centers, n_groups)
        self._is_in_order = n_groups in (1, len(centers))
        self.centers = centers[self.order]
        self.bounds = Bounds(
            ends,
            labels=np.full(n, -1, np.int32),
            upper=np.full(n, np.inf, np.float32),
            lower=np.zeros((n_groups, n), np.float32),
            paths=np.zeros(len(centers)),
            drifts=np.zeros(n_groups),
        )
        self.pieces = pieces(n)

    @property
    def names(self) -> Array:
        """The nearest center of each row, as the centers were given."""
        return self.order.astype(np.int32)[self.bounds.labels]

    def assign(self, centers: Array) -> list[Move]:
        """Find the nearest of the centers for every row, of equally near ones the first; return what changed.

        The first time every row does, and nothing is returned.
        """
        self._drift(centers)
        coded = self.rows.code(self.centers, self.order)
        labels, sizes, k = self.bounds.labels, np.diff(self.bounds.ends), len(centers)
        reaches = (*self.bounds[1:4], _raised(self.bounds.paths), _raised(self.bounds.drifts), sizes)

        def work(piece: slice) -> Move:
            doubtful = np.empty(piece.stop - piece.start, np.int32)
            count, pairs = find_doubtful(piece.start, piece.stop, *reaches, np.empty(STRIP, np.float32), doubtful)
            doubtful, before = doubtful[:count], np.empty(count, np.int32)
            is_new = labels[piece.start] < 0
            revisit = not is_new and self.rows.is_worth_revisiting(count, pairs, k)
            (self.rows.revisit if revisit else self.rows.judge)(doubtful, coded, self.bounds, before)
            changed = np.flatnonzero(before != labels[doubtful]) if not is_new else NOBODY
            return Move(doubtful[changed], before[changed])

        return [move for move in run_blocks(work, self.pieces) if len(move.rows)]

    def as_given(self, centers: Array) -> Array:
        """Return centers in the order in which they were given."""
        if self._is_in_order:
            return centers
        given = np.empty_like(centers)
        given[self.order] = centers
        return given

    def move(self, row: int, label: int) -> Move:
        """Put a row into another cluster, whatever its distances; it is looked at again the next time."""
        before = np.array([self.bounds.labels[row]])
        self.bounds.labels[row], self.bounds.upper[row] = label, np.inf
        return Move(np.array([row], np.int32), before)

    def finish(self) -> Array:
        """Return the labels as the centers were given, and forget all else: nothing can be assigned any more."""
        labels = self.bounds.labels
        for piece in self.pieces:
            labels[piece] = self.order[labels[piece]]
        self.bounds = self.bounds._replace(upper=np.empty(0, np.float32), lower=np.empty((0, 0), np.float32))
        return labels

    def _drift(self, centers: Array) -> None:
        """Take the centers, and note how far they have gone."""
        before, self.centers = self.centers, centers if self._is_in_order else centers[self.order]
        way = self.centers - before
        if self.rows.unit != 1.0:
            way *= self.rows.unit
        steps = np.sqrt(np.einsum("kj,kj->k", way, way)) * (1.0 + 1e-12)
        self.bounds.paths[:] += steps
        self.bounds.drifts[:] += np.maximum.reduceat(steps, self.bounds.ends[:-1])


def pieces(n_rows: int) -> list[slice]:
    """Return parts of the rows for the threads, the same however many there are: so are sums over the parts."""
    return split_evenly(n_rows, 1 if n_rows <= FEW_ROWS else max(PIECES, -(-n_rows // PIECE_ROWS)))


def group_centers(centers: Array, n_groups: int) -> tuple[Array, Array]:
    """Return the centers in an order in which groups of near ones stand together, and where the groups end.

    By a few rounds of k-means of the centers themselves; it only matters that the groups are small in space.
    """
    k = len(centers)
    if n_groups in (1, k):
        return np.arange(k), np.linspace(0, k, n_groups + 1).astype(np.intp)
    middles = centers[np.linspace(0, k - 1, n_groups).astype(np.intp)]
    for _ in range(5):
        sizes = np.einsum("gj,gj->g", middles, middles)
        group = np.argmin(sizes - 2.0 * centers @ middles.T, axis=1)
        for g in range(n_groups):
            if (group == g).any():
                middles[g] = centers[group == g].mean(axis=0)
    counts = np.bincount(group, minlength=n_groups)
    for empty in np.flatnonzero(counts == 0):
        largest = int(np.argmax(np.bincount(group)))
        group[np.flatnonzero(group == largest)[0]] = empty
    order = np.argsort(group, kind="stable")
    return order, np.concatenate(([0], np.cumsum(np.bincount(group, minlength=n_groups))))


def _raised(ways: Array) -> Array:
    """Return ways as float32, a little too long."""
    return (ways * (1.0 + 2.0**-20)).astype(np.float32)
