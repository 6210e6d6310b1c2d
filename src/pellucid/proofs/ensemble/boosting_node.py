r"""The nodes of boosted trees, looked at again: rows, thresholds, sums, the values that follow, and the best split.

Every feature and every bin is tried, by counting. The fit rounds gradients and hessians to units of a power of two
before it sums them. A sum of n rows is then off by at most n / 2 units, and the gain
:math:`G_l^2 / H_l + G_r^2 / H_r` by at most :math:`\sum (2 |G| / H\, \delta_G + G^2 / H^2\, \delta_H)` over both
sides: a split may fall short of the best by that.
"""

from __future__ import annotations

import math

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.ensemble.boosting_problem import BY_RESIDUAL, LOG_LOSS, Setting, level_of, weighted_quantile
from pellucid.proofs.ensemble.boosting_ways import Ways
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.seen import Seen
from pellucid.proofs.tree.trees import TreeArrays

LEAST_HESSIAN = 1e-3
LEAST_SUPPORT = 10.0
STABILIZER = 1e-15


class NodeSums:
    """Sums of derivatives in every node of a tree, and the values and bounds that follow."""

    def __init__(
        self, tree: TreeArrays, leaf: Array, gradients: Array, hessians: Array, setting: Setting, parameters: Seen
    ) -> None:
        self.tree, self.leaf, self.setting, self.parameters = tree, leaf, setting, parameters
        self.gradients, self.hessians = gradients, hessians
        m, n = tree.n_nodes, len(leaf)
        self.gradient, self.hessian = (np.bincount(leaf, weights=w, minlength=m) for w in (gradients, hessians))
        self.size, self.count = np.bincount(leaf, np.abs(gradients), minlength=m), np.bincount(leaf, minlength=m)
        add_children(tree, self.gradient, self.hessian, self.size, self.count)
        bits = max(1, n.bit_length())
        self.units = (
            _unit(np.abs(gradients).max(initial=0.0), min(46, 62 - bits)),
            _unit(hessians.max(initial=0.0), 62 - 2 * bits),
        )
        self._bound()

    def _bound(self) -> None:
        """Set values and the bounds of children, from the root down."""
        m, l2 = self.tree.n_nodes, self.parameters.l2_regularization + STABILIZER
        self.lower, self.upper = np.full(m, -np.inf), np.full(m, np.inf)
        self.value = -self.gradient / (self.hessian + l2)
        if not self.setting.direction.any():
            return
        parents = np.flatnonzero(~self.tree.is_leaf)
        for parent, a, b in zip(parents, self.tree.left[parents], self.tree.right[parents], strict=True):
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

    def is_below(self, node: int) -> Array:
        """Return which rows end below a node."""
        below = np.zeros(self.tree.n_nodes, dtype=bool)
        below[node] = True
        for v in range(node + 1, self.tree.n_nodes):  # children stand behind their parent
            below[v] = below[self.tree.parent[v]]
        return np.asarray(below[self.leaf])

    def shortfall(self, node: int, features: Array, worth: float) -> float | None:
        """Return by how much the split of a node gains less than the best one, in units of what rounding allows.

        No split of a leaf should gain more than is ``worth`` it; None where it has too few rows for any.
        """
        s, own = self.setting, self.is_below(node)
        rows, direction = np.flatnonzero(own), s.direction
        g, h = self.gradients[rows], self.hessians[rows]
        is_leaf, feature = bool(self.tree.is_leaf[node]), int(self.tree.feature[node])
        if is_leaf and (len(rows) < 2 * self.parameters.min_samples_leaf or h.sum() < 1.001 * LEAST_HESSIAN):
            return None
        best, error = 0.0, 0.0
        for j in features:
            is_category, has_missing = bool(s.is_categorical[j]), bool(s.has_missing[j])
            table = candidates(s.X[rows, j], g, h, s.edges[j], is_category=is_category, has_missing=has_missing)
            gain, off = self._gains(node, g, h, table, int(direction[j]))
            if len(gain) and gain.max() > best:
                best, error = float(gain.max()), float(off[gain.argmax()])
        if is_leaf:
            excess = max(best - worth, 0.0)
            return excess / error if error else math.inf if excess else 0.0
        left = self.is_below(int(self.tree.children_left[node]))[rows]
        gain, off = self._gains(node, g, h, np.array([[g[left].sum(), h[left].sum(), left.sum()]]), direction[feature])
        if feature not in features or not np.isfinite(gain[0]):
            return math.inf
        return max(best - float(gain[0]), 0.0) / max(error + float(off[0]), math.ulp(best))

    def _gains(self, node: int, g: Array, h: Array, table: Array, direction: int) -> tuple[Array, Array]:
        """Return the gain of each candidate, minus infinity where it is not allowed, and by how much it may be off.

        Candidates are the sums of gradients, hessians and rows on the left, a row each.
        """
        l2, own = self.parameters.l2_regularization + STABILIZER, [64 * EPSILON * np.abs(part).sum() for part in (g, h)]
        gain = np.full(len(table), float(self.gradient[node] * self.value[node]) if node else 0.0)
        error, allowed, values = np.zeros(len(table)), np.ones(len(table), dtype=bool), []
        for gradient, hessian, count in (table.T, (np.array([g.sum(), h.sum(), len(g)]) - table).T):
            off_g, off_h = count * self.units[0], count * self.units[1]
            allowed &= (count >= self.parameters.min_samples_leaf) & (hessian >= LEAST_HESSIAN - off_h)
            value = np.clip(-gradient / (hessian + l2), self.lower[node], self.upper[node])
            values.append(value)
            gain -= gradient * value
            error += np.abs(value) * 2.0 * (off_g + own[0]) + np.square(value) * (off_h + own[1])
        if direction:
            allowed &= direction * (values[1] - values[0]) >= -1e-9 * (np.abs(values[0]) + np.abs(values[1]))
        return np.where(allowed, gain, -np.inf), error


def _unit(largest: float, bits: int) -> float:
    """Return the unit that the fit rounds to."""
    return float(2.0 ** (math.frexp(max(float(largest), 1e-280))[1] - bits - 1))


def wrong_nodes(tree: TreeArrays, ways: Ways, setting: Setting) -> Array:
    """Return which nodes have other rows, thresholds or directions than the rules say."""
    m, n = tree.n_nodes, len(ways.leaf)
    count, mass = np.bincount(ways.leaf, minlength=m), np.bincount(ways.leaf, weights=setting.weight, minlength=m)
    add_children(tree, count, mass)
    wrong = (count != tree.n_node_samples) | (
        np.abs(mass - tree.weighted_n_node_samples) > sum_error(n) * setting.weight.sum()
    )
    inner = np.flatnonzero(~tree.is_leaf)
    left, right = tree.children_left[inner], tree.children_right[inner]
    no_side = np.where(setting.has_missing[tree.feature[inner]], False, count[left] > count[right])
    wrong[inner] |= (ways.missing[inner] == 0) & (tree.missing_go_to_left[inner] != no_side)
    rows_of_sets = tree.category_row[inner]
    by_set = rows_of_sets >= 0
    wrong[inner[by_set]] |= (ways.sets != tree.left_categories)[rows_of_sets[by_set]].any(axis=1)
    for node in inner[~by_set]:
        edges = setting.edges[tree.feature[node]]
        place = int(np.searchsorted(edges, ways.highest[node]))
        wrong[node] |= tree.threshold[node] != (edges[place] if place < len(edges) else np.inf)
    return np.asarray(wrong)


def add_children(tree: TreeArrays, *sums: Array) -> None:
    """Put sums of what their children have into all nodes but the leaves, from the last to the root."""
    parents = np.flatnonzero(~tree.is_leaf)[::-1]
    for parent, a, b in zip(parents, tree.left[parents], tree.right[parents], strict=True):
        for one in sums:
            one[parent] = one[a] + one[b]


def candidates(column: Array, g: Array, h: Array, edges: Array, *, is_category: bool, has_missing: bool) -> Array:
    """Return all splits of a node's rows by a feature that the fit looks at: sums on the left, (n_splits, 3)."""
    missing = np.isnan(column)
    n_bins = len(edges) + (not is_category)
    bins = np.where(missing, n_bins, column if is_category else np.searchsorted(edges, column)).astype(np.intp)
    counts = np.bincount(bins, minlength=n_bins + 1)
    order = np.argsort(bins.astype(np.int16), kind="stable")
    table = np.stack([_sums_in(g[order], counts), _sums_in(h[order], counts), counts.astype(np.float64)], axis=1)
    if is_category:
        return _category_candidates(table)
    right = np.cumsum(table[:-1], axis=0)[: n_bins - 1 + has_missing]
    left = right[: n_bins - 1] + table[-1] if missing.any() else right[:0]
    return np.concatenate([right, left])


def _sums_in(values: Array, counts: Array) -> Array:
    """Return the sums of consecutive parts with so many values each, added in pairs.

    One after the other, as ``bincount`` adds, the same few gradients of a first round are all rounded the same way.
    """
    sums = np.zeros(len(counts))
    filled = np.flatnonzero(counts)
    sums[filled] = np.add.reduceat(values, (np.cumsum(counts) - counts)[filled])
    return sums


def _category_candidates(table: Array) -> Array:
    """Return the sets of at most half of the supported categories, from either end of their order."""
    gradient, hessian, count = table.T
    supported = (count > 0) & (hessian * count.sum() >= LEAST_SUPPORT * hessian.sum() * (1.0 - 1e-12))
    numbers = np.flatnonzero(supported)
    order = numbers[np.argsort(gradient[numbers] / (hessian[numbers] + LEAST_SUPPORT), kind="stable")]
    half = (len(order) + 1) // 2 if len(order) > 1 else 0
    front, back = np.cumsum(table[order], axis=0)[:half], np.cumsum(table[order[::-1]], axis=0)[: max(half - 1, 0)]
    return np.concatenate([front, back])
