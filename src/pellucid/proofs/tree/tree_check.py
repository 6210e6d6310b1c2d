"""Trees looked at again: what every node must say, and single nodes searched anew."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.tree.node_facts import NodeFacts, node_facts, stored_facts, value_bounds
from pellucid.proofs.tree.node_replay import Nodes, halfway, replay_nodes
from pellucid.proofs.tree.tree_rows import GrowthRule, TreeRows, child_keys, drawn_share, draws_numbers, node_keys
from pellucid.proofs.tree.trees import TreeArrays, by_columns, places_at, sent_left

MOST_OF_NODE = 1 << 20
"""Numbers sorted to look at one node again: of a node with more, some of its columns are drawn."""

MOST_GROWN = 200
"""Nodes that are grown again to see whether their branch had to be cut."""

NUMBERS_AT_ONCE = 1 << 18
"""Numbers sorted at once: nodes of about as many rows are looked at together."""

REFIT = "Fit the model again on these data: what it has stored is something else."


class Bag(NamedTuple):
    """What one tree was grown on."""

    rows: Array
    weight: Array
    """Above 0, one for each of the rows."""
    seed: int
    min_weight: float = 0.0
    """Weight that each side of a split must have."""


@dataclass(frozen=True)
class TreeCheck:
    """Trees of a pack with the rows they were grown on, and what their nodes must say."""

    tree: TreeArrays
    data: TreeRows
    bags: tuple[Bag, ...]
    rules: GrowthRule
    ccp_alpha: float
    facts: NodeFacts
    lower: Array
    upper: Array
    """Bounds of values from monotonic constraints."""
    thresholds: Array
    """As they are stored: those of ``tree`` are about bins where the rows are in blocks."""

    @classmethod
    def of(
        cls, tree: TreeArrays, data: TreeRows, bags: Sequence[Bag], rules: GrowthRule, ccp_alpha: float = 0.0,
        *, walks: bool = True,
    ) -> TreeCheck:  # fmt: skip
        """Send the rows down the trees; without walks, nodes are believed, enough to look at single ones again."""
        thresholds = tree.threshold
        if data.bins is not None:
            tree, rules = data.bins.on_bins(tree), replace(rules, in_bins=True)
        facts = stored_facts(tree)
        if walks:
            roots = np.repeat(tree.starts[:-1], [len(bag.rows) for bag in bags])
            rows, weight = (np.concatenate([getattr(bag, name) for bag in bags]) for name in ("rows", "weight"))
            facts = node_facts(tree, data.X, data.target, rows, roots, weight, rules.criterion)
        lower, upper = np.full(tree.n_nodes, -math.inf), np.full(tree.n_nodes, math.inf)
        if rules.monotone.any():
            lower, upper = value_bounds(tree, facts.value, rules.monotone, data.target.n_classes)
        return cls(tree, data, tuple(bags), rules, ccp_alpha, facts, lower, upper, thresholds)

    @cached_property
    def keys(self) -> Array:
        """What the random numbers of each node come from."""
        return node_keys(self.tree, np.array([bag.seed for bag in self.bags]))

    def claims(self) -> list[Claim]:
        """Return the claims about all nodes."""
        return [self._count_claim(), self._value_claim(), self._threshold_claim(), self._leaf_claim()]

    def _count_claim(self) -> Claim:
        tree, facts, n = self.tree, self.facts, self.data.X.shape[0]
        error = np.abs(tree.weighted_n_node_samples - facts.weight) / np.maximum(facts.weight, np.finfo(float).tiny)
        wrong = np.sum((tree.n_node_samples != facts.n_rows) | (facts.n_rows == 0))
        value = math.inf if wrong else float(np.max(error))
        statement = "rows and weight of every node are those of the training rows that reach it"
        return Claim("counts", statement, value, 4 * sum_error(n), REFIT)

    def _value_claim(self) -> Claim:
        """Claim that values and impurities are those of the rows, in units of their size."""
        tree, facts, target, n = self.tree, self.facts, self.data.target, self.data.X.shape[0]
        value, low, high = facts.value, facts.low_value, facts.high_value
        is_median = self.rules.criterion == "absolute_error"
        if self.rules.monotone.any():
            value, low, high = (self._clipped(numbers) for numbers in (value, low, high))
        size = 1.0 if target.n_classes else max(float(np.abs(target.y).max(initial=0.0)), np.finfo(float).tiny)
        if tree.value.shape != value.shape:
            error = math.inf
        elif is_median:
            error = float(np.max(np.maximum(low - tree.value, tree.value - high), initial=0.0)) / size
        else:
            error = float(np.max(np.abs(tree.value - value))) / size
        unit = size**2 if self.rules.criterion == "squared_error" else size * (1 + math.log2(n + target.n_values))
        with np.errstate(all="ignore"):
            fall = np.abs(tree.impurity - facts.impurity) / unit
        # a sum of squares of differences that are small beside the numbers themselves keeps fewer digits
        error = float(np.max([error, np.max(fall)]))
        statement = "largest error of a node's value or impurity, relative to the size of the target"
        return Claim("values", statement, float(error), 8 * sum_error(n), REFIT)

    def _clipped(self, value: Array) -> Array:
        clipped = value.copy()
        if self.data.target.n_classes:
            share = np.clip(value[:, 0, 1], self.lower, self.upper)
            clipped[:, 0, 0], clipped[:, 0, 1] = 1.0 - share, share
        else:
            clipped[:, 0, 0] = np.clip(value[:, 0, 0], self.lower, self.upper)
        return clipped

    def _threshold_claim(self) -> Claim:
        """Claim that thresholds lie halfway between the values next to them, and where missing values go."""
        tree, facts = self.tree, self.facts
        inner = np.flatnonzero(~tree.is_leaf)
        by_set = tree.category_row[inner] >= 0
        wrong = int(np.sum(by_set != (self.rules.is_category[tree.feature[inner]] > 0)))
        cuts = inner[~by_set]
        low, high, cut = facts.below[cuts], facts.above[cuts], self.thresholds[cuts]
        if self.data.bins is not None:
            low, high = self.data.bins.values_beside(tree.feature[cuts], low, high)
        good = (
            (low <= cut) & (cut < high) & self._as_drawn(cuts)
            if self.rules.random_splits
            else cut == halfway(low, high)
        )
        wrong += int(np.sum(~(np.where(np.isinf(high), cut == math.inf, good) & np.isfinite(low))))
        wrong += int(np.sum(self.thresholds[inner[by_set]] != 0.0)) + self._wrong_absent_categories(inner[by_set])
        no_missing = inner[facts.n_missing[inner] == 0]
        larger_left = 2 * facts.n_rows[self.tree.left[no_missing]] > facts.n_rows[no_missing]
        wrong += int(np.sum(tree.missing_go_to_left[no_missing] != larger_left))
        wrong += int(tree.missing_go_to_left[tree.is_leaf].sum())
        rule = "where their seeds draw them" if self.rules.random_splits else "halfway between two values"
        statement = f"thresholds not {rule}, or missing values not with the larger side"
        return Claim("thresholds", statement, float(wrong), 0.0, REFIT)

    def _as_drawn(self, nodes: Array) -> Array:
        """Return which thresholds are where their node draws them, between the least and the largest of its values."""
        low, high = self.facts.least[nodes], self.facts.most[nodes]
        shares = drawn_share(self.keys[nodes], self.tree.feature[nodes], self.rules.n_features)
        drawn = low + shares * (high - low)
        drawn = np.where((low <= drawn) & (drawn < high), drawn, low)
        return np.asarray(
            np.abs(self.tree.threshold[nodes] - drawn) <= 4 * EPSILON * np.maximum(np.abs(low), np.abs(high))
        )

    def _wrong_absent_categories(self, nodes: Array) -> int:
        """Return how many splits do not send categories that their node has no row of to the larger side."""
        wrong = 0
        for v, rows in zip(nodes.tolist(), self._rows_of(nodes)[0] if len(nodes) else (), strict=True):
            j = int(self.tree.feature[v])
            column = np.asarray(self.data.X[rows, j], dtype=np.float64)
            bits, count = self.tree.set_of(v), int(self.data.n_categories[j])
            assert bits is not None
            absent = np.setdiff1d(np.arange(float(count)), column)
            left = sent_left(column, 0.0, self.tree.missing_go_to_left[v], bits)
            beyond = np.arange(float(count), 32.0 * len(bits))
            wrong += bool(np.any(sent_left(absent, 0.0, 0, bits) != (2 * left.sum() > len(rows))))
            wrong += bool(sent_left(beyond, 0.0, 0, bits).any())
        return wrong

    def _leaf_claim(self) -> Claim:
        """Claim that no node was split against the limits, and that best-first growth and pruning went as far."""
        tree, rules = self.tree, self.rules
        inner = ~tree.is_leaf
        wrong = int(np.sum(inner & self._must_be_leaf(-1)))
        if rules.max_leaves:
            wrong += int(np.sum(self.leaf_counts > rules.max_leaves)) + self._out_of_order()
        if self.ccp_alpha > 0:
            root = tree.starts[:-1][self.tree.tree_of]
            own = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[root]
            below, leaves = _branch_sums(tree, own)
            strength, error = (own - below)[inner] / (leaves - 1)[inner], 16 * sum_error(self.data.X.shape[0])
            wrong += int(np.sum(strength < self.ccp_alpha - error * own[root][inner]))
        statement = "nodes that were split against a limit, out of turn, or should have been pruned"
        return Claim("limits", statement, float(wrong), 0.0, REFIT)

    def _must_be_leaf(self, side: int) -> Array:
        """Return which nodes are leaves whatever their splits; ``side`` is +1 if rounding makes more of them."""
        rules, facts = self.rules, self.facts
        lightest = np.array([bag.min_weight for bag in self.bags])[self.tree.tree_of]
        weight = 2.0 * lightest * (1.0 + side * 16 * sum_error(self.data.X.shape[0]))
        small = (facts.n_rows < max(rules.min_split, 2 * rules.min_leaf)) | (facts.weight < weight)
        return np.asarray(facts.is_pure | small | (self.tree.depth >= rules.max_depth))

    @cached_property
    def gains(self) -> Array:
        """What each split takes from the weighted sum of impurities."""
        fall = self.facts.weight * self.facts.impurity
        inner = np.flatnonzero(~self.tree.is_leaf)
        found = np.full(self.tree.n_nodes, -math.inf)
        found[inner] = fall[inner] - fall[self.tree.left[inner]] - fall[self.tree.right[inner]]
        return found

    @cached_property
    def leaf_counts(self) -> Array:
        """Leaves of each tree."""
        return np.bincount(self.tree.tree_of[self.tree.is_leaf], minlength=self.tree.n_trees)

    def gain_error(self, t: int) -> float:
        """Return by how much the gains of a tree may be wrong: the rounding of its root's sum."""
        root, n_values = int(self.tree.starts[t]), self.data.target.n_values
        fall = self.facts.weight[root] * self.facts.impurity[root]
        unit = self.facts.weight[root] * (1 + math.log2(n_values + 1)) if self.data.target.n_classes else fall
        return float(64 * sum_error(self.data.X.shape[0]) * max(unit, fall))

    def _out_of_order(self) -> int:
        """Return how many splits of best-first trees were made before a better one that waited."""
        wrong, gains = 0, self.gains
        turn = np.full(self.tree.n_nodes, self.tree.n_nodes)
        for t in range(self.tree.n_trees):
            nodes = np.arange(self.tree.starts[t], self.tree.starts[t + 1])
            inner = nodes[self.tree.left[nodes] >= 0]
            steps = inner[np.argsort(self.tree.left[inner])]  # in the order of their splits: children are numbered on
            turn[steps] = np.arange(len(steps))
            for v in steps.tolist():
                opened = turn[self.tree.parent[v]] if self.tree.parent[v] >= 0 else -1
                between = gains[steps[opened + 1 : turn[v]]]
                wrong += bool(np.any(gains[v] > between + self.gain_error(t)))
        return wrong

    @cached_property
    def is_settled(self) -> Array:
        """Which nodes are leaves that could be nothing else, so that there is nothing to search."""
        return np.asarray(self.tree.is_leaf & self._must_be_leaf(1))

    @cached_property
    def cost(self) -> Array:
        """The numbers to sort when a node is looked at again."""
        whole = self.facts.n_rows * min(self.rules.max_features, self.rules.n_features)
        return np.where(self.is_settled, 0, np.minimum(whole, np.maximum(MOST_OF_NODE, 2 * self.facts.n_rows)))

    def faults(self, nodes: Array, most_columns: int | None = None) -> list[str]:
        """Look at nodes again, in so many columns at most; return what is wrong with those that are wrong."""
        rows, weight = self._rows_of(nodes)
        sizes = np.array([len(own) for own in rows])
        found = ["no row reaches it"] * int(np.sum(sizes == 0))
        found += ["it splits a single row"] * int(np.sum((sizes == 1) & ~self.tree.is_leaf[nodes]))
        waiting = np.flatnonzero((sizes > 1) & ~self.is_settled[nodes])
        waiting = waiting[np.argsort(sizes[waiting], kind="stable")]
        while len(waiting):
            longest = sizes[waiting[-1]]
            count = max(1, NUMBERS_AT_ONCE // int(longest * min(self.rules.max_features, self.rules.n_features)))
            count = min(count, int(np.sum(sizes[waiting] > longest // 2)))  # of nodes with fewer rows, most is filling
            some, waiting = waiting[-count:], waiting[:-count]
            found += self._faults_of(nodes[some], [rows[i] for i in some], [weight[i] for i in some], most_columns)
        return found

    def _faults_of(self, v: Array, rows: list[Array], weight: list[Array], most_columns: int | None) -> list[str]:
        """Return what is wrong with nodes of about as many rows."""
        tree, bags = self.tree, [self.bags[t] for t in self.tree.tree_of[v]]
        nodes = Nodes.of(
            self.data.X, self.data.target, rows, weight, self.rules,
            min_weight=[bag.min_weight for bag in bags], keys=self.keys[v] if draws_numbers(self.rules) else 0,
            lower=self.lower[v], upper=self.upper[v],
        )  # fmt: skip
        most = [most_columns or int(max(2, MOST_OF_NODE // n)) + 1 for n in nodes.n]
        replays = replay_nodes(nodes, tree, v, None if self.rules.criterion == "gain_ratio" else most)
        totals = np.array([bag.weight.sum() for bag in self.bags])[tree.tree_of[v]]
        least = self.rules.min_impurity_decrease * totals
        gains_little = replays.high_gain + replays.slack < least
        should_split = (replays.best > -math.inf) & (replays.low_gain - replays.slack >= least) & ~nodes.is_pure
        found = []
        for b, u in enumerate(v.tolist()):
            if replays.faults[b]:
                found.append(replays.faults[b])
            elif not tree.is_leaf[u]:
                found += ["its split gains too little"] * int(gains_little[b])
            elif should_split[b] and not self._was_in_vain(u, float(replays.low_gain[b] - replays.slack[b])):
                if self.ccp_alpha == 0.0:
                    found.append("it should have been split")
                elif not self._was_cut(u, rows[b], weight[b]):
                    found.append("it should not have been pruned")
        return found

    def _was_cut(self, v: int, rows: Array, weight: Array) -> bool:
        """Return whether pruning would leave nothing of the branch that grows here; what grows is found again.

        A branch is worth its gains less the price of its leaves, each of its own branches cut where that is worth more.
        What is not grown, as there are many nodes, counts as cut: the branch is worth at least what is found.
        """
        if self.rules.max_leaves or self.rules.monotone.any():  # which depend on the rest of the tree
            return True
        root, t = int(self.tree.starts[self.tree.tree_of[v]]), int(self.tree.tree_of[v])
        whole = float(self.facts.weight[root])
        error = 16 * sum_error(self.data.X.shape[0]) * float(self.facts.impurity[root])
        branch = _CutBranch(self.data, replace(self.rules, min_weight=self.bags[t].min_weight), whole, self.ccp_alpha)
        return branch.worth(rows, weight, self.keys[v], int(self.tree.depth[v])) <= error

    def _was_in_vain(self, v: int, gain: float) -> bool:
        """Return whether a best-first tree was full before the turn of a leaf came."""
        t = int(self.tree.tree_of[v])
        if not self.rules.max_leaves or self.leaf_counts[t] < self.rules.max_leaves:
            return False
        later = (self.tree.tree_of == t) & (self.tree.left > v)  # split after this node was opened
        return bool(np.all(self.gains[later] >= gain - self.gain_error(t)))

    def _rows_of(self, nodes: Array) -> tuple[list[Array], list[Array]]:
        """Return the rows that reach each of some nodes, and their weights: all are sent down together."""
        bags = [(t, self.bags[t]) for t in np.unique(self.tree.tree_of[nodes])]
        roots = np.concatenate([np.full(len(bag.rows), self.tree.starts[t]) for t, bag in bags])
        rows, weight = (np.concatenate([getattr(bag, name) for _, bag in bags]) for name in ("rows", "weight"))
        found = places_at(self.tree, self.columns, rows, roots, nodes)
        return [rows[own] for own in found], [weight[own] for own in found]

    @cached_property
    def columns(self) -> Any:
        """The rows in a form whose columns are quickly read."""
        return by_columns(self.data.X)


class _CutBranch:
    """What a branch that was cut off is worth, by growing it again."""

    def __init__(self, data: TreeRows, rules: GrowthRule, whole: float, price: float) -> None:
        self.data, self.rules, self.whole, self.price, self.n_left = data, rules, whole, price, MOST_GROWN

    def worth(self, rows: Array, weight: Array, key: Array, depth: int) -> float:
        """Return the least that the branch of a node is worth above that of a leaf; 0 where nothing grows."""
        rules, data = self.rules, self.data
        is_small = len(rows) < max(rules.min_split, 2 * rules.min_leaf) or weight.sum() < 2 * rules.min_weight
        if is_small or depth >= rules.max_depth or not self.n_left:
            return 0.0
        nodes = Nodes.of(data.X, data.target, [rows], [weight], rules, min_weight=rules.min_weight, keys=key)
        if nodes.is_pure[0]:
            return 0.0
        self.n_left -= 1
        found = replay_nodes(nodes)
        gain = float(found.low_gain[0] - found.slack[0])
        if found.best[0] == -math.inf or gain < rules.min_impurity_decrease * self.whole or found.left is None:
            return 0.0
        own = gain / self.whole - self.price
        if own > 0.0:
            return own  # what is below can only add to it
        for side, child in zip((found.left, ~found.left), child_keys(key), strict=True):
            own += self.worth(rows[side], weight[side], child, depth + 1)
        return max(own, 0.0)


def _branch_sums(tree: TreeArrays, own: Array) -> tuple[Array, Array]:
    """Return the sum of a number over the leaves below each node, and how many these are."""
    below, leaves = np.where(tree.is_leaf, own, 0.0), tree.is_leaf.astype(np.int64)
    for level in range(int(tree.depth.max()), 0, -1):
        nodes = np.flatnonzero(tree.depth == level)
        np.add.at(below, tree.parent[nodes], below[nodes])
        np.add.at(leaves, tree.parent[nodes], leaves[nodes])
    return below, leaves
