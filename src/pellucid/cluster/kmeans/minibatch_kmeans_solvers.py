"""k-means from batches: each batch pulls the centers towards the means of its rows.

A center is the mean of all rows that were ever assigned to it, at the time they were. Centers with very few rows are
drawn anew from the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pellucid.cluster.kmeans.center_answers import ClusterSums, score_rows
from pellucid.cluster.kmeans.measured_rows import hashes_of, measured_rows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters
from pellucid.core.trace import Trace
from pellucid.core.types import Array, SparseOrDense
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.training_data import TrainingData

SINCE_LAST = 10
"""Rows for each cluster after which centers with few rows are looked for."""
FEWEST_KEPT = 0.5
"""Share of a batch that may become new centers, at most."""


@dataclass(frozen=True)
class BatchRules:
    """How batches are drawn and when they end."""

    batch_size: int
    max_iter: int
    goal: float
    """Sum of squared moves at which to stop; 0 for never."""
    max_no_improvement: int | None
    reassignment_ratio: float
    watch: Watch = ignore


@dataclass
class BatchState:
    """Centers, and the weight of the rows that each is the mean of."""

    centers: Array
    counts: Array
    since_reassignment: int = 0


class Batches:
    """Rows drawn by their weights, from an order that depends on their values, not on the table's."""

    def __init__(self, data: TrainingData) -> None:
        hashes = hashes_of(measured_rows(data.X))
        self.X, self.order = data.X, np.argsort(hashes, kind="stable")
        self.n_different = 1 + int(np.count_nonzero(np.diff(hashes[self.order])))
        self.heights = None if data.weight is None else np.cumsum(data.weight[self.order])

    def draw(self, count: int, rng: np.random.RandomState) -> Array:
        """Return positions of rows, drawn with replacement."""
        shares = rng.uniform(size=count)
        if self.heights is None:
            return self.order[(shares * len(self.order)).astype(np.intp)]
        places = np.searchsorted(self.heights, shares * self.heights[-1], side="right")
        return self.order[np.minimum(places, len(self.order) - 1)]


@dataclass
class BatchProgress:
    """The mean of the objective over recent batches, and for how long it has not fallen."""

    smoothing: float
    mean: float | None = None
    least: float = math.inf
    n_without: int = field(default=0)

    def add(self, value: float) -> None:
        """Take the mean squared distance of a batch."""
        self.mean = value if self.mean is None else self.mean * (1 - self.smoothing) + value * self.smoothing
        self.n_without = 0 if self.mean < self.least else self.n_without + 1
        self.least = min(self.mean, self.least)


def best_start(
    data: TrainingData,
    batches: Batches,
    make: Callable[[TrainingData], Array],
    n_starts: int,
    init_size: int,
    rng: np.random.RandomState,
) -> Array:
    """Return the start with the least objective on rows drawn for that; each is made from rows drawn for it."""

    def some() -> TrainingData:
        return data if init_size >= batches.n_different else TrainingData(data.X[batches.draw(init_size, rng)])

    judges = some()
    starts = [make(some()) for _ in range(n_starts)]
    return min(starts, key=lambda centers: score_rows(judges.X, judges.weight, centers))


def learn_batches(
    data: TrainingData, batches: Batches, state: BatchState, rules: BatchRules, rng: np.random.RandomState
) -> tuple[Trace, BatchProgress, str]:
    """Bring the centers to where batches no longer help; return the way there."""
    n, trace, stopped = batches.n_different, Trace(), "max_iter"
    progress = BatchProgress(min(2.0 * rules.batch_size / (n + 1), 1.0))
    for step in range(1, rules.max_iter * n // rules.batch_size + 1):
        before = state.centers
        rows = data.X[batches.draw(rules.batch_size, rng)]
        objective = learn_batch(rows, None, state, rules.reassignment_ratio, rng) / rules.batch_size
        moved = float(np.sum((state.centers - before) ** 2))
        trace.add(iteration=step, objective=objective, moved=moved)
        trace.keep(centers=before)
        if rules.watch(state.centers):
            stopped = "callback"
            break
        if step == 1:  # that of the start
            continue
        progress.add(objective)
        if rules.goal > 0.0 and moved <= rules.goal:
            stopped = "centers moved less than tol"
            break
        if rules.max_no_improvement is not None and progress.n_without >= rules.max_no_improvement:
            stopped = "no improvement over several batches"
            break
    return trace, progress, stopped


def learn_batch(
    X: SparseOrDense, weight: Array | None, state: BatchState, ratio: float, rng: np.random.RandomState
) -> float:
    """Pull the centers towards the rows of a batch; return the objective of the rows before that."""
    rows = measured_rows(X)
    nearest, sums = NearestCenters(rows, state.centers), ClusterSums(rows, weight, len(state.centers))
    nearest.assign(state.centers)
    sums.gather(nearest.bounds.labels)
    objective = sums.objective(nearest.centers)
    state.counts = state.counts.copy()
    state.counts[nearest.order] += sums.totals
    pulls = nearest.as_given(sums.sums - sums.totals[:, None] * (nearest.centers - rows.middle))
    state.centers = state.centers + pulls / np.where(state.counts > 0.0, state.counts, 1.0)[:, None]
    state.since_reassignment += rows.shape[0]
    if not state.counts.all() or state.since_reassignment >= SINCE_LAST * len(state.centers):
        state.since_reassignment = 0
        _reassign(X, state, ratio, rng)
    return objective


def _reassign(X: SparseOrDense, state: BatchState, ratio: float, rng: np.random.RandomState) -> None:
    """Make rows of the batch the centers of clusters that have had less than a part of the rows of the largest."""
    is_small = state.counts < ratio * state.counts.max()
    most = int(FEWEST_KEPT * X.shape[0])
    if is_small.sum() > most:
        is_small[np.argsort(state.counts, kind="stable")[most:]] = False
    count = int(is_small.sum())
    if count == 0:
        return
    rows = X[rng.choice(X.shape[0], count, replace=False)]
    state.centers[is_small] = rows.toarray() if hasattr(rows, "toarray") else rows
    state.counts[is_small] = state.counts[~is_small].min()  # as if it were no smaller than the next: not again at once
