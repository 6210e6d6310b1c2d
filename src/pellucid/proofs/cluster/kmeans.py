r"""Proof of a k-means clustering: it is a fixed point of Lloyd's method, and how far from the best of all.

Every row is with its nearest center, one more step would move the centers by no more than ``tol`` allows, and the
stored objective is that of the stored centers. All is summed from squared differences, in float64. A cluster has rows,
unless all rows lie in the other centers; its center is then a row, or one of the start. How far the objective is above
that of the best clustering of all, a lower bound says; if nothing is left, the grade is ``optimal``.

From batches, a center is the mean of the rows that they gave it. Were they given for good, the mean of c rows would
lie beside the cluster's by its variance over c, and moving the centers to the means of all their rows would save
:math:`\sum_k W_k V_k / c_k`, about the part K / (number of rows drawn) of the objective. Earlier rows were given by
centers that have moved since, which no theorem bounds: ``STEP`` of the objective is the goal, more for small batches.
A change of the centers that raises the objective by less than this part is not seen, but by ``inertia_``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, SparseOrDense, dense
from pellucid.proofs.blocks import BlockSums, OneBlock, add_blocks, sum_block
from pellucid.proofs.certificate import Certificate, Claim, gap_claim
from pellucid.proofs.cluster.kmeans_bounds import CLOSED, MOST_STEPS, lower_bound, spectral_bound_of
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 1024
STARTS_THAT_ARE_NO_ROWS = ("random-partition", "k-log-k")
"""Of these, or of a function, is only asked that they lie between the rows."""
EMPTY = "centers without rows while some row is not in its center, or that are neither a row nor one of the start"

STEP = 0.05
"""Part of the objective that one step over all rows may save after large batches."""

STEP_SAYS = "part of the objective that moving the centers to the means of all their rows would save"
ONE_PASS = "The batches have drawn no more rows than there are: nothing is claimed of how far the centers have come."
NO_LABELS = "compute_labels is False: nothing is known of the training rows."


@dataclass(frozen=True)
class MeasuredClusters:
    """What stored centers and labels are worth, summed from squared differences in float64."""

    labels: Array
    strays: float
    """Rows nearer to another center than to their own."""
    objective: float
    moved: float
    """Sum of squared moves of the centers in one more step."""
    saved: float
    """What one more step would save of the objective, before rows change their clusters."""
    variance: float
    """Mean over the features of their variance."""
    n_empty: int
    """Centers without rows that have no reason to be where they are."""


def prove_kmeans(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    if "labels_" not in vars(fitted):  # fitted to rows in blocks
        return prove_kmeans_in_passes(fitted, parameters, OneBlock.of(data))
    found = measure_clusters(fitted, parameters, data)
    if found is None:
        return kmeans_certificate(math.inf, math.inf, math.inf, 0)
    allowed = parameters.tol * found.variance + rounding_of_centers(data.X, parameters.n_clusters)
    certificate = kmeans_certificate(found.strays, found.moved, allowed, data.X.shape[0])
    certificate = certificate.with_claims(
        objective_claim(fitted.inertia_, found.objective, data.X.shape[0]),
        Claim("empty clusters", EMPTY, float(found.n_empty), 0.0, "Raise max_iter, or ask for fewer clusters."),
    )
    bound = lower_bound(data.X, data.weights, found.labels, parameters.n_clusters)
    return with_gap(certificate, found.objective, bound)


def prove_minibatch_kmeans(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    if not parameters.compute_labels:
        return Certificate("none", (), NO_LABELS)
    n_rows, k = data.X.shape[0], parameters.n_clusters
    found = measure_clusters(fitted, parameters, data)
    strays, objective = (math.inf, math.inf) if found is None else (found.strays, found.objective)
    claims = (
        Claim("assignment", f"of {n_rows:,} rows, those nearer to another center than to their own", strays, 0.0),
        objective_claim(fitted.inertia_, objective, n_rows),
    )
    if found is None:
        return Certificate("bounded", claims)
    value = found.saved / objective if objective > 0.0 else found.saved
    allowed = STEP + 0.5 * k / min(parameters.batch_size, n_rows)
    step = Claim("step", STEP_SAYS, value, allowed, "Raise max_iter, max_no_improvement or batch_size.")
    # after one pass nobody expects the centers to have come to rest
    has_rested = fitted.n_iter_ > 1
    certificate = Certificate("bounded", (*claims, step)) if has_rested else Certificate("none", claims, ONE_PASS)
    return with_gap(certificate, objective, lower_bound(data.X, data.weights, found.labels, k, MOST_STEPS))


def measure_clusters(fitted: Seen, parameters: Seen, data: TrainingData) -> MeasuredClusters | None:
    """Return what the data say of stored centers and labels; None if these cannot be any."""
    X, weight = data.X, data.weights
    centers, shape = np.asarray(fitted.cluster_centers_, dtype=np.float64), (parameters.n_clusters, X.shape[1])
    counted = counted_labels(fitted.labels_, data, len(centers))
    if centers.shape != shape or counted is None:
        return None
    (labels, strays), objective, sums = counted, 0.0, np.zeros(shape)
    mean, square = np.asarray(X.T @ weight).ravel() / weight.sum(), np.zeros(shape[1])
    for start in range(0, len(weight), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = dense(X[rows]).astype(np.float64)
        distances = np.stack([np.square(block - center).sum(axis=1) for center in centers], axis=1)
        own = distances[np.arange(len(block)), labels[rows]]
        # two ways to sum a squared distance differ by its rounding
        strays += int(np.sum(~(own <= distances.min(axis=1) * (1.0 + 4 * EPSILON * shape[1]))))
        objective += float(weight[rows] @ own)
        square += weight[rows] @ np.square(block - mean)
        np.add.at(sums, labels[rows], weight[rows, None] * (block - centers[labels[rows]]))
    total = np.bincount(labels, weights=weight, minlength=len(centers))
    moves = sums / np.where(total > 0.0, total, 1.0)[:, None]
    saved = float(total @ np.sum(moves**2, axis=1))
    variance = float(square.mean()) / float(weight.sum())
    is_spread = objective > sum_error(len(weight)) * float(square.sum())
    n_empty = _without_reason(centers[total == 0.0], X, parameters.init, is_spread=is_spread)
    return MeasuredClusters(labels, float(strays), objective, float(np.sum(moves**2)), saved, variance, n_empty)


def _without_reason(empty: Array, X: SparseOrDense, init: Any, *, is_spread: bool) -> int:
    """Return how many centers without rows no fit would leave."""
    if is_spread or not len(empty):
        return len(empty)
    rows = dense(X).astype(np.float64)
    if callable(init) or (isinstance(init, str) and init in STARTS_THAT_ARE_NO_ROWS):
        return int(np.sum(((empty < rows.min(axis=0)) | (empty > rows.max(axis=0))).any(axis=1)))
    starts = rows if isinstance(init, str) else np.vstack([rows, np.asarray(init, dtype=X.dtype)])
    return sum(not (starts == center).all(axis=1).any() for center in empty)


def objective_claim(stored: float, objective: float, n_rows: int) -> Claim:
    """Return the claim that the stored objective is that of the stored centers."""
    error = abs(stored - objective) / objective if objective > 0.0 else abs(stored)
    return Claim("objective", "relative distance of inertia_ from its recomputed value", error, sum_error(n_rows))


def kmeans_certificate(strays: float, moved: float, allowed: float, n_rows: int) -> Certificate:
    """Return what is claimed of a fixed point."""
    statement = f"of {n_rows:,} rows, those nearer to another center than to their own"
    return Certificate(
        "stationary",
        (
            Claim("assignment", statement, strays, 0.0),
            Claim("centers", "sum of squared moves in one more step", moved, allowed, "Raise max_iter, or tol."),
        ),
    )


def with_gap(certificate: Certificate, objective: float, bound: float | None) -> Certificate:
    """Return the certificate with the distance to the best clustering of all, if a bound says anything about it."""
    if objective > 0.0 and not (bound or 0.0) > 0.0:
        return certificate
    below = (bound or 0.0) / objective if objective > 0.0 else 1.0
    statement = "part of the objective that the best clustering of all could save, at most"
    gap = gap_claim("gap", statement, 1.0, below, CLOSED, rounding=CLOSED)
    if gap.holds:
        return replace(certificate, grade="optimal").with_claims(gap)
    if below > 1.0:
        return certificate.with_claims(gap)
    # no claim: how far a bound is from the objective says as much of the bound as of the clustering
    saved = f"The best clustering of all could save at most {100.0 * (1.0 - below):.3g} % of the objective."
    return replace(certificate, reason=f"{certificate.reason} {saved}".strip())


def counted_labels(labels: Any, data: TrainingData, n_clusters: int) -> tuple[Array, int] | None:
    """Return the labels of the rows that count, and how many of the others are not -1; None if they are no labels."""
    labels, counted = np.asarray(labels), data.given_rows(np.arange(data.X.shape[0]))
    if labels.shape != (data.n_given,) or labels.dtype.kind != "i":
        return None
    own = labels[counted]
    return (own, int(np.sum(np.delete(labels, counted) != -1))) if np.all((own >= 0) & (own < n_clusters)) else None


def rounding_of_centers(X: SparseOrDense, n_clusters: int) -> float:
    """Return by how much, squared and summed, centers differ from means because they are stored as the data are."""
    largest = float(abs(X).max())
    rounding = 8.0 * float(np.finfo(X.dtype).eps) + sum_error(X.shape[0])
    return n_clusters * X.shape[1] * (rounding * largest) ** 2


# rows in blocks


@dataclass(frozen=True, eq=False)
class BlockClusters:
    """What one pass over the rows says of stored centers."""

    sums: BlockSums
    n_rows: int
    strays: int
    """Rows whose stored label is not that of a nearest center."""
    objective: float
    totals: Array
    shifts: Array
    """``sum w (x - center)`` of the rows of each center."""
    slack: Array
    """``sum w |x - center|`` of the rows that lie as near to another center: they may belong to either."""
    is_row: Array
    """Whether some row is the center itself."""
    largest: float
    epsilon: float
    """Relative rounding of the numbers in which the rows are stored."""


def measure_block(block: Any, centers: Array, labels: Mapping[int, Array]) -> BlockClusters:
    """Return what a block says of centers and, where there are any, of the labels of its rows."""
    k, d = centers.shape
    X, weight = block.X, _weights(block)
    stored = labels.get(block.number)
    strays, objective, totals, shifts = 0, 0.0, np.zeros(k), np.zeros((k, d))
    slack, is_row, size = np.zeros(k), np.zeros(k, dtype=bool), 0.0
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        counts = weight[part] > 0
        rows, w = dense(X[part]).astype(np.float64)[counts], weight[part][counts]
        nearest, ties, tied = _nearest(rows, centers)
        away = rows - centers[nearest]
        own = np.square(away).sum(axis=1)
        if stored is not None:
            strays += int(np.sum(stored[part][~counts] != -1))
            theirs = np.square(rows - centers[np.clip(stored[part][counts], 0, k - 1)]).sum(axis=1)
            strays += int(np.sum(~(theirs <= own * (1.0 + 4 * EPSILON * d)) | (stored[part][counts] < 0)))
        objective += float(w @ own)
        totals += np.bincount(nearest, weights=w, minlength=k)
        shifts += np.stack([np.bincount(nearest, weights=w * column, minlength=k) for column in away.T], axis=1)
        slack += (w[ties, None] * np.where(tied, np.sqrt(own[ties])[:, None], 0.0)).sum(axis=0)
        is_row[nearest[own == 0.0]] = True
        is_row |= (tied & (own[ties] == 0.0)[:, None]).any(axis=0)
        size = float(np.max(np.abs(rows), initial=size))
    epsilon = float(np.finfo(X.dtype).eps) if X.dtype.kind == "f" else EPSILON
    return BlockClusters(
        sum_block(block, "rows"), X.shape[0], strays, objective, totals, shifts, slack, is_row, size, epsilon
    )


def _nearest(rows: Array, centers: Array) -> tuple[Array, Array, Array]:
    """Return the nearest center of each row, which rows have two, and which centers these are.

    Products tell it but for rounding; where that leaves a doubt, squared differences do, and of ties the first counts.
    """
    middle = centers.mean(axis=0)
    moved, around = rows - middle, centers - middle
    sizes = np.square(around).sum(axis=1)
    rough = sizes - 2.0 * (moved @ around.T)
    error = 8 * EPSILON * (rows.shape[1] + 4) * (np.square(moved).sum(axis=1) + sizes.max())
    nearest = rough.argmin(axis=1)
    best = rough[np.arange(len(rows)), nearest]
    doubtful = np.flatnonzero((~(rough > (best + 2.0 * error)[:, None])).sum(axis=1) > 1)
    exact = np.stack([np.square(rows[doubtful] - center).sum(axis=1) for center in centers], axis=1)
    nearest[doubtful] = exact.argmin(axis=1)
    tied = exact <= exact.min(axis=1)[:, None] * (1.0 + 4 * EPSILON * rows.shape[1])
    several = tied.sum(axis=1) > 1
    return nearest, doubtful[several], tied[several]


def join_measured(found: Sequence[BlockClusters]) -> BlockClusters:
    """Return what several blocks say."""
    return BlockClusters(
        add_blocks([one.sums for one in found]),
        sum(one.n_rows for one in found),
        sum(one.strays for one in found),
        math.fsum(one.objective for one in found),
        np.sum([one.totals for one in found], axis=0),
        np.sum([one.shifts for one in found], axis=0),
        np.sum([one.slack for one in found], axis=0),
        np.any([one.is_row for one in found], axis=0),
        float(np.max([one.largest for one in found])),
        max(one.epsilon for one in found),
    )


def prove_kmeans_in_passes(fitted: Seen, parameters: Seen, blocks: Any) -> Certificate:
    """Return the certificate from one pass over rows in blocks; stored labels, if there are any, take one more.

    Rows that lie as near to two centers may belong to either: a center must be the mean of its rows but for them.
    """
    centers, k = np.asarray(fitted.cluster_centers_, dtype=np.float64), parameters.n_clusters
    if centers.shape != (k, blocks.n_features):
        return kmeans_certificate(math.inf, math.inf, math.inf, 0)
    stored = getattr(fitted, "labels_", None) if "labels_" in vars(fitted) else None
    labels = None if stored is None else _labels_of_blocks(np.asarray(stored), blocks)
    found: BlockClusters = blocks.reduce(measure_block, join_measured, centers, labels or {})
    (sums,) = found.sums.by_label.values()
    scatter = sums.about(sums.pivot + sums.first / sums.weight).second
    rounding = 8.0 * found.epsilon + sum_error(found.n_rows)
    allowed = parameters.tol * float(np.trace(scatter)) / sums.weight / centers.shape[1]
    allowed += centers.size * (rounding * found.largest) ** 2
    used = np.where(found.totals > 0.0, found.totals, 1.0)
    moves = np.maximum(np.linalg.norm(found.shifts, axis=1) - found.slack, 0.0) / used
    is_spread = found.objective > sum_error(found.n_rows) * float(np.trace(scatter))
    started = np.empty((0, centers.shape[1])) if isinstance(parameters.init, str) else np.asarray(parameters.init)
    no_reason = found.totals == 0.0
    if not is_spread:
        no_reason &= ~found.is_row & ~np.array([(started == center).all(axis=1).any() for center in centers])
    strays = float(found.strays) if labels is not None else math.inf
    certificate = kmeans_certificate(strays, float(np.sum(moves**2)), allowed, found.n_rows)
    if stored is None:  # then nothing is said of where rows belong
        certificate = replace(certificate, claims=certificate.claims[1:])
    certificate = certificate.with_claims(
        objective_claim(fitted.inertia_, found.objective, found.n_rows),
        Claim("empty clusters", EMPTY, float(no_reason.sum()), 0.0, "Raise max_iter, or ask for fewer clusters."),
    )
    return with_gap(certificate, found.objective, spectral_bound_of(scatter, found.n_rows, k))


def _labels_of_blocks(labels: Array, blocks: Any) -> dict[int, Array] | None:
    """Return the labels of the rows of each block; None if they are not one for each row."""
    heights = dict(blocks.reduce(height_of_block, join_heights))
    if labels.shape != (sum(heights.values()),) or labels.dtype.kind != "i":
        return None
    ends = np.cumsum(list(heights.values()))
    return dict(zip(heights, np.split(labels, ends[:-1]), strict=True))


def height_of_block(block: Any) -> tuple[tuple[int, int], ...]:
    """Return the number of a block, and how many rows it has."""
    return ((block.number, block.X.shape[0]),)


def join_heights(found: Sequence[tuple[tuple[int, int], ...]]) -> tuple[tuple[int, int], ...]:
    """Return the same of several blocks, in order."""
    return tuple(one for some in found for one in some)


def _weights(block: Any) -> Array:
    return np.ones(block.X.shape[0]) if block.weight is None else np.asarray(block.weight, dtype=np.float64)


PROVES_BLOCKS = {"KMeans": prove_kmeans_in_passes}
PROVES = {"KMeans": prove_kmeans, "MiniBatchKMeans": prove_minibatch_kmeans}
