r"""The nodes of boosted trees, looked at again: rows, thresholds, sums, the values that follow, and the best split.

Every feature and every bin is tried, by counting. The fit rounds gradients and hessians to units of a power of two
before it sums them. A sum of n rows is then off by at most n / 2 units, and the gain
:math:`G_l^2 / H_l + G_r^2 / H_r` by at most :math:`\sum (2 |G| / H\, \delta_G + G^2 / H^2\, \delta_H)` over both
sides: a split may fall short of the best by that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.ensemble.boosting_problem import BY_RESIDUAL, LOG_LOSS, Setting, level_of, weighted_quantile
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.tree.trees import WORD, TreeArrays, goes_left

LEAST_HESSIAN = 1e-3
LEAST_SUPPORT = 10.0
STABILIZER = 1e-15


class NodeSums:
    """Sums of derivatives in every node of a tree, and the values and bounds that follow."""

    def __init__(
        self, tree: TreeArrays, leaf: Array, gradients: Array, hessians: Array, setting: Setting, parameters: Any
    ) -> None:
        self.tree, self.leaf, self.setting, self.parameters = tree, leaf, setting, parameters
        self.gradients, self.hessians = gradients, hessians
        m, n = tree.n_nodes, len(leaf)
        self.gradient, self.hessian = (np.bincount(leaf, weights=w, minlength=m) for w in (gradients, hessians))
        self.size, self.count = (
            np.bincount(leaf, weights=np.abs(gradients), minlength=m),
            np.bincount(leaf, minlength=m),
        )
        parents = np.flatnonzero(~tree.is_leaf)
        left, right = tree.left[parents], tree.right[parents]
        for parent, a, b in zip(parents[::-1], left[::-1], right[::-1], strict=True):
            for sums in (self.gradient, self.hessian, self.size, self.count):
                sums[parent] = sums[a] + sums[b]
        bits = max(1, n.bit_length())
        largest = float(np.abs(gradients).max(initial=0.0)), float(hessians.max(initial=0.0))
        spread = min(46, 62 - bits), 62 - 2 * bits
        g_unit, h_unit = (
            2.0 ** (math.frexp(max(size, 1e-280))[1] - b - 1) for size, b in zip(largest, spread, strict=True)
        )
        self.units = g_unit, h_unit
        self._bound(parents, left, right)

    def _bound(self, parents: Array, left: Array, right: Array) -> None:
        """Set values and the bounds of children, from the root down."""
        m, l2 = self.tree.n_nodes, self.parameters.l2_regularization + STABILIZER
        self.lower, self.upper = np.full(m, -np.inf), np.full(m, np.inf)
        self.value = -self.gradient / (self.hessian + l2)
        if not self.setting.direction.any():
            return
        for parent, a, b in zip(parents, left, right, strict=True):
            for child in (a, b):
                self.lower[child], self.upper[child] = self.lower[parent], self.upper[parent]
                self.value[child] = np.clip(self.value[child], self.lower[parent], self.upper[parent])
            direction = self.setting.direction[self.tree.feature[parent]]
            if direction:
                low, high = (a, b) if direction > 0 else (b, a)
                self.upper[low] = self.lower[high] = (self.value[a] + self.value[b]) / 2.0

    def leaf_error(self, raw: Array, leaf: Array, largest: float) -> float:
        """Return the largest error of a leaf's value, in units of its rounding; ``largest`` bounds raw predictions."""
        s, rate = self.setting, self.parameters.learning_rate
        is_leaf = self.tree.is_leaf
        stored = self.tree.value[:, 0, 0]
        if s.loss in BY_RESIDUAL:
            level = level_of(s)
            order = np.argsort(leaf, kind="stable")
            ends = np.cumsum(np.bincount(leaf, minlength=len(stored)))
            residual, expected = s.y - raw, np.zeros(len(stored))
            for node in np.flatnonzero(is_leaf):
                rows = order[ends[node] - self.count[node] : ends[node]]
                expected[node] = rate * weighted_quantile(residual[rows], s.weight[rows], level) if len(rows) else 0.0
            allowed = 16 * EPSILON * (np.abs(s.y).max(initial=0.0) + np.abs(expected)) + TINY
            return float(np.max(np.abs(stored - expected)[is_leaf] / allowed[is_leaf]))
        l2 = self.parameters.l2_regularization + STABILIZER
        expected = rate * np.clip(self.value, self.lower, self.upper)
        # of two ways to compute a share of nearly 1, its distance from 1 may differ by a last digit of the scores
        terms = self.size + np.abs(self.value) * self.hessian
        last_digits = 4.0 * EPSILON * (1.0 + largest) * self.count * s.weight.max(initial=0.0) * (s.loss == LOG_LOSS)
        off = sum_error(len(leaf)) * terms + last_digits * (1.0 + np.abs(self.value))
        allowed = rate * off / (self.hessian + l2) + 8 * EPSILON * np.abs(expected)
        if s.direction.any():  # bounds come from sums in units
            inexact = self.count * (self.units[0] + np.abs(self.value) * self.units[1]) / (self.hessian + l2)
            allowed += rate * inexact.max()
        return float(np.max(np.abs(stored - expected)[is_leaf] / np.maximum(allowed[is_leaf], TINY)))

    def out_of_turn(self, largest: float) -> int:
        """Return how many nodes were split before an open one that gains more; ``largest`` bounds raw predictions.

        A gain changes with its sums by twice the value times the error of the gradients, and by the squared value times
        that of the hessians. Nodes are numbered as they are opened, so that splits stand in the order of their
        children.
        """
        gain, opened, turn = self.split_gains()
        slack = self._slack(largest)
        return sum(
            bool(np.any(gain[step + 1 :][opened[step + 1 :] < turn[step]] > gain[step] + slack))
            for step in range(len(gain) - 1)
        )

    def split_gains(self) -> tuple[Array, Array, Array]:
        """Return the gains of all splits in the order they were made, their nodes, and their left children."""
        parents = np.flatnonzero(~self.tree.is_leaf)
        left, right = self.tree.left[parents], self.tree.right[parents]
        loss = self.gradient * self.value
        loss[0] = 0.0  # before its first split nothing is predicted
        order = np.argsort(left)
        return (loss[parents] - loss[left] - loss[right])[order], parents[order], left[order]

    def least_gain_after(self, leaf: int, largest: float) -> float:
        """Return the least gain of the splits that were made while a leaf was open; infinity if there was none.

        ``leaf`` may have gained as much, up to rounding, and yet have waited until the tree was full.
        """
        gain, _, turn = self.split_gains()
        later = gain[turn > leaf]
        return float(later.min() + self._slack(largest)) if len(later) else math.inf

    def _slack(self, largest: float) -> float:
        """Return by how much gains may be off; ``largest`` bounds raw predictions."""
        s, n, highest = self.setting, len(self.leaf), float(np.abs(self.value).max(initial=0.0))
        last_digits = 4.0 * EPSILON * (1.0 + largest) * n * s.weight.max(initial=0.0) * (s.loss == LOG_LOSS)
        gradient_error = n * self.units[0] + sum_error(n) * self.size[0] + last_digits
        hessian_error = n * self.units[1] + sum_error(n) * self.hessian[0] + last_digits
        return float(16.0 * highest * (gradient_error + highest * hessian_error))

    def is_below(self, node: int, rows: Array) -> Array:
        """Return which rows end below a node."""
        below = np.zeros(self.tree.n_nodes, dtype=bool)
        below[node] = True
        for v in range(node + 1, self.tree.n_nodes):  # children stand behind their parent
            below[v] = below[self.tree.parent[v]]
        return np.asarray(below[self.leaf[rows]])


def walked(tree: TreeArrays, setting: Setting) -> tuple[Array, Array]:
    """Return the leaf of each row, and which nodes have other rows, thresholds or directions than the rules say."""
    m, n = tree.n_nodes, len(setting.y)
    leaf = np.zeros(n, dtype=np.int64)
    count, mass = np.zeros(m), np.zeros(m)
    missing, highest = np.zeros(m, dtype=np.int64), np.full(m, -np.inf)
    sets = np.zeros_like(tree.left_categories)
    count[0], mass[0] = n, setting.weight.sum()
    rows = np.arange(n)
    while len(rows := rows[~tree.is_leaf[leaf[rows]]]):
        above = leaf[rows]
        node = np.where(goes_left(tree, setting.X, rows, above), tree.left[above], tree.right[above])
        leaf[rows] = node
        count += np.bincount(node, minlength=m)
        mass += np.bincount(node, weights=setting.weight[rows], minlength=m)
        x = setting.X[rows, tree.feature[above]].astype(np.float64)
        is_missing = np.isnan(x)
        missing += np.bincount(above, weights=is_missing, minlength=m).astype(np.int64)
        on_left = (tree.left[above] == node) & ~is_missing
        np.maximum.at(highest, above[on_left], x[on_left])
        by_set = on_left & (tree.category_row[above] >= 0)
        if by_set.any():
            code = x[by_set].astype(np.int64)
            bit = (np.uint32(1) << (code % WORD).astype(np.uint32)).astype(np.uint32)
            np.bitwise_or.at(sets, (tree.category_row[above[by_set]], code // WORD), bit)
    wrong = (count != tree.n_node_samples) | (
        np.abs(mass - tree.weighted_n_node_samples) > sum_error(n) * setting.weight.sum()
    )
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.children_left[inner], tree.children_right[inner]
    no_side = np.where(setting.has_missing[tree.feature[inner]], False, count[left] > count[right])
    wrong[inner] |= (missing[inner] == 0) & (tree.missing_go_to_left[inner] != no_side)
    rows_of_sets = tree.category_row[inner]
    by_set = rows_of_sets >= 0
    wrong[inner[by_set]] |= (sets != tree.left_categories)[rows_of_sets[by_set]].any(axis=1)
    for node in inner[~by_set]:
        edges = setting.edges[tree.feature[node]]
        place = int(np.searchsorted(edges, highest[node]))
        wrong[node] |= tree.threshold[node] != (edges[place] if place < len(edges) else np.inf)
    return leaf, np.asarray(wrong)


@dataclass(frozen=True)
class NodeRows:
    """The rows of a node: values, derivatives, and what bounds the values of its children."""

    X: Array
    gradients: Array
    hessians: Array
    lower: float
    upper: float
    node_loss: float
    units: tuple[float, float]


@dataclass(frozen=True)
class FeatureSplits:
    """Splits by one feature: sums of gradients, hessians and rows on the left, one entry each."""

    gradient: Array
    hessian: Array
    rows: Array


def gains(node: NodeRows, candidates: FeatureSplits, direction: int, parameters: Any) -> tuple[Array, Array]:
    """Return the gain of each candidate, minus infinity where it is not allowed, and by how much it may be off."""
    l2 = parameters.l2_regularization + STABILIZER
    n, total_g, total_h = len(node.gradients), node.gradients.sum(), node.hessians.sum()
    own_g, own_h = (64 * EPSILON * np.abs(part).sum() for part in (node.gradients, node.hessians))  # of these sums
    terms, error, values = np.zeros(len(candidates.rows)), np.zeros(len(candidates.rows)), []
    allowed = np.ones(len(candidates.rows), dtype=bool)
    left = candidates.gradient, candidates.hessian, candidates.rows
    right = total_g - candidates.gradient, total_h - candidates.hessian, n - candidates.rows
    for g, h, count in (left, right):
        off_g, off_h = count * node.units[0], count * node.units[1]
        allowed &= (count >= parameters.min_samples_leaf) & (h >= LEAST_HESSIAN - off_h)
        value = np.clip(-g / (h + l2), node.lower, node.upper)
        values.append(value)
        terms -= g * value
        error += np.abs(value) * 2.0 * (off_g + own_g) + np.square(value) * (off_h + own_h)
    if direction:
        allowed &= direction * (values[1] - values[0]) >= -1e-9 * (np.abs(values[0]) + np.abs(values[1]))
    return np.where(allowed, terms + node.node_loss, -np.inf), error


def candidates_of(
    column: Array, node: NodeRows, edges: Array, *, is_categorical: bool, has_missing: bool
) -> FeatureSplits:
    """Return all splits of the node's rows by a feature that the fit looks at."""
    missing = np.isnan(column)
    n_bins = len(edges) + (not is_categorical)
    bins = np.where(missing, n_bins, column if is_categorical else np.searchsorted(edges, column)).astype(np.intp)
    counts = np.bincount(bins, minlength=n_bins + 1)
    order = np.argsort(bins.astype(np.int16), kind="stable")
    sums = [_sums_in(weights[order], counts) for weights in (node.gradients, node.hessians)]
    table = np.stack([*sums, counts.astype(np.float64)], axis=1)
    if is_categorical:
        return _category_candidates(table)
    right = np.cumsum(table[:-1], axis=0)[: n_bins - 1 + has_missing]
    left = right[: n_bins - 1] + table[-1] if missing.any() else right[:0]
    return FeatureSplits(*np.concatenate([right, left]).T)


def _sums_in(values: Array, counts: Array) -> Array:
    """Return the sums of consecutive parts with so many values each, added in pairs.

    One after the other, as ``bincount`` adds, the same few gradients of a first round are all rounded the same way.
    """
    sums = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    sums[filled] = np.add.reduceat(values, (np.cumsum(counts) - counts)[filled])
    return sums


def _category_candidates(table: Array) -> FeatureSplits:
    """Return the sets of at most half of the supported categories, from either end of their order."""
    gradient, hessian, count = table.T
    supported = (count > 0) & (hessian * count.sum() >= LEAST_SUPPORT * hessian.sum() * (1.0 - 1e-12))
    numbers = np.flatnonzero(supported)
    order = numbers[np.argsort(gradient[numbers] / (hessian[numbers] + LEAST_SUPPORT), kind="stable")]
    half = (len(order) + 1) // 2 if len(order) > 1 else 0
    front, back = np.cumsum(table[order], axis=0)[:half], np.cumsum(table[order[::-1]], axis=0)[: max(half - 1, 0)]
    return FeatureSplits(*np.concatenate([front, back]).T)


def shortfall(
    node: NodeRows,
    left: Array | None,
    features: Array,
    model: Any,
    direction: Array,
    feature: int,
    parameters: Any,
    worth: float = 0.0,
) -> float:
    """Return by how much the split of a node gains less than the best one, in units of what rounding allows.

    ``left`` says which rows go left; None: the node is a leaf, and no split should gain more than is ``worth`` it.
    ``model`` knows the edges, categorical features and features with missing values; ``features`` may be used.
    """
    best, error = 0.0, 0.0
    for j in features:
        found = candidates_of(
            node.X[:, j],
            node,
            model.edges[j],
            is_categorical=bool(model.is_categorical[j]),
            has_missing=bool(model.has_missing[j]),
        )
        gain, off = gains(node, found, int(direction[j]), parameters)
        if len(gain) and gain.max() > best:
            best, error = float(gain.max()), float(off[gain.argmax()])
    if left is None:
        excess = max(best - worth, 0.0)
        return excess / error if error else math.inf if excess else 0.0
    own = FeatureSplits(*(np.array([part[left].sum()]) for part in (node.gradients, node.hessians, np.ones(len(left)))))
    gain, off = gains(node, own, int(direction[feature]), parameters)
    if feature not in features or not np.isfinite(gain[0]):
        return math.inf
    return max(best - float(gain[0]), 0.0) / max(error + float(off[0]), math.ulp(best))
