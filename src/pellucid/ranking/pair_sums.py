r"""Sums over pairs of rows in the same query, without listing the pairs.

A pair :math:`(i, j)` has :math:`y_i > y_j` and the margin :math:`m_{ij} = f_i - f_j`. Sorted by score, the rows whose
margins with :math:`i` lie in a window are neighbors, and a tree of sums by rank of :math:`y` leaves out those that are
not below it: :math:`O(n\log n)` for what has :math:`O(n^2)` terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.threads import run_blocks
from pellucid.core.types import Array
from pellucid.ranking.pair_sums_kernels import window_pass


class Pairs:
    """Rows with their queries (numbered from 0), ranks of ``y`` within the query, and weights."""

    def __init__(self, y: Array, query: Array, weight: Array) -> None:
        self.query, self.weight = query, weight
        self.starts = np.append(0, np.cumsum(np.bincount(query)))
        self.rank, self.levels = ranks_within(y, query)
        self.rank_from_top = self.levels[query] - 1 - self.rank

    def sorted_by(self, f: Array) -> SortedRows:
        """Return the rows in the order of their scores."""
        order = np.argsort(f, kind="stable") if len(self.levels) == 1 else np.lexsort((f, self.query))
        return SortedRows(self, f, order, self.starts)


@dataclass(frozen=True)
class SortedRows:
    """Rows, or some of them, in the order of query and score; query q is ``order[starts[q]:starts[q + 1]]``."""

    pairs: Pairs
    f: Array
    order: Array
    starts: Array

    def only(self, chosen: Array) -> SortedRows:
        """Return some of the rows, chosen by a mask."""
        counts = np.bincount(self.pairs.query[chosen], minlength=len(self.pairs.levels))
        return SortedRows(self.pairs, self.f, self.order[chosen[self.order]], np.append(0, np.cumsum(counts)))

    def sums(self, V: Array, low: float, high: float) -> tuple[Array, Array]:
        """Return the weighted sums of ``V`` over the worse and the better rows of each with margins in a window."""
        worse, better = run_blocks(lambda side: side(V, low, high), (self.worse, self.better))
        return worse, better

    def worse(self, V: Array, low: float, high: float) -> Array:
        """Return the sums over the rows of lower rank with ``low <= f_i - f_j < high``."""
        pairs = self.pairs
        return self._pass(self.order, self.starts, pairs.levels, self.f, pairs.rank, V, low, high)

    def better(self, V: Array, low: float, high: float) -> Array:
        """Return the sums over the rows of higher rank with ``low <= f_k - f_i < high``: the same, upside down."""
        pairs, starts = self.pairs, len(self.order) - self.starts[::-1]
        return self._pass(self.order[::-1], starts, pairs.levels[::-1], -self.f, pairs.rank_from_top, V, low, high)

    def _pass(
        self, order: Array, starts: Array, levels: Array, f: Array, rank: Array, V: Array, low: float, high: float
    ) -> Array:
        out = np.zeros_like(V)
        tree = np.empty((levels.max(initial=0) + 1, V.shape[1]))
        window_pass(order, starts, levels, f, rank, self.pairs.weight, V, low, high, tree, out)
        return out


def ranks_within(y: Array, query: Array) -> tuple[Array, Array]:
    """Return the rank of each ``y`` among the different values of its query, from 0, and how many there are."""
    order = np.lexsort((y, query))
    is_new = np.append(True, (np.diff(y[order]) != 0) | (np.diff(query[order]) != 0))
    number = np.cumsum(is_new) - 1  # of the value, counted through all queries
    first = number[np.searchsorted(query[order], np.arange(query.max(initial=0) + 1))]
    rank = np.empty(len(y), dtype=np.int64)
    rank[order] = number - first[query[order]]
    return rank, np.diff(np.append(first, number[-1] + 1))
