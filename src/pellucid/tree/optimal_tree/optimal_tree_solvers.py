r"""The tree of least cost up to a depth, by branch and bound over its splits.

Let :math:`C_d(S)` be the least cost of a tree of depth :math:`d` on the rows :math:`S`: the weight of its errors plus
the penalty of its leaves. A tree for more rows is one for fewer, and rows that are left out save at most their weight:

.. math:: C_d(S) - w(S \setminus R)\ \le\ C_d(R)\ \le\ C_d(S)\qquad (R \subseteq S)

The rows below the thresholds of a column are nested, so what is known at two thresholds bounds the cost at all between
them. Intervals of thresholds wait in a heap, the one with the least bound first; the search is over when the least
bound is no better than the best tree. Depth two is solved by counting pairs of bins, where these are not too many.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pellucid.core.budget import Budget
from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.core.watching import Watch, ignore
from pellucid.proofs.rounding import sum_error
from pellucid.tree.optimal_tree.optimal_tree_columns import BinnedColumns

MOST_PAIRS = 4e7
"""Pairs of bins that are counted for a tree of depth two; where there are more, its splits are searched one by one."""
REPORT_EVERY = 100
"""First splits after which the trace gets a row, beside those that improve the tree."""
MOST_REMEMBERED = 100_000
"""Subsets of the rows whose best trees are remembered."""


@dataclass(frozen=True)
class OptimalSplit:
    """An inner node: a split and the trees on its two sides; None stands for a leaf."""

    column: int
    cut: int
    left: OptimalSplit | None = None
    right: OptimalSplit | None = None


@dataclass(frozen=True)
class BestTree:
    """The best tree found for some rows, its cost, and a proved lower bound of all costs."""

    cost: float
    lower: float
    tree: OptimalSplit | None


@dataclass
class TreeSearch:
    """A search for the best tree over binned columns."""

    columns: BinnedColumns
    y: Array
    weight: Array
    n_classes: int
    penalty: float
    budget: Budget = field(default_factory=lambda: Budget(math.inf))
    watch: Watch = ignore
    trace: Trace = field(default_factory=Trace)
    n_evaluated: int = 0
    _reported: float = math.inf
    _known: dict[tuple[int, bytes], BestTree] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from pellucid.tree.optimal_tree.optimal_tree_kernels import (
            best_split,
            count_inside,
            errors_below_splits,
            two_class_errors_below_splits,
        )

        self._best_split, self._count_inside = best_split, count_inside
        self._errors_below: Callable[..., None] = (
            two_class_errors_below_splits if self.n_classes == 2 else errors_below_splits
        )
        n_bins = self.columns.n_bins
        self._described = (n_bins, self.columns.is_category, self.n_classes, int(n_bins.max()))
        self._starts = self.columns.starts
        pairs = float(n_bins.sum()) ** 2 * self.n_classes
        self._counts_pairs = pairs <= MOST_PAIRS
        self.total = float(self.weight.sum())
        self.slack = 8 * sum_error(len(self.y)) * self.total
        is_whole = self.penalty == 0.0 and bool(np.all(self.weight == np.floor(self.weight)))
        self.least_gain = 1.0 - 2 * self.slack if is_whole else self.slack  # costs are whole numbers then

    def best_tree(self, max_depth: int) -> BestTree:
        """Return the best tree on all rows."""
        rows = np.arange(len(self.y), dtype=np.int32)
        return self.solve(rows, max_depth, math.inf, is_root=True)

    def is_over(self) -> bool:
        """Return whether the time is up."""
        return self.budget.seconds_left() <= 0.0

    def solve(self, rows: Array, depth: int, enough: float, *, is_root: bool = False) -> BestTree:
        """Return the best tree; the search may end once all costs are proved to be at least ``enough``."""
        leaf = self._leaf(rows)
        if depth == 0 or leaf.cost <= self.penalty + self.slack:  # no error to save
            return leaf
        if depth == 1:
            return self._one_split(rows, leaf)
        if depth == 2 and self._counts_pairs:
            return self._two_levels(rows, leaf)
        key = (depth, _bits(rows, len(self.y)))
        known = self._known.get(key)
        if known is not None and (known.lower >= known.cost - self.slack or known.lower >= enough):
            return known
        found = self._search(rows, depth, enough, leaf, is_root=is_root)
        if len(self._known) < MOST_REMEMBERED:
            self._known[key] = found
        return found

    def _leaf(self, rows: Array) -> BestTree:
        counts = np.bincount(self.y[rows], self.weight[rows], self.n_classes)
        cost = float(counts.sum() - counts.max()) + self.penalty
        return BestTree(cost, cost, None)

    def _one_split(self, rows: Array, leaf: BestTree) -> BestTree:
        error, column, cut = self._best_split(self.columns.codes, rows, self.y, self.weight, *self._described)
        cost = float(error) + 2 * self.penalty
        return BestTree(cost, cost, OptimalSplit(column, cut)) if cost < leaf.cost - self.slack else leaf

    def _two_levels(self, rows: Array, leaf: BestTree) -> BestTree:
        left, right = self._sides(rows)
        place = int(np.argmin(left + right))
        cost = float(left[place] + right[place])
        if not cost < leaf.cost - self.slack:
            return leaf
        column = int(np.searchsorted(self._starts, place, side="right")) - 1
        cut = place - int(self._starts[column])
        halves = self._halves(rows, column, cut)
        sides = [self._one_split(half, self._leaf(half)) for half in halves]
        return BestTree(cost, cost, OptimalSplit(column, cut, sides[0].tree, sides[1].tree))

    def _sides(self, rows: Array) -> tuple[Array, Array]:
        """Return for every split the cost of its sides, with one more split on each; infinity where one is empty."""
        left, right = np.empty(self._starts[-1]), np.empty(self._starts[-1])
        arguments = (*self._described, self._starts, self.penalty, left, right)
        self._errors_below(self.columns.codes, rows, self.y, self.weight, *arguments)
        counts = np.empty(self._starts[-1], dtype=np.int64)
        self._count_inside(self.columns.codes, rows, self.columns.is_category, self._starts, counts)
        left[(counts == 0) | (counts == len(rows))] = math.inf
        return left, right

    def _halves(self, rows: Array, column: int, cut: int) -> tuple[Array, Array]:
        inside = self.columns.inside(rows, column, cut)
        return rows[inside], rows[~inside]

    def _search(self, rows: Array, depth: int, enough: float, leaf: BestTree, *, is_root: bool) -> BestTree:
        """Return the best tree with a search over its first split."""
        shallow = self.solve(rows, depth - 1, enough)  # a tree to start from, and a bound for sides of that depth
        best = shallow if shallow.cost < leaf.cost - self.slack else leaf
        waiting = _Intervals(self, rows, shallow.lower)
        evaluated, n_evaluated = math.inf, 0
        while waiting.least() < min(best.cost - self.least_gain, enough) and not self.is_over():
            interval = waiting.pop()
            place = interval.most_promising()
            left, right = self._evaluate(rows, depth, interval, place, min(best.cost - self.least_gain, enough))
            n_evaluated += 1
            evaluated = min(evaluated, left.lower + right.lower)  # below its cost where the time ended first
            if left.cost + right.cost < best.cost - self.slack:
                tree = OptimalSplit(interval.column, interval.cuts[place], left.tree, right.tree)
                best = BestTree(left.cost + right.cost, 0.0, tree)
            waiting.divide(interval, place, left.lower, right.lower)
            if is_root:
                self._report(n_evaluated, best, min(evaluated, waiting.least()))
        lower = min(evaluated, waiting.least())
        is_proved = lower >= best.cost - self.least_gain - self.slack
        return BestTree(best.cost, best.cost if is_proved else max(lower, self.penalty), best.tree)

    def _evaluate(
        self, rows: Array, depth: int, interval: Interval, place: int, goal: float
    ) -> tuple[BestTree, BestTree]:
        """Return the best trees on both sides of a split, the second only if the first leaves room below the goal."""
        halves = self._halves(rows, interval.column, interval.cuts[place])
        least_right = float(interval.bounds()[1][place])
        left = self.solve(halves[0], depth - 1, goal - least_right)
        if left.lower + least_right >= goal:
            return left, BestTree(math.inf, least_right, None)
        return left, self.solve(halves[1], depth - 1, goal - left.lower)

    def _report(self, n_evaluated: int, best: BestTree, lower: float) -> None:
        lower = min(lower, best.cost)
        if best.cost < self._reported or n_evaluated % REPORT_EVERY == 0:
            self._reported = best.cost
            self.trace.add(iteration=n_evaluated, objective=best.cost / self.total, lower_bound=lower / self.total)
        self.n_evaluated = n_evaluated
        self.watch(best.tree)


@dataclass(frozen=True)
class Interval:
    """Splits of one column between two at which the costs of both sides are known, or bounded."""

    column: int
    cuts: tuple[int, ...]
    below: Array
    """Weight of the rows on the left side of each split, and of the two at the ends, first and last."""
    left: tuple[float, float]
    """Lower bounds of the cost of the left side at the two ends."""
    right: tuple[float, float]
    is_nested: bool = True

    def bounds(self) -> tuple[Array, Array]:
        """Return lower bounds of the cost of the left and of the right side of each split."""
        inner, first, last = self.below[1:-1], self.below[0], self.below[-1]
        if not self.is_nested:
            return np.full(len(self.cuts), self.left[0]), np.full(len(self.cuts), self.right[1])
        left = np.maximum(self.left[0], self.left[1] - (last - inner))
        right = np.maximum(self.right[1], self.right[0] - (inner - first))
        return left, right

    @property
    def least(self) -> float:
        """The least bound of all splits."""
        left, right = self.bounds()
        return float(np.min(left + right))

    def most_promising(self) -> int:
        """Return the split of least bound, the middle one of several."""
        left, right = self.bounds()
        tied = np.flatnonzero(left + right <= self.least)
        return int(tied[len(tied) // 2])


class _Intervals:
    """The intervals that still may hold a better split, the one of least bound first."""

    def __init__(self, search: TreeSearch, rows: Array, whole: float) -> None:
        self._heap: list[tuple[float, int, Interval]] = []
        self._count = 0
        total = float(search.weight[rows].sum())
        floor = search.penalty
        for j, n_bins in enumerate(search.columns.n_bins.tolist()):
            weight = np.bincount(search.columns.codes[rows, j], search.weight[rows], n_bins)
            used = np.flatnonzero(weight)
            if len(used) < 2:
                continue
            if search.columns.is_category[j]:
                for cut in used.tolist():  # not nested: each bounds the other side of itself only
                    ends = np.array([0.0, weight[cut], total])
                    left = (max(floor, whole - (total - weight[cut])), floor)
                    right = (floor, max(floor, whole - weight[cut]))
                    self._push(Interval(j, (cut,), ends, left, right, is_nested=False))
            else:
                below = np.concatenate([[0.0], np.cumsum(weight[used])])
                self._push(Interval(j, tuple(used[:-1].tolist()), below, (floor, whole), (whole, floor)))

    def least(self) -> float:
        """Return the least bound of all."""
        return self._heap[0][0] if self._heap else math.inf

    def pop(self) -> Interval:
        """Take out the interval of least bound."""
        return heapq.heappop(self._heap)[2]

    def divide(self, interval: Interval, place: int, left: float, right: float) -> None:
        """Put back what is left of an interval on both sides of a split whose costs are now bounded."""
        if not interval.is_nested:
            return
        cuts, below = interval.cuts, interval.below
        here = place + 1  # among the weights, which have an end before the first split
        (left_before, left_after), (right_before, right_after) = interval.left, interval.right
        if place > 0:
            ends = ((left_before, left), (right_before, right))
            self._push(Interval(interval.column, cuts[:place], below[: here + 1], *ends))
        if place + 1 < len(cuts):
            ends = ((left, left_after), (right, right_after))
            self._push(Interval(interval.column, cuts[place + 1 :], below[here:], *ends))

    def _push(self, interval: Interval) -> None:
        self._count += 1
        heapq.heappush(self._heap, (interval.least, self._count, interval))


def _bits(rows: Array, n: int) -> bytes:
    mask = np.zeros(n, dtype=bool)
    mask[rows] = True
    return np.packbits(mask).tobytes()
