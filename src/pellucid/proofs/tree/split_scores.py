"""Scores of cuts, by sums over the rows of a node: the larger, the less impure are the two sides.

For gini, entropy, squared and absolute error a score is what it takes from the weighted sum of impurities, up to a
constant of the node; for the gain ratio it is that part of the information in the two sides that is about the target.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.tree.tree_rows import NodeTarget

CLASSES = ("gini", "entropy", "gain_ratio", "error")


@dataclass
class NodeScores:
    """The sums of a node, and what a cut makes of them."""

    criterion: str
    stats: Array
    """float64 (n_rows, n): what each row adds to the sums: its weight at its class, or weight times target."""
    weight: Array
    target: NodeTarget
    shift: Array
    """What was subtracted from the target: its mean, or its median."""
    scale: float
    """The size of scores, for rounding."""
    base: float
    """The score of no cut at all."""
    surely_positive: Any = True
    """For Poisson, which of the cuts last looked at have a mean above 0 on both sides beyond doubt."""

    @classmethod
    def of(cls, target: NodeTarget, weight: Array, criterion: str) -> NodeScores:
        """Return the sums of rows."""
        n, whole = len(weight), float(weight.sum())
        if criterion in CLASSES:
            cells = np.zeros((n, target.n_outputs, target.n_values))
            cells[np.arange(n)[:, None], np.arange(target.n_outputs), target.codes] = weight[:, None]
            stats = cells.reshape(n, -1)
            found = cls(criterion, stats, weight, target, np.zeros(target.n_outputs), whole, 0.0)
            total = stats.sum(axis=0)[None]
            plain = "entropy" if criterion == "gain_ratio" else criterion
            found.base = float(found._class_score(total, np.array([whole]), plain)[0])
            if criterion not in ("gini", "error"):
                found.scale = (whole if criterion == "entropy" else n) * (1.0 + math.log2(target.n_values))
            return found
        shift = np.zeros(target.n_outputs)
        if criterion == "squared_error":
            first = target.y[0]
            shift = first + (weight @ (target.y - first)) / whole
        elif criterion == "absolute_error":
            shift = np.array([weighted_median(column, weight) for column in target.y.T])
        moved = target.y - shift
        found = cls(criterion, weight[:, None] * moved, weight, target, shift, 0.0, 0.0)
        if criterion == "squared_error":
            found.scale = float(np.sum(weight[:, None] * moved**2)) / target.n_outputs
        elif criterion == "poisson":
            found.scale = float(found.stats.sum()) * (1.0 + math.log1p(n)) / target.n_outputs
        else:
            found.scale = float(np.sum(weight[:, None] * np.abs(moved))) / target.n_outputs
            found.base = -found.scale
        return found

    @property
    def whole(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @property
    def value_size(self) -> float:
        """The size of node values, for rounding."""
        return 1.0 if self.criterion in CLASSES else float(np.abs(self.target.y).max(initial=0.0))

    @property
    def gain_unit(self) -> float:
        """What a unit of the score is as a gain."""
        return self.whole if self.criterion == "gain_ratio" else 1.0

    def of_cuts(self, order: Array, at: Array) -> tuple[Array, Array, Array, Array]:
        """Return score, weight on the left and the values of both sides of cuts before the places ``at``."""
        self.surely_positive = True
        if not len(at):
            return np.empty(0), np.empty(0), np.empty(0), np.empty(0)
        w_left = np.cumsum(self.weight[order])[at - 1]
        if self.criterion == "absolute_error":
            return self._absolute(order, at, w_left)
        sums = np.cumsum(self.stats[order], axis=0)
        left, total = sums[at - 1], self.stats.sum(axis=0)
        return (*self._of_sums(left, total, w_left), *self._values(left, total, w_left))

    def of_sides(self, left: Array) -> tuple[float, float, float]:
        """Return score and values of both sides, where some rows are on the left."""
        order = np.concatenate([np.flatnonzero(left), np.flatnonzero(~left)])
        n_left = int(left.sum())
        if n_left in (0, len(left)):
            return -math.inf, math.nan, math.nan
        score, _, low, high = self.of_cuts(order, np.array([n_left]))
        return float(score[0]), float(low[0]), float(high[0])

    def category_means(self, place: Array, n: int) -> Iterator[Array]:
        """Yield the mean of each category, of the second of two classes, or of every class or target in turn."""
        weight = np.bincount(place, self.weight, minlength=n)
        if self.criterion in CLASSES:
            stats = self.stats
            which = [1] if self.target.n_classes == (2,) else range(stats.shape[1])
            for column in which:
                yield np.bincount(place, stats[:, column], minlength=n) / weight
        else:
            for column in self.target.y.T:
                yield np.bincount(place, self.weight * column, minlength=n) / weight

    def gains_of_best(self, cuts: Iterable[Any], bar: float, top: float) -> tuple[float, float]:
        """Return the least and the most that a cut with a score from ``bar`` on takes from the sum of impurities."""
        if top == -math.inf:
            return -1.0, -1.0
        if self.criterion != "gain_ratio":
            return bar - self.base, top - self.base
        gains = np.concatenate(
            [
                (found.score * self._split_information(found.w_left))[found.maybe & (found.score >= bar)]
                for found in cuts
            ]
        )
        return float(gains.min()), float(gains.max())

    def _of_sums(self, left: Array, total: Array, w_left: Array) -> tuple[Array, Array]:
        w_right, right = self.whole - w_left, total - left
        if self.criterion in CLASSES:
            plain = "entropy" if self.criterion == "gain_ratio" else self.criterion
            score = self._class_score(left, w_left, plain) + self._class_score(right, w_right, plain)
            if self.criterion == "gain_ratio":
                score = (score - self.base) / self._split_information(w_left)
        elif self.criterion == "squared_error":
            score = np.sum(left**2 / w_left[:, None] + right**2 / w_right[:, None], axis=1) / total.size
        else:
            score = self._poisson(left, right, total, w_left, w_right)
        return score, w_left

    def _class_score(self, counts: Array, weight: Array, criterion: str) -> Array:
        parts = counts.reshape(len(counts), self.target.n_outputs, -1)
        if criterion == "gini":
            score = np.sum(parts**2, axis=(1, 2)) / weight
        elif criterion == "error":
            score = parts.max(axis=2).sum(axis=1)
        else:
            share = np.maximum(parts, 0.0) / weight[:, None, None]
            score = np.sum(parts * np.log2(np.where(share > 0, share, 1.0)), axis=(1, 2))
        return score / self.target.n_outputs

    def _poisson(self, left: Array, right: Array, total: Array, w_left: Array, w_right: Array) -> Array:
        mean = total / self.whole
        small = np.minimum(left, right) / total
        error = 16.0 * sum_error(len(self.weight))
        self.surely_positive = (small > 2 * error).all(axis=1)
        with np.errstate(all="ignore"):
            score = left * np.log(left / w_left[:, None] / mean) + right * np.log(right / w_right[:, None] / mean)
        return np.where((small > error / 2).all(axis=1), score.sum(axis=1) / total.size, -math.inf)

    def _split_information(self, w_left: Array) -> Array:
        share = w_left / self.whole
        return -self.whole * (share * np.log2(share) + (1 - share) * np.log2(1 - share))

    def _values(self, left: Array, total: Array, w_left: Array) -> tuple[Array, Array]:
        """Return the values of both sides: the share of the second class, or the mean."""
        place = 1 if self.criterion in CLASSES and left.shape[1] > 1 else 0
        shift = 0.0 if self.criterion in CLASSES else self.shift[0]
        w_right = self.whole - w_left
        return left[:, place] / w_left + shift, (total[place] - left[:, place]) / w_right + shift

    def _absolute(self, order: Array, at: Array, w_left: Array) -> tuple[Array, Array, Array, Array]:
        n = len(order)
        errors, low, high = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
        for column, shift in zip(self.target.y.T - self.shift[:, None], self.shift, strict=True):
            for way, medians in ((order, low), (order[::-1], high)):
                for q, (error, median) in enumerate(running_medians(column[way], self.weight[way]), start=1):
                    place = q if medians is low else n - q
                    errors[place] += error
                    medians[place] = median + shift
        return -errors[at] / len(self.shift), w_left, low[at], high[at]


def weighted_median(values: Array, weight: Array) -> float:
    """Return the middle of all numbers that have no more than half of the weight on either side."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    low = int(np.searchsorted(below, below[-1] / 2.0, side="left"))
    high = min(int(np.searchsorted(below, below[-1] / 2.0, side="right")), len(values) - 1)
    first, last = values[order[low]], values[order[high]]
    return float(first if first == last else first / 2.0 + last / 2.0)


def running_medians(values: Array, weight: Array) -> Iterator[tuple[float, float]]:
    """Yield the sum of absolute differences from the median, and the median, of the first rows, one more each time.

    The lower half is a heap with its largest on top, the upper half one with its smallest.
    """
    low: list[tuple[float, float]] = []
    high: list[tuple[float, float]] = []
    w_low = w_high = s_low = s_high = 0.0
    for t, w in zip(values.tolist(), weight.tolist(), strict=True):
        if low and t <= -low[0][0]:
            heapq.heappush(low, (-t, w))
            w_low, s_low = w_low + w, s_low + w * t
        else:
            heapq.heappush(high, (t, w))
            w_high, s_high = w_high + w, s_high + w * t
        while high and w_low < w_high:
            value, size = heapq.heappop(high)
            heapq.heappush(low, (-value, size))
            w_low, s_low, w_high, s_high = w_low + size, s_low + size * value, w_high - size, s_high - size * value
        while w_low - low[0][1] >= w_high + low[0][1]:
            value, size = heapq.heappop(low)
            heapq.heappush(high, (-value, size))
            value = -value
            w_low, s_low, w_high, s_high = w_low - size, s_low - size * value, w_high + size, s_high + size * value
        lower = -low[0][0]
        median = (lower + high[0][0]) / 2.0 if high and w_low == w_high else lower
        yield s_high - lower * w_high + lower * w_low - s_low, median
