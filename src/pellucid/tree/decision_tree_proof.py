r"""What the decision trees claim, and the proof of it from the data alone.

Every training row is sent down the tree. That gives for each node its rows, and from these its weight, its value, its
impurity, the two values its threshold must lie halfway between, and whether it had to be split or to be a leaf. Then
nodes are looked at again: all of them in a small tree, a random sample in a large one. If none of k sampled nodes is
wrong, then with 99 % confidence at most a share :math:`1 - 0.01^{1/k}` of all nodes is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import sum_error
from pellucid.core.types import Array
from pellucid.tree.cost_complexity import branch_sums
from pellucid.tree.growth_rules import GrowthRules, columns_drawn, growth_rules
from pellucid.tree.node_facts import NodeFacts, is_pure, node_facts, stored_facts, value_bounds
from pellucid.tree.node_random import node_key
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.split_replay import NodeQuestion, Replay, StoredSplit, goes_left, halfway, replay_node
from pellucid.tree.tree_data import TreeData

MOST_REPLAYED = 500
MOST_VALUES = 3e7
"""Nodes looked at again, and numbers sorted for it, at most."""
AT_FIT = 3
FEW_VALUES = 1 << 13
"""Nodes that a fit looks at again, and the numbers it sorts for one of them."""
WRONG_AT_MOST = 0.01
"""The chance of missing more wrong nodes than the claim says."""
LARGEST_SEED = 2**31 - 1
REFIT = "Fit the model again on these data: what it has stored is something else."


def prove_decision_tree(fitted: Any, parameters: Any, data: TreeData) -> Certificate:
    """Return the certificate of a single tree."""
    n_features = data.X.shape[1]
    claims = [record_claim(fitted, parameters, data), structure_claim(fitted.trees_, n_features, 1)]
    if not all(claim.holds for claim in claims):
        return Certificate("replayed", tuple(claims))
    rules = growth_rules(parameters, data.X.shape[0], n_features, float(data.weights.sum()), data.is_category)
    check = TreeCheck.of(fitted.trees_, data, data.weights, rules, fitted.seed_, parameters.ccp_alpha)
    claims += check.claims()
    claims.append(replay_claim([check], sampled_nodes([check], MOST_REPLAYED, MOST_VALUES), fitted.trees_.n_nodes))
    return Certificate("replayed", tuple(claims))


def record_claim(fitted: Any, parameters: Any, data: TreeData) -> Claim:
    """Claim that labels, categories, columns and seed of the model follow from data and parameters."""
    wrong = 0
    if data.label_sets:
        several = len(data.label_sets) > 1
        labels = fitted.classes_ if several else [fitted.classes_]
        counts = fitted.n_classes_ if several else [fitted.n_classes_]
        wrong += [len(found) for found in labels] != [int(count) for count in counts]
        wrong += not _same_labels(labels, data)
    wrong += int(fitted.n_outputs_) != data.target.n_outputs
    wrong += not _same_categories(tuple(fitted.categories_), data.categories)
    if hasattr(fitted, "max_features_"):
        wrong += fitted.max_features_ != columns_drawn(parameters.max_features, data.X.shape[1])
    if isinstance(parameters.random_state, (int, np.integer)) and isinstance(fitted.seed_, (int, np.integer)):
        wrong += fitted.seed_ != int(check_random_state(parameters.random_state).randint(LARGEST_SEED))
    statement = "of labels, categories, outputs, columns and seed, how many do not follow from data and parameters"
    return Claim("record", statement, float(wrong), 0.0, REFIT)


def _same_labels(labels: Any, data: TreeData) -> bool:
    """Return whether the stored labels are those of the given target, rows of weight 0 included."""
    given = np.asarray(data.given[1])
    columns = given.reshape(len(given), -1).T
    return len(labels) == len(columns) and all(
        np.array_equal(np.unique(column), np.asarray(found)) for column, found in zip(columns, labels, strict=True)
    )


def _same_categories(stored: tuple[Any, ...], found: tuple[Any, ...]) -> bool:
    if len(stored) != len(found):
        return False
    return all(
        one is other is None or (one is not None and other is not None and np.array_equal(one, other))
        for one, other in zip(stored, found, strict=True)
    )


def structure_claim(trees: PackedTrees, n_features: int, n_trees: int) -> Claim:
    """Claim that the arrays are binary trees: in range, without circles, every node reached."""
    fault = trees.fault(n_features) or (None if trees.n_trees == n_trees else f"there are {trees.n_trees} trees")
    statement = "structure of the tree" if fault is None else fault
    return Claim("structure", statement, float(fault is not None), 0.0, REFIT)


@dataclass(frozen=True)
class TreeCheck:
    """One tree of a pack with the rows it was grown on, and what its nodes must say."""

    tree: PackedTrees
    data: TreeData
    weight: Array
    rules: GrowthRules
    seed: int
    ccp_alpha: float
    facts: NodeFacts
    lower: Array
    upper: Array
    parents: Array
    depth: Array

    @classmethod
    def of(
        cls, tree: PackedTrees, data: TreeData, weight: Array, rules: GrowthRules, seed: int, ccp_alpha: float = 0.0
    ) -> TreeCheck:
        """Send the rows down the tree."""
        facts = node_facts(tree, data.X, data.target, weight, rules.criterion)
        lower, upper = np.full(tree.n_nodes, -math.inf), np.full(tree.n_nodes, math.inf)
        if rules.monotone.any():
            lower, upper = value_bounds(tree, facts.value, rules.monotone, data.target.n_classes)
        return cls(tree, data, weight, rules, seed, ccp_alpha, facts, lower, upper, tree.parents(), tree.depths())

    @classmethod
    def by_its_word(cls, tree: PackedTrees, data: TreeData, weight: Array, rules: GrowthRules, seed: int) -> TreeCheck:
        """Take counts and impurities from the tree itself: enough to look at single nodes again, without bounds."""
        free = np.full(tree.n_nodes, math.inf)
        parents, depth = tree.parents(), tree.depths()
        return cls(tree, data, weight, rules, seed, 0.0, stored_facts(tree), -free, free, parents, depth)

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
        for v in inner[~by_set]:
            low, high, cut = facts.below[v], facts.above[v], tree.threshold[v]
            if math.isinf(high):
                good = cut == math.inf
            elif self.rules.random_splits:
                good = low <= cut < high
            else:
                good = cut == halfway(low, high)
            wrong += not (good and math.isfinite(low))
        wrong += int(np.sum(tree.threshold[inner[by_set]] != 0.0)) + self._wrong_absent_categories(inner[by_set])
        no_missing = inner[facts.n_missing[inner] == 0]
        larger_left = 2 * facts.n_rows[tree.children_left[no_missing]] > facts.n_rows[no_missing]
        wrong += int(np.sum(tree.missing_go_to_left[no_missing] != larger_left))
        wrong += int(tree.missing_go_to_left[tree.is_leaf].sum())
        statement = "thresholds not halfway between two values, or missing values not with the larger side"
        return Claim("thresholds", statement, float(wrong), 0.0, REFIT)

    def _wrong_absent_categories(self, nodes: Array) -> int:
        """Return how many splits do not send categories that their node has no row of to the larger side."""
        wrong = 0
        for v in nodes.tolist():
            rows = self._rows_of(v)
            j = int(self.tree.feature[v])
            column = np.asarray(self.data.X[rows, j], dtype=np.float64)
            stored, count = stored_split(self.tree, v), int(self.data.n_categories[j])
            assert stored.left_categories is not None
            absent = np.setdiff1d(np.arange(float(count)), column)
            left = goes_left(column, stored)
            beyond = np.arange(float(count), 32.0 * len(stored.left_categories))
            wrong += bool(np.any(goes_left(absent, stored) != (2 * left.sum() > len(rows))))
            wrong += bool(goes_left(beyond, stored).any())
        return wrong

    def _leaf_claim(self) -> Claim:
        """Claim that no node was split against the limits, and that best-first growth and pruning went as far."""
        tree, rules = self.tree, self.rules
        inner, n_leaves = ~tree.is_leaf, int(tree.is_leaf.sum())
        wrong = int(np.sum(inner & self._must_be_leaf(-1)))
        if rules.max_leaves:
            wrong += n_leaves > rules.max_leaves
            wrong += self._out_of_order()
        if self.ccp_alpha > 0:
            own = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
            below, leaves = branch_sums(tree, own)
            strength = (own - below)[inner] / (leaves - 1)[inner]
            wrong += int(np.sum(strength < self.ccp_alpha - sum_error(self.data.X.shape[0]) * 16 * own[0]))
        statement = "nodes that were split against a limit, out of turn, or should have been pruned"
        return Claim("limits", statement, float(wrong), 0.0, REFIT)

    def _must_be_leaf(self, side: int) -> Array:
        """Return which nodes are leaves whatever their splits; ``side`` is +1 if rounding makes more of them."""
        rules, facts = self.rules, self.facts
        weight = 2.0 * rules.min_weight * (1.0 + side * 16 * sum_error(self.data.X.shape[0]))
        small = (facts.n_rows < max(rules.min_split, 2 * rules.min_leaf)) | (facts.weight < weight)
        return np.asarray(facts.is_pure | small | (self.depth >= rules.max_depth))

    @property
    def gains(self) -> Array:
        """What each split takes from the weighted sum of impurities."""
        fall = self.facts.weight * self.facts.impurity
        inner = np.flatnonzero(~self.tree.is_leaf)
        found = np.full(self.tree.n_nodes, -math.inf)
        found[inner] = fall[inner] - fall[self.tree.children_left[inner]] - fall[self.tree.children_right[inner]]
        return found

    @property
    def gain_error(self) -> float:
        """By how much gains may be wrong: the rounding of the root's sum."""
        root = self.facts.weight[0] * self.facts.impurity[0]
        unit = (
            self.facts.weight[0] * (1 + math.log2(self.data.target.n_values + 1))
            if self.data.target.n_classes
            else root
        )
        return 64 * sum_error(self.data.X.shape[0]) * max(unit, root)

    def _out_of_order(self) -> int:
        """Return how many splits of a best-first tree were made before a better one that waited."""
        tree, gains, error = self.tree, self.gains, self.gain_error
        steps = np.argsort(np.where(tree.is_leaf, tree.n_nodes, tree.children_left), kind="stable")
        steps = steps[: int((~tree.is_leaf).sum())]  # nodes in the order of their splits: children are numbered on
        turn = np.full(tree.n_nodes, len(steps))
        turn[steps] = np.arange(len(steps))
        opened = np.where(self.parents >= 0, turn[self.parents], -1)
        return sum(bool(np.any(gains[v] > gains[steps[opened[v] + 1 : turn[v]]] + error)) for v in steps.tolist())

    def cost(self) -> Array:
        """Return the numbers to sort when a node is looked at again."""
        return self.facts.n_rows * min(self.rules.max_features, self.rules.n_features)

    def replay(self, v: int) -> str:
        """Look at a node again; return what is wrong with it, or nothing."""
        tree, data = self.tree, self.data
        leaf, rows = bool(tree.is_leaf[v]), self._rows_of(v)
        if leaf and (self._must_be_leaf(1)[v] or is_pure(data.target, rows)):
            return ""
        X = data.X[rows]
        question = NodeQuestion(
            X=np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64),
            target=data.target.taken(rows),
            weight=self.weight[rows],
            rules=self.rules,
            key=node_key(tree, self.parents, v, int(self.seed)),
            lower=float(self.lower[v]),
            upper=float(self.upper[v]),
            total_weight=float(self.weight.sum()),
        )
        found = replay_node(question, None if leaf else stored_split(tree, v))
        if found.fault:
            return found.fault
        least = self.rules.min_impurity_decrease * float(self.weight.sum())
        if not leaf:
            return "its split gains too little" if found.high_gain + found.slack < least else ""
        is_final = found.best == -math.inf or found.low_gain - found.slack < least or self.ccp_alpha > 0
        return "" if is_final or self._was_in_vain(v, found) else "it should have been split"

    def _was_in_vain(self, v: int, found: Replay) -> bool:
        """Return whether a best-first tree was full before the turn of a leaf came."""
        tree = self.tree
        if not self.rules.max_leaves or int(tree.is_leaf.sum()) < self.rules.max_leaves:
            return False
        later = ~tree.is_leaf & (tree.children_left > v)  # split after this node was opened
        return bool(np.all(self.gains[later] >= found.low_gain - found.slack - self.gain_error))

    def _rows_of(self, v: int) -> Array:
        """Return the rows that reach a node."""
        way = [v]
        while self.parents[way[-1]] >= 0:
            way.append(int(self.parents[way[-1]]))
        rows = np.arange(self.data.X.shape[0])
        columns = self._columns
        for above, below in zip(way[:0:-1], way[-2::-1], strict=True):
            x = columns[rows, [int(self.tree.feature[above])] * len(rows)]
            left = goes_left(np.asarray(x, dtype=np.float64).ravel(), stored_split(self.tree, above))
            rows = rows[left == (self.tree.children_left[above] == below)]
        return rows

    @property
    def _columns(self) -> Any:
        return self.data.X.tocsc() if sparse.issparse(self.data.X) else self.data.X


def stored_split(tree: PackedTrees, v: int) -> StoredSplit:
    """Return how a node of a tree sends its rows on."""
    row = int(tree.category_row[v])
    sets = tree.left_categories[row] if row >= 0 else None
    return StoredSplit(int(tree.feature[v]), float(tree.threshold[v]), bool(tree.missing_go_to_left[v]), sets)


def sampled_nodes(checks: list[TreeCheck], most: int, most_values: float) -> list[tuple[int, int]]:
    """Return a random sample of (tree, node), all of them if these are few; the seed is a fact about the data."""
    costs = np.concatenate([check.cost() for check in checks])
    count = int(max(1, min(len(costs), most, most_values / max(1.0, costs.mean()))))
    rng = np.random.default_rng([len(costs), int(costs.sum()) % 2**32, checks[0].data.X.shape[0]])
    chosen = np.arange(len(costs)) if count == len(costs) else rng.choice(len(costs), count, replace=False)
    ends = np.cumsum([0, *(check.tree.n_nodes for check in checks)])
    which = np.searchsorted(ends, chosen, side="right") - 1
    return [(int(t), int(v - ends[t])) for t, v in zip(which, chosen, strict=True)]


def replay_claim(checks: list[TreeCheck], nodes: list[tuple[int, int]], n_nodes: int) -> Claim:
    """Claim that none of the sampled nodes is wrong, and say what that proves about all of them."""
    faults = [fault for t, v in nodes if (fault := checks[t].replay(v))]
    share = 1.0 - WRONG_AT_MOST ** (1.0 / len(nodes))
    proves = "all" if len(nodes) == n_nodes else f"at most {share:.2g} of all nodes wrong at 99 % confidence"
    statement = f"wrong nodes of {len(nodes)} replayed, of {n_nodes}: {proves}"
    remedy = f"{REFIT} First fault: {faults[0]}." if faults else REFIT
    return Claim("splits", statement, float(len(faults)), 0.0, remedy)


def fit_claims(checks: list[TreeCheck], trees: PackedTrees, n_features: int) -> tuple[Claim, ...]:
    """Return what a fit claims at once: the structure of all trees, and a few small nodes replayed."""
    structure = structure_claim(trees, n_features, trees.n_trees)
    sizes = np.concatenate([check.cost() for check in checks])
    ends = np.cumsum([0, *(check.tree.n_nodes for check in checks)])
    small = np.flatnonzero(sizes <= FEW_VALUES)
    rng = np.random.default_rng(len(sizes))
    chosen = rng.choice(small, min(AT_FIT, len(small)), replace=False) if len(small) else np.array([0])
    which = np.searchsorted(ends, chosen, side="right") - 1
    nodes = [(int(t), int(v - ends[t])) for t, v in zip(which, chosen, strict=True)]
    return structure, replay_claim(checks, nodes, trees.n_nodes)
