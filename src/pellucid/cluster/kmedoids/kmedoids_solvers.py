"""Partitioning around medoids: BUILD, then eager swaps (FasterPAM, Schubert and Rousseeuw 2021)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.cluster.agglomerative.agglomerative_solvers import euclidean_matrix
from pellucid.cluster.agglomerative.distances import EUCLIDEAN, distances_between
from pellucid.core.fit import Effort, Fit
from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.trace import Trace
from pellucid.core.types import Array, MetricLike
from pellucid.proofs.rounding import sum_error

FEWEST_AT_ONCE, MOST_AT_ONCE = 16, 1024
"""Candidates measured in one go: fewer after a swap, which makes what was measured after it void."""


def all_distances(X: Array, metric: MetricLike) -> Array:
    """Return the distances of all rows, in float64."""
    if isinstance(metric, str) and metric == "precomputed":
        return np.ascontiguousarray(X, dtype=np.float64)
    if isinstance(metric, str) and metric in EUCLIDEAN:
        D, unit = euclidean_matrix(X, rooted=True)
        if unit != 1.0:
            D *= unit
        return D
    D = np.ascontiguousarray(distances_between(X, X, metric))
    np.fill_diagonal(D, 0.0)
    return D


def build(D: Array, weight: Array, n_clusters: int) -> Array:
    """Return medoids chosen one by one, each the row that lowers the objective most; of equal ones the first."""
    from pellucid.cluster.kmedoids.kmedoids_kernels import build_gains

    n, far = len(D), float(D.max()) + 1.0
    near, gains, medoids = np.full(n, far), np.empty(n), np.empty(n_clusters, np.int64)

    def measure(part: slice) -> None:
        build_gains(D, weight, near, part.start, part.stop, gains)

    for k in range(n_clusters):
        run_blocks(measure, split_evenly(n, thread_count()))
        gains[medoids[:k]] = -1.0
        # sums in another order may differ in their last digits, and the first row counts
        medoids[k] = int(np.argmax(gains >= gains.max() - sum_error(n) * abs(gains.max())))
        np.minimum(near, D[medoids[k]], out=near)
    return medoids


class Swaps:
    """The medoids, the two nearest of every row, and the swaps that lower the objective."""

    def __init__(self, D: Array, weight: Array, medoids: Array) -> None:
        self.D, self.weight, self.medoids = D, weight, medoids.copy()
        n, k = len(D), len(medoids)
        self.far = 2.0 * float(D.max()) + 1.0
        self.near, self.second = np.full(n, self.far), np.full(n, self.far)
        self.owner, self.runner = np.zeros(n, np.int64), np.full(n, -1)
        self.removal, self.changes, self.slots = np.zeros(k), np.empty(n), np.empty(n, np.int64)
        self.replace(0, int(medoids[0]))  # all rows belong to the first, so all are looked at again

    def replace(self, slot: int, row: int) -> None:
        """Let a row take the place of a medoid."""
        from pellucid.cluster.kmedoids.kmedoids_kernels import replace_medoid

        state = (self.near, self.second, self.owner, self.runner, self.removal)
        replace_medoid(self.D, self.weight, self.medoids, slot, row, self.far, *state)

    @property
    def objective(self) -> float:
        """The sum of the distances to the nearest medoids."""
        return float(self.weight @ self.near)

    def measure(self, first: int, last: int) -> None:
        """Compute what the best swap with each of these rows would change."""
        from pellucid.cluster.kmedoids.kmedoids_kernels import swap_gains

        def work(part: slice) -> None:
            state = (self.D, self.weight, self.near, self.second, self.owner, self.removal)
            start, stop = first + part.start, first + part.stop
            swap_gains(*state, start, stop, np.empty(len(self.medoids)), self.changes, self.slots)

        n_threads = thread_count() if (last - first) * len(self.D) >= 1 << 18 else 1
        run_blocks(work, split_evenly(last - first, n_threads))

    def sweep(self, start: int, allowed: float) -> tuple[int, int]:
        """Look at every row once from ``start``, swap where it lowers the objective; return swaps and the last one."""
        n, n_swaps, last_swap, at_once = len(self.D), 0, -1, FEWEST_AT_ONCE
        place, end = start, start + n
        while place < end:
            first = place % n
            last = min(first + at_once, n, first + end - place)
            self.measure(first, last)
            better = np.flatnonzero(self.changes[first:last] < -allowed)
            better = better[~np.isin(first + better, self.medoids)]
            if len(better) == 0:
                place, at_once = place + last - first, min(2 * at_once, MOST_AT_ONCE)
                continue
            row = first + int(better[0])
            self.replace(int(self.slots[row]), row)
            n_swaps, last_swap = n_swaps + 1, row
            place, at_once = place + row - first + 1, max(FEWEST_AT_ONCE, at_once // 2)
        return n_swaps, last_swap


def partition(D: Array, weight: Array, medoids: Array, effort: Effort, finish: Callable[[Array], Any]) -> Fit:
    """Return the medoids after swaps with every row until none lowers the objective, or ``max_iter`` sweeps."""
    swaps, trace = Swaps(D, weight, medoids), Trace()
    allowed, start, stopped = sum_error(len(D)), 0, "max_iter"
    for n_iter in range(1, effort.max_iter + 1):
        n_swaps, last_swap = swaps.sweep(start, allowed * swaps.objective)
        trace.add(iteration=n_iter, objective=swaps.objective, swaps=n_swaps)
        trace.keep(medoids=swaps.medoids)
        if effort.watch(swaps.medoids) or n_swaps == 0:
            stopped = "no swap lowers the objective" if n_swaps == 0 else "a callback"
            break
        start = (last_swap + 1) % len(D)  # what was looked at after the last swap need not be looked at again
    return Fit({**finish(swaps.medoids), "n_iter_": n_iter}, trace, stopped)
