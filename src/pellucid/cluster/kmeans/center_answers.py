"""What centers say of rows: the nearest, the objective, all distances, sums over clusters, and what a fit claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from scipy import sparse

from pellucid.cluster.kmeans.measured_rows import DenseRows, SparseMeasured, measured_rows
from pellucid.cluster.kmeans.nearest_centers import Move, NearestCenters, pieces
from pellucid.core.threads import run_blocks, shares, split_evenly
from pellucid.core.types import Array, SparseOrDense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData

LOOKED_AT = 256
"""Rows whose nearest center a fit finds again from differences, at most."""
DIFFERENCES = 1 << 21
"""That this may take, for all rows and centers."""
DIGITS_LEFT = 1e-4
"""Part of the squares of row and center above which their distance is told from a product."""
FEW_ROWS, FEW_COLUMNS = 64, 64
"""Few rows are proved as ``verify`` does; more of few columns get a bound of the objective."""
CLOSED = 1e-9
"""A gap, as a part of the objective, that is taken for none."""
ENTRIES_AT_ONCE = 1 << 18
"""Distances computed in one go, or entries of sparse rows that are filled up with zeros."""


def assign_rows(X: SparseOrDense, centers: Array) -> Array:
    """Return the nearest center of each row, of equally near ones the first."""
    return nearest_centers(X, centers).finish()


def score_rows(X: SparseOrDense, weight: Array | None, centers: Array) -> float:
    """Return the sum of squared distances of rows to their nearest centers."""
    nearest = nearest_centers(X, centers)
    return own_distances(nearest.rows, NOTHING if weight is None else weight, nearest.centers, nearest.bounds.labels)


def nearest_centers(X: SparseOrDense, centers: Array) -> NearestCenters:
    """Return who is nearest to which of the centers."""
    centers = np.asarray(centers, dtype=np.float64)
    nearest = NearestCenters(measured_rows(X), centers)
    nearest.assign(centers)
    return nearest


def center_distances(X: SparseOrDense, centers: Array) -> Array:
    """Return the distance of each row to each center.

    From products, and where these leave fewer than 12 digits, from differences.
    """
    centers = np.asarray(centers, dtype=np.float64)
    distances, middle = np.empty((X.shape[0], len(centers))), np.zeros(X.shape[1])
    if not sparse.issparse(X):
        middle = centers.mean(axis=0)
    moved = centers - middle
    sizes = np.einsum("kj,kj->k", moved, moved)

    def work(part: slice) -> None:
        rows = X[part].astype(np.float64) if sparse.issparse(X) else X[part] - middle
        own = (
            np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            if sparse.issparse(X)
            else np.einsum("ij,ij->i", rows, rows)
        )
        whole = own[:, None] + sizes
        squares = whole - 2.0 * np.asarray(rows @ moved.T)
        for k in range(len(centers)):
            close = np.flatnonzero(~(squares[:, k] > DIGITS_LEFT * whole[:, k]))
            if len(close):
                squares[close, k] = exact_distances(X[part][close], centers[k])
        np.sqrt(squares, out=distances[part])

    run_blocks(work, split_evenly(X.shape[0], 1 + X.shape[0] * max(centers.shape) // ENTRIES_AT_ONCE))
    return distances


def exact_distances(X: SparseOrDense, center: Array) -> Array:
    """Return the sums of squared differences of rows from a center."""
    if not sparse.issparse(X):
        return np.square(np.subtract(X, center, dtype=np.float64)).sum(axis=1)
    distances = np.empty(X.shape[0])
    for piece in split_evenly(X.shape[0], 1 + X.shape[0] * X.shape[1] // ENTRIES_AT_ONCE):
        distances[piece] = exact_distances(X[piece].toarray(), center)
    return distances


def rows_to_look_at(n_rows: int, centers: Array) -> Array:
    """Return the rows whose nearest centers a fit finds again."""
    count = int(np.clip(DIFFERENCES / centers.size, LOOKED_AT // 16, LOOKED_AT))
    return np.unique(np.linspace(0, n_rows - 1, count).astype(np.intp))


def labels_claim(X: SparseOrDense, centers: Array, labels: Array) -> Claim:
    """Return the claim that some rows, told from differences, have no nearer center than their own."""
    some = rows_to_look_at(X.shape[0], centers)
    exact = np.stack([exact_distances(X[some], center) for center in centers], axis=1)
    own = exact[np.arange(len(some)), labels[some]]
    strays = float(np.sum(own > exact.min(axis=1) * (1.0 + 4 * EPSILON * X.shape[1])))
    return Claim("assignment", f"of {len(some):,} rows, those nearer to another center than to their own", strays, 0.0)


def with_gap(
    certificate: Certificate, objective: float, X: SparseOrDense, n_clusters: int, weight: Array | None
) -> Certificate:
    """Return the certificate with the distance to the best clustering of all, if there is a bound of it."""
    return with_known_gap(certificate, objective, scatter_bound(X, weight, n_clusters) if objective > 0.0 else 0.0)


def with_known_gap(certificate: Certificate, objective: float, least: float) -> Certificate:
    """Return the same, where ``least`` is what no clustering can beat; 0 says nothing, unless nothing is left."""
    if objective > 0.0 and least <= 0.0:
        return certificate
    gap = max(1.0 - least / objective, 0.0) if objective > 0.0 else 0.0
    if gap <= CLOSED:
        statement = "part of the objective that the best clustering of all could save, at most"
        return replace(certificate, grade="optimal").with_claims(Claim("gap", statement, gap, CLOSED))
    saved = f"The best clustering of all could save at most {100.0 * gap:.3g} % of the objective."
    return replace(certificate, reason=f"{certificate.reason} {saved}".strip())


def scatter_bound(X: SparseOrDense, weight: Array | None, n_clusters: int) -> float:
    """Return the scatter along all but the K - 1 widest directions, which no K centers can take away; 0 if unknown."""
    n, d = X.shape
    if d > FEW_COLUMNS:
        return 0.0
    middle = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    moments = np.zeros((d + 1, d + 1))
    for piece in split_evenly(n, 1 + n * d // ENTRIES_AT_ONCE):
        rows = np.asarray(X[piece].toarray() if sparse.issparse(X) else X[piece], dtype=np.float64)
        rows = np.column_stack([np.ones(len(rows)), rows - middle])
        moments += rows.T @ (rows if weight is None else rows * weight[piece, None])
    scatter = moments[1:, 1:] - np.outer(moments[0, 1:], moments[0, 1:]) / moments[0, 0]
    return bound_from_scatter(scatter, n, n_clusters)


def bound_from_scatter(scatter: Array, n_rows: int, n_clusters: int) -> float:
    """Return its trace without the K - 1 largest eigenvalues, less what rounding can add."""
    d = len(scatter)
    spreads, total = np.linalg.eigvalsh(scatter), float(np.trace(scatter))
    left = float(spreads[: max(d - n_clusters + 1, 0)].sum())
    return max(left - 8 * EPSILON * (d + np.sqrt(n_rows)) * total, 0.0)


NOTHING = np.empty(0)
"""Stands for weights that are all 1, and for distances that nobody asks for."""


class ClusterSums:
    """Sums of the rows of each cluster, moved by ``rows.middle``, kept up to date while rows change their cluster.

    Each cluster adds its rows in their order, so the sums have the same bits on any number of threads.
    """

    def __init__(self, rows: DenseRows | SparseMeasured, weight: Array | None, n_clusters: int) -> None:
        self.rows, self.weight = rows, NOTHING if weight is None else weight
        self.sums, self.totals = np.zeros((n_clusters, rows.shape[1])), np.zeros(n_clusters)
        self.counts = np.zeros(n_clusters, np.int64)
        self._has_middle = bool(rows.middle.any())

    @cached_property
    def scatter(self) -> float:
        """The sum of squared distances of all rows to the middle."""
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
    rows: DenseRows | SparseMeasured, weight: Array, centers: Array, labels: Array, distances: Array = NOTHING
) -> float:
    """Return the weighted sum of squared distances to the rows' own centers; write them where there is room."""
    return math.fsum(
        run_blocks(lambda piece: rows.own_distances(piece, weight, centers, labels, distances), pieces(rows.shape[0]))
    )
