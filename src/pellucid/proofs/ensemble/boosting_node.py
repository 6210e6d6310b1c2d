"""The nodes of boosted trees, looked at again: rows, thresholds, sums, and the values that follow from these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.boosting_losses import BY_RESIDUAL, LOG_LOSS, weighted_quantile
from pellucid.proofs.arrays import Array
from pellucid.proofs.ensemble.boosting_split import STABILIZER
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.tree.packed_trees import WORD, PackedTrees
from pellucid.tree.plain_walk import levels_down


@dataclass(frozen=True)
class Setting:
    """The problem as parameters and data state it."""

    X: Array
    y: Array
    weight: Array
    is_weighted: bool
    loss: str
    quantile: float | None
    n_outputs: int
    edges: list[Array]
    is_categorical: Array
    has_missing: Array
    direction: Array
    sets: Array
    held_out: tuple[Array, Array, Array] | None


class NodeSums:
    """Sums of derivatives in every node of a tree, and the values and bounds that follow."""

    def __init__(
        self, tree: PackedTrees, leaf: Array, gradients: Array, hessians: Array, setting: Setting, parameters: Any
    ) -> None:
        self.tree, self.leaf, self.setting, self.parameters = tree, leaf, setting, parameters
        self.gradients, self.hessians = gradients, hessians
        m, n = tree.n_nodes, len(leaf)
        self.gradient, self.hessian = (np.bincount(leaf, weights=w, minlength=m) for w in (gradients, hessians))
        self.size, self.count = (
            np.bincount(leaf, weights=np.abs(gradients), minlength=m),
            np.bincount(leaf, minlength=m),
        )
        parents, left, right = tree.child_nodes()
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
            level = 0.5 if s.loss == "absolute_error" else float(s.quantile or 0.0)
            order = np.argsort(leaf, kind="stable")
            ends = np.cumsum(np.bincount(leaf, minlength=len(stored)))
            residual, expected = s.y - raw, np.zeros(len(stored))
            for node in np.flatnonzero(is_leaf):
                rows = order[ends[node] - self.count[node] : ends[node]]
                expected[node] = rate * weighted_quantile(residual[rows], s.weight[rows], level) if len(rows) else 0.0
            allowed = 16 * EPSILON * (np.abs(s.y).max(initial=0.0) + np.abs(expected)) + np.finfo(float).tiny
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
        return float(np.max(np.abs(stored - expected)[is_leaf] / np.maximum(allowed[is_leaf], np.finfo(float).tiny)))

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
        parents, left, right = self.tree.child_nodes()
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
        for parent, a, b in zip(*self.tree.child_nodes(), strict=True):
            if below[parent]:
                below[a] = below[b] = True
        return np.asarray(below[self.leaf[rows]])


def walked(tree: PackedTrees, setting: Setting) -> tuple[Array, Array]:
    """Return the leaf of each row, and which nodes have other rows, thresholds or directions than the rules say."""
    m, n = tree.n_nodes, len(setting.y)
    leaf = np.zeros(n, dtype=np.int64)
    count, mass = np.zeros(m), np.zeros(m)
    missing, highest = np.zeros(m, dtype=np.int64), np.full(m, -np.inf)
    sets = np.zeros_like(tree.left_categories)
    parents = tree.parents()
    count[0], mass[0] = n, setting.weight.sum()
    for rows, node in levels_down(tree, setting.X):
        leaf[rows] = node
        count += np.bincount(node, minlength=m)
        mass += np.bincount(node, weights=setting.weight[rows], minlength=m)
        above = parents[node]
        x = setting.X[rows, tree.feature[above]].astype(np.float64)
        is_missing = np.isnan(x)
        missing += np.bincount(above, weights=is_missing, minlength=m).astype(np.int64)
        on_left = (tree.children_left[above] == node) & ~is_missing
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
