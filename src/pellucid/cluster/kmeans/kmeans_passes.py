"""k-means over rows in blocks: each pass is a round of Lloyd's method, made for all starts at once.

The start 'k-means++' is that of some rows, which the first pass keeps, and their clustering. Rounds go over them, too:
a pass says how far the means of all rows lie from theirs, and with this correction many rounds over few rows lead
nearly where they would lead over all. So a few passes do.

Where the objective of the start is larger for all rows than for those kept, these have missed what counts: a few far
rows. Then the start is k-means|| (Bahmani et al., 2012): each of a few passes draws many rows at once, as likely as
their weight times their squared distance to those drawn before, the mean being the first. Then each of them gets the
weight of the rows nearest to it, and k-means in memory finds centers of these few. A row is drawn if a random time,
short where its chance is large, is among the shortest: no sum over all rows must be known before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.center_answers import (
    FEW_ROWS,
    NOTHING,
    ClusterSums,
    bound_from_scatter,
    own_distances,
    with_known_gap,
)
from pellucid.cluster.kmeans.kmeans_solvers import (
    SHORT_STEPS,
    UNCHANGED,
    Clusters,
    are_same,
    best_lloyd,
    descent_claim,
)
from pellucid.cluster.kmeans.kmeans_starts import plus_plus
from pellucid.cluster.kmeans.measured_rows import DenseRows
from pellucid.cluster.kmeans.nearest_centers import NearestCenters
from pellucid.core.fit import Effort, Fit
from pellucid.core.input_rules import FLOATS
from pellucid.core.scale.first_look import FirstLook, first_look
from pellucid.core.scale.moments import RowMoments, groups_of
from pellucid.core.scale.row_blocks import RowBlock, RowBlocks
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.training_data import TrainingData

ROUNDS, DRAWN_PER_CLUSTER = 3, 4
"""Passes of the start, and rows that each of them draws."""
ROUNDS_IN_MEMORY = 100
"""Of Lloyd's method on a few rows, which only tell where to go."""
TRIES = 3
"""Starts on the rows kept, of which the best is taken."""
LIKE_ALL = 1.1
"""Part of the objective of the rows kept that all rows may have for the same centers."""
SETTLED = 1e-3
"""Part of the goal that the centers of the rows kept move by in their last round, at most."""


@dataclass(frozen=True, eq=False)
class ClusterTotals:
    """Sums of rows, moved by a middle, weights and numbers of each cluster; and the objective."""

    sums: Array
    totals: Array
    counts: Array
    objective: float


@dataclass(frozen=True, eq=False)
class ChosenRows:
    """Rows with the smallest of some keys, in the order of these."""

    keys: Array
    rows: Array
    weight: Array
    labels: Array
    most: int

    def best(self) -> ChosenRows:
        """Return those of the smallest keys, as many as are wanted at most; of equal ones the first."""
        best = np.argsort(self.keys, kind="stable")[: self.most]
        return ChosenRows(self.keys[best], self.rows[best], self.weight[best], self.labels[best], self.most)


@dataclass(eq=False)
class LloydRun:
    """One start on its way."""

    centers: Array
    goal: float
    trace: Trace = field(default_factory=Trace)
    means: Array = field(default_factory=lambda: NOTHING)
    """Of the rows of the last centers that were worth more than those before."""
    moved: float = math.inf
    objective: float = math.inf
    n_used: int = 0
    is_ahead: bool = False
    """Whether the centers are farther on than the means that a round leaves."""
    is_led: bool = True
    """Whether the rows kept never led astray."""
    stopped: str = ""

    def step(self, found: ClusterTotals, middle: Array, kept: KeptRows | None) -> None:
        """Move the centers to the means of their rows or, with the help of the rows kept, farther; unless it is over.

        Where that was too far, go back to the means, and step by step from there.
        """
        if self.is_ahead and not found.objective <= self.objective:
            self.centers, self.is_ahead, self.is_led = self.means, False, False
            return
        last = self.moved
        self.measure(found, middle)
        self.trace.add(iteration=len(self.trace) + 1, objective=found.objective, moved=self.moved)
        if self.moved == 0.0 or are_same(self.means, self.centers, middle):
            self.stopped = UNCHANGED
        elif self.moved <= self.goal and (self.is_ahead or last <= self.goal):
            self.stopped = SHORT_STEPS
        elif kept is not None and self.is_led and found.counts.all():
            self.centers, self.is_ahead = kept.settled(self.centers, self.means, self.goal), True
        else:
            self.centers, self.is_ahead = self.means, False

    def measure(self, found: ClusterTotals, middle: Array) -> None:
        """Keep what the centers are worth, and where the next round would move them."""
        is_used = found.totals > 0.0
        means = np.where(is_used[:, None], middle + found.sums / np.where(is_used, found.totals, 1.0)[:, None], 0.0)
        means[~is_used] = self.centers[~is_used]
        self.means, self.moved = means, float(np.sum((means - self.centers) ** 2))
        self.objective, self.n_used = found.objective, int(np.sum(found.counts > 0))


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some rows that stand for all: they tell where many rounds lead, and a pass tells by how much they are wrong."""

    data: TrainingData

    def settled(self, centers: Array, means: Array, goal: float) -> Array:
        """Return where rounds over the rows kept come to rest, if each leads by as much elsewhere as it does at first.

        ``means`` are those of all rows at the centers: what the rows kept make of these is corrected for good.
        """
        clusters = Clusters(self.data, centers, DenseRows(np.ascontiguousarray(self.data.X)))
        error = None
        for _ in range(ROUNDS_IN_MEMORY):
            clusters.assign(centers)
            if not clusters.sums.counts.all():  # they tell nothing of a center without rows
                return means
            found = clusters.means()
            error = means - found if error is None else error
            moved = float(np.sum((found + error - centers) ** 2))
            centers = found + error
            if moved <= SETTLED * goal:
                break
        return centers


def kmeans_in_passes(estimator: Any, blocks: RowBlocks, watch: Watch) -> Fit:
    """Return the best of all starts."""
    look = first_look(blocks, "rows")
    estimator._check_count(blocks.n_rows)
    moments = look.moments
    assert moments is not None
    goal = estimator.tol * float(np.trace(moments.scatter)) / moments.weight / blocks.n_features
    rng = check_random_state(estimator.random_state)
    runs, kept = _first_runs(estimator, blocks, look, goal, rng)
    for number in range(estimator.max_iter):
        active = [run for run in runs if not run.stopped]
        if not active:
            break
        found = _totals_of(blocks, active, moments.mean)
        if number == 0 and kept is not None and not _is_told(runs, found):
            runs, kept = [LloydRun(start, goal) for start in _far_starts(estimator, blocks, moments, rng)], None
            active, found = runs, _totals_of(blocks, runs, moments.mean)
        for run, totals in zip(active, found, strict=True):
            run.step(totals, moments.mean, kept)
            if watch({"cluster_centers_": run.centers}):
                run.stopped = "callback"
    late = [run for run in runs if run.stopped not in (UNCHANGED, SHORT_STEPS)]  # their centers have just moved
    for run, totals in zip(late, _totals_of(blocks, late, moments.mean) if late else (), strict=True):
        if run.is_ahead and not totals.objective <= run.objective:
            run.centers = run.means  # no pass has seen them, but a round never makes it worse
            (totals,) = _totals_of(blocks, [run], moments.mean)
        run.measure(totals, moments.mean)
    best = min(runs, key=lambda run: run.objective)
    estimator._warn_of_empty_clusters(best.n_used)
    attributes = {"cluster_centers_": best.centers, "inertia_": best.objective, "n_iter_": len(best.trace)}
    return Fit(attributes, best.trace, best.stopped or "max_iter", _certificate(best, moments, blocks.n_rows))


def _certificate(run: LloydRun, moments: RowMoments, n_rows: int) -> Certificate | None:
    """Return what the last pass says of its centers; None where it takes one more, by the proof."""
    rounding = 8.0 * EPSILON + sum_error(n_rows)
    allowed = run.goal + run.centers.size * (rounding * float(np.abs(run.centers).max())) ** 2
    centers = Claim("centers", "sum of squared moves in one more step", run.moved, allowed, "Raise max_iter, or tol.")
    scatter = float(np.trace(moments.scatter))
    certificate = Certificate("stationary", (centers, descent_claim(run.trace, scatter)))
    is_in_doubt = run.stopped and not certificate.holds  # rounds that run out leave none
    if is_in_doubt or run.n_used < len(run.centers) or n_rows <= FEW_ROWS:
        return None
    least = bound_from_scatter(moments.scatter, n_rows, len(run.centers)) if run.objective > 0.0 else 0.0
    return with_known_gap(certificate, run.objective, least)


def _totals_of(blocks: RowBlocks, runs: Sequence[LloydRun], middle: Array) -> list[ClusterTotals]:
    """Return the sums of the clusters of each run; a cluster without rows gets the one farthest from its center."""
    found = blocks.reduce(cluster_block, join_totals, [run.centers for run in runs], middle)
    for place, (run, totals) in enumerate(zip(runs, found, strict=True)):
        if not totals.counts.all():
            far = blocks.reduce(farthest_of_block, join_chosen, run.centers, middle)
            found[place] = _filled(totals, far[0], middle)
    return found


def _filled(found: ClusterTotals, far: ChosenRows, middle: Array) -> ClusterTotals:
    """Return the sums after each cluster without rows has got one, as in memory."""
    sums, totals, counts = found.sums.copy(), found.totals.copy(), found.counts.copy()
    waiting = iter(range(len(far.keys)))
    for empty in np.flatnonzero(counts == 0):
        place = next((place for place in waiting if counts[far.labels[place]] > 1), None)
        if place is None or far.keys[place] == 0.0:  # fewer different rows than clusters
            break
        for cluster, sign in ((far.labels[place], -1), (empty, 1)):
            sums[cluster] += sign * far.weight[place] * (far.rows[place] - middle)
            totals[cluster] += sign * far.weight[place]
            counts[cluster] += sign
    return replace(found, sums=sums, totals=totals, counts=counts)


# from a block to its statistics


def cluster_block(block: RowBlock, starts: Sequence[Array], middle: Array) -> list[ClusterTotals]:
    """Return the sums of the rows nearest to each center, for several sets of centers."""
    rows, weight = _counted(block, middle)
    if rows is None:
        empty = [(np.zeros_like(centers), np.zeros(len(centers))) for centers in starts]
        return [ClusterTotals(sums, totals, totals.astype(np.int64), 0.0) for sums, totals in empty]
    found = []
    for centers in starts:
        labels = _nearest(rows, centers)
        sums = ClusterSums(rows, weight, len(centers))
        sums.gather(labels)
        objective = own_distances(rows, sums.weight, centers, labels)
        found.append(ClusterTotals(sums.sums, sums.totals, sums.counts, objective))
    return found


def join_totals(found: Sequence[list[ClusterTotals]]) -> list[ClusterTotals]:
    """Return the sums over several blocks."""
    return [
        ClusterTotals(
            np.sum([one.sums for one in same], axis=0),
            np.sum([one.totals for one in same], axis=0),
            np.sum([one.counts for one in same], axis=0),
            math.fsum(one.objective for one in same),
        )
        for same in zip(*found, strict=True)
    ]


def farthest_of_block(block: RowBlock, centers: Array, middle: Array) -> list[ChosenRows]:
    """Return the rows farthest from their nearest center, as many as there are centers."""
    return _chosen(block, middle, [centers], len(centers), None)


def draw_block(
    block: RowBlock, starts: Sequence[Array], middle: Array, count: int, seed: tuple[int, ...]
) -> list[ChosenRows]:
    """Return rows drawn by their weight and, where there are centers, their squared distance to the nearest."""
    return _chosen(block, middle, starts, count, np.random.default_rng((*seed, block.number)))


def _chosen(
    block: RowBlock, middle: Array, starts: Sequence[Array], count: int, rng: np.random.Generator | None
) -> list[ChosenRows]:
    rows, weight = _counted(block, middle)
    if rows is None:
        nobody = ChosenRows(NOTHING, np.empty((0, len(middle))), NOTHING, np.empty(0, np.int32), count)
        return [nobody for _ in starts]
    found = []
    for centers in starts:
        n = rows.shape[0]
        labels, distances = np.zeros(n, np.int32), np.ones(n)
        if len(centers):
            labels = _nearest(rows, centers)
            own_distances(rows, NOTHING, centers, labels, distances)
        if rng is None:
            keys = -distances
        else:
            chance = distances if weight is None else distances * weight
            keys = np.divide(rng.standard_exponential(n), chance, out=np.full(n, np.inf), where=chance > 0.0)
        some = np.sort(np.argpartition(keys, count)[:count]) if 0 < count < n else np.arange(n)
        own = np.ones(len(some)) if weight is None else weight[some]
        found.append(ChosenRows(keys[some], rows.X[some].astype(np.float64), own, labels[some], count).best())
    return found


def join_chosen(found: Sequence[list[ChosenRows]]) -> list[ChosenRows]:
    """Return the best of several blocks, which come in order."""
    joined = []
    for same in zip(*found, strict=True):
        keys, rows, weight, labels = (
            np.concatenate([getattr(one, name) for one in same]) for name in ("keys", "rows", "weight", "labels")
        )
        joined.append(ChosenRows(keys, rows, weight, labels, same[0].most).best())
    return joined


def _counted(block: RowBlock, middle: Array) -> tuple[DenseRows | None, Array | None]:
    """Return the rows that count, as k-means measures them, and their weights; None if there are none."""
    for _, (X,), weight in groups_of(block, "rows"):
        X = np.ascontiguousarray(X, dtype=X.dtype if X.dtype in FLOATS else np.float64)
        return DenseRows(X, middle), weight
    return None, None


def _nearest(rows: DenseRows, centers: Array) -> Array:
    nearest = NearestCenters(rows, centers)
    nearest.assign(centers)
    return nearest.finish()


# where to start


def _first_runs(
    estimator: Any, blocks: RowBlocks, look: FirstLook, goal: float, rng: np.random.RandomState
) -> tuple[list[LloydRun], KeptRows | None]:
    """Return the runs with the centers they start from, and the rows that may help them on.

    Given centers, and rows drawn, take Lloyd's way step by step, and may end elsewhere than the best centers near.
    """
    count, init, moments = estimator._start_count(), estimator.init, look.moments
    assert moments is not None
    if not isinstance(init, str) and not callable(init):
        return [LloydRun(estimator._given_centers(init, blocks.n_features), goal)], None
    if init not in ("k-means++", "random"):
        raise ValueError(
            f"init must be 'k-means++', 'random' or given centers for rows in blocks, got {init!r}. Take one of these."
        )
    if init == "random":
        seed, k = (int(rng.randint(2**31 - 1)),), estimator.n_clusters
        nothing = [np.empty((0, blocks.n_features))] * count
        drawn = blocks.reduce(draw_block, join_chosen, nothing, moments.mean, 2 * k, seed)
        return [LloydRun(_different(one.rows, k), goal) for one in drawn], None
    few, effort = look.data, Effort(estimator.tol, ROUNDS_IN_MEMORY)
    starts = [_start_among(few, estimator.n_clusters, rng, effort, TRIES) for _ in range(count)]
    # what they are worth to the rows kept is compared with what they are worth to all
    return [LloydRun(centers, goal, objective=objective) for centers, objective in starts], KeptRows(few)


def _is_told(runs: Sequence[LloydRun], found: Sequence[ClusterTotals]) -> bool:
    """Return whether the rows kept tell of all others: no start is worth less to all rows than to them."""
    return all(totals.objective <= LIKE_ALL * run.objective for run, totals in zip(runs, found, strict=True))


def _far_starts(estimator: Any, blocks: RowBlocks, moments: RowMoments, rng: np.random.RandomState) -> list[Array]:
    """Return starts by k-means||, which finds the few rows far from all others."""
    candidates = _far_rows(blocks, moments, estimator.n_clusters, rng)
    (totals,) = blocks.reduce(cluster_block, join_totals, [candidates], moments.mean)
    used = totals.totals > 0.0
    few = TrainingData(candidates[used], weight=totals.totals[used])
    effort = Effort(0.0, ROUNDS_IN_MEMORY)
    count = range(estimator._start_count())
    return [_start_among(few, estimator.n_clusters, rng, effort, 1)[0] for _ in count]


def _far_rows(blocks: RowBlocks, moments: RowMoments, k: int, rng: np.random.RandomState) -> Array:
    """Return the rows that a few passes draw far from those before, each once."""
    candidates, many = moments.mean[None, :], DRAWN_PER_CLUSTER * k
    for number in range(ROUNDS):
        seed = (int(rng.randint(2**31 - 1)), number)
        (drawn,) = blocks.reduce(draw_block, join_chosen, [candidates], moments.mean, many, seed)
        rows = drawn.rows[np.isfinite(drawn.keys)]
        candidates = rows if number == 0 else np.concatenate([candidates, rows])  # the mean is no row
        if not len(rows):
            break
    return np.unique(candidates, axis=0) if len(candidates) else moments.mean[None, :]


def _different(rows: Array, k: int) -> Array:
    """Return the first different rows, and again the first where there are too few."""
    _, first = np.unique(rows, axis=0, return_index=True)
    kept = np.sort(first)[:k]
    return rows[np.resize(kept, k)]


def _start_among(
    few: TrainingData, k: int, rng: np.random.RandomState, effort: Effort, tries: int
) -> tuple[Array, float]:
    """Return the centers of k-means of a few weighted rows, the best of some tries, and their objective."""
    if few.X.shape[0] <= k:
        return np.asarray(few.X[np.resize(np.arange(few.X.shape[0]), k)]), 0.0
    found = best_lloyd(few, lambda: plus_plus(few, k, rng), tries, effort).attributes
    return np.asarray(found["cluster_centers_"], dtype=np.float64), found["inertia_"]
