"""Scores of cuts, by sums over the rows of nodes: the larger, the less impure are the two sides.

For gini, entropy, squared and absolute error a score is what it takes from the weighted sum of impurities, up to a
constant of the node; for the gain ratio it is that part of the information in the two sides that is about the target.
Nodes stand side by side, b of them with up to L rows each: one with fewer is filled up with its first row, of weight 0.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.rounding import sum_error
from pellucid.proofs.tree.tree_rows import NodeTarget

CLASSES = ("gini", "entropy", "gain_ratio", "error")


class CutScores(NamedTuple):
    """Of cuts behind each row but the last, (b, c, L - 1)."""

    score: Array
    w_left: Array
    low: Any = 0.0
    high: Any = 0.0
    """Values of both sides, where constraints are about them."""
    is_sure: Any = True
    """Of Poisson, whether the mean is above 0 on both sides beyond doubt."""


@dataclass
class NodeScores:
    """The sums of nodes, and what cuts make of them."""

    criterion: str
    target: NodeTarget
    """(b, L, n_outputs)."""
    weight: Array
    """(b, L)."""
    n: Array
    """Rows of each node, (b,)."""
    stats: list[Array]
    """What each row adds to the sums, (b, L) each: its weight at its class, or weight times target."""
    shift: Array
    """What was subtracted from the target: its mean, or its median, (b, n_outputs)."""
    scale: Array
    """The size of scores, for rounding."""
    base: Array
    """The score of no cut at all."""

    @classmethod
    def of(cls, target: NodeTarget, weight: Array, n: Array, criterion: str) -> NodeScores:
        """Return the sums of rows."""
        whole, n_outputs = weight.sum(axis=1), target.n_outputs
        shift, base = np.zeros((len(n), n_outputs)), np.zeros(len(n))
        if criterion in CLASSES:
            values = np.arange(target.n_values)
            stats = [np.where(codes == c, weight, 0.0) for codes in np.moveaxis(target.codes, 2, 0) for c in values]
            size = n if criterion == "gain_ratio" else whole
            scale = size * (1.0 if criterion in ("gini", "error") else 1.0 + math.log2(target.n_values))
            found = cls(criterion, target, weight, n, stats, shift, scale, base)
            found.base = found._class_score([stat.sum(axis=1) for stat in stats], whole)
            return found
        if criterion == "squared_error":
            first = target.y[:, 0]
            shift = first + np.einsum("bl,blk->bk", weight, target.y - first[:, None]) / whole[:, None]
        elif criterion == "absolute_error":
            pairs = [(y[:k], w[:k]) for y, w, k in zip(target.y, weight, n, strict=True)]
            shift = np.array([[weighted_median(column, w) for column in y.T] for y, w in pairs])
        moved = target.y - shift[:, None]
        if criterion == "squared_error":
            scale = np.einsum("bl,blk,blk->b", weight, moved, moved) / n_outputs
        elif criterion == "poisson":
            scale = np.einsum("bl,blk->b", weight, moved) * (1.0 + np.log1p(n)) / n_outputs
        else:
            scale = np.einsum("bl,blk->b", weight, np.abs(moved)) / n_outputs
            base = -scale
        stats = [weight * moved[:, :, k] for k in range(n_outputs)]
        return cls(criterion, target, weight, n, stats, shift, scale, base)

    def of_node(self, b: int) -> NodeScores:
        """Return the sums of one node."""
        own, k = slice(b, b + 1), int(self.n[b])
        target = NodeTarget(self.target.codes[own, :k], self.target.y[own, :k], self.target.n_classes)
        return NodeScores(
            self.criterion, target, self.weight[own, :k], self.n[own], [stat[own, :k] for stat in self.stats],
            self.shift[own], self.scale[own], self.base[own],
        )  # fmt: skip

    @property
    def whole(self) -> Array:
        """The weight of all rows of each node."""
        return self.weight.sum(axis=1)

    @property
    def value_size(self) -> Any:
        """The size of node values, for rounding."""
        return np.ones(len(self.n)) if self.criterion in CLASSES else np.abs(self.target.y).max(axis=(1, 2))

    def of_cuts(self, order: Array, *, with_values: bool) -> CutScores:
        """Return what is said of the cuts of rows that stand in some orders, (b, c, L)."""
        places = order + order.shape[2] * np.arange(len(order))[:, None, None]
        w_left = np.cumsum(self.weight.take(places), axis=2)[..., :-1]
        w_right = self.whole[:, None, None] - w_left
        if self.criterion == "absolute_error":
            return self._absolute(order, w_left)
        lefts = [np.cumsum(stat.take(places), axis=2)[..., :-1] for stat in self.stats]
        totals = [stat.sum(axis=1)[:, None, None] for stat in self.stats]
        rights = [total - left for left, total in zip(lefts, totals, strict=True)]
        is_sure: Any = True
        if self.criterion in CLASSES:
            score = self._class_score(lefts, w_left) + self._class_score(rights, w_right)
            if self.criterion == "gain_ratio":
                score = (score - self.base[:, None, None]) / self.split_information(w_left)
        elif self.criterion == "squared_error":
            score = _sum_of_squares(lefts) / w_left + _sum_of_squares(rights) / w_right
            score /= len(lefts)
        else:
            score, is_sure = self._poisson(lefts, rights, totals, w_left, w_right)
        if not with_values:
            return CutScores(score, w_left, is_sure=is_sure)
        place = 1 if self.criterion in CLASSES and len(lefts) > 1 else 0  # the share of the second class, or the mean
        shift = 0.0 if self.criterion in CLASSES else self.shift[:, :1, None]
        return CutScores(score, w_left, lefts[place] / w_left + shift, rights[place] / w_right + shift, is_sure)

    def split_information(self, w_left: Array) -> Array:
        """Return the information in which side a row is on, times the weight of all rows."""
        whole = self.whole[:, None, None]
        share = w_left / whole
        return -whole * (share * np.log2(share) + (1 - share) * np.log2(1 - share))

    def category_means(self, place: Array, n: int) -> Iterator[Array]:
        """Yield the mean of each category in the only node, of the second of two classes, or of every one in turn."""
        weight = np.bincount(place, self.weight[0], minlength=n)
        is_binary = self.target.n_classes == (2,)
        columns = self.stats[1:] if is_binary else self.stats
        if self.criterion not in CLASSES:
            columns = [self.weight * column for column in np.moveaxis(self.target.y, 2, 0)]
        for column in columns:
            yield np.bincount(place, column[0], minlength=n) / weight

    def _class_score(self, counts: list[Array], weight: Array) -> Array:
        n_values, score = self.target.n_values, np.zeros(weight.shape)
        if self.criterion == "gini":
            score = _sum_of_squares(counts) / weight
        elif self.criterion == "error":
            for first in range(0, len(counts), n_values):
                score += np.max(counts[first : first + n_values], axis=0)
        else:
            for part in counts:
                share = np.maximum(part, 0.0) / weight
                score += part * np.log2(np.where(share > 0, share, 1.0))
        return score / self.target.n_outputs

    def _poisson(
        self, lefts: list[Array], rights: list[Array], totals: list[Array], w_left: Array, w_right: Array
    ) -> tuple[Array, Array]:
        error = 16.0 * np.array([sum_error(k) for k in self.n])[:, None, None]
        score, small = np.zeros(w_left.shape), np.full(w_left.shape, math.inf)
        for left, right, total in zip(lefts, rights, totals, strict=True):
            mean = total / self.whole[:, None, None]
            small = np.minimum(small, np.minimum(left, right) / total)
            score += left * np.log(left / w_left / mean) + right * np.log(right / w_right / mean)
        return np.where(small > error / 2, score / len(lefts), -math.inf), small > 2 * error

    def _absolute(self, order: Array, w_left: Array) -> CutScores:
        errors, low, high = (np.zeros((*order.shape[:2], order.shape[2] + 1)) for _ in range(3))
        for b, c in np.ndindex(order.shape[:2]):
            n = int(self.n[b])
            rows = order[b, c, :n]
            for column, shift in zip(self.target.y[b].T, self.shift[b], strict=True):
                for way, medians in ((rows, low), (rows[::-1], high)):
                    for q, (error, median) in enumerate(running_medians(column[way] - shift, self.weight[b, way]), 1):
                        place = q if medians is low else n - q
                        errors[b, c, place] += error
                        medians[b, c, place] = median + shift
        return CutScores(-errors[..., 1:-1] / self.shift.shape[1], w_left, low[..., 1:-1], high[..., 1:-1])


def _sum_of_squares(parts: list[Array]) -> Array:
    total = parts[0] * parts[0]
    for part in parts[1:]:
        total += part * part
    return total


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
