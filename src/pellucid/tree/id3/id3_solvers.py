"""ID3: grow a tree node by node, each time by the column that scores best."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.trace import Trace
from pellucid.core.types import Array
from pellucid.proofs.rounding import sum_error
from pellucid.tree.id3.id3_tree import NO_CHILD, NO_SPLIT, CodedColumns, MultiwayTree

MORE_BITS = 8.0
"""Roundings of an impurity in units of those of a sum: logarithms, products and one division."""


@dataclass(frozen=True)
class Growth:
    """When a node is split, and by what measure."""

    criterion: str
    max_depth: float
    min_samples_split: float
    min_samples_leaf: float
    min_gain: float
    pays: bool = False
    """Whether a split must get more of the rows right that are held back."""

    def may_split(self, node: _OpenNode) -> bool:
        """Return whether a node is to be split, if a column can."""
        is_mixed = len(node.rows) > 0 and int(np.count_nonzero(node.value)) > 1
        # up to 2 there is no limit: a single row is never mixed, and small weights are not few rows
        is_large = self.min_samples_split <= 2 or bool(enough(node.value.sum(), self.min_samples_split))
        return is_mixed and is_large and node.depth < self.max_depth


class MultiwaySplits:
    """Splits of one node, by column and threshold in ascending order, each with its score and what rounding may do."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, Array, Array, Array]] = []

    def add(self, column: int, thresholds: Array, scores: Array, doubts: Array) -> None:
        """Add the splits of one column."""
        self._parts.append((column, thresholds, scores, doubts))

    def first_best(self, min_gain: float) -> tuple[int, float, float] | None:
        """Return column, threshold and score of the first that may be the best, as far as rounding lets one tell."""
        if not self._parts:
            return None
        least = max(float(np.max(scores - doubts)) for _, _, scores, doubts in self._parts)
        for column, thresholds, scores, doubts in self._parts:
            may_be_best = scores + doubts >= least
            if may_be_best.any():
                k = int(np.argmax(may_be_best))
                gains = scores[k] + doubts[k] >= min_gain
                return (column, float(thresholds[k]), float(scores[k])) if gains else None
        return None


def grow_id3(
    rows: CodedColumns,
    sizes: Sequence[int],
    y: Array,
    weight: Array,
    n_classes: int,
    growth: Growth,
    held: Array,
) -> tuple[MultiwayTree, Trace]:
    """Return the tree, grown breadth first from all rows but the held ones, and a row of the trace for each split."""
    made, trace = _MadeNodes(), Trace()
    own = np.setdiff1d(np.arange(len(y)), held)
    value = np.bincount(y[own], weight[own], n_classes)
    rounding = _equal_up_to(weight, held)
    made.add(_OpenNode(own, 0, np.zeros(len(sizes), dtype=bool), value, held))
    for number, node in enumerate(made):
        found = _candidates(rows, sizes, y, weight, node, growth) if growth.may_split(node) else MultiwaySplits()
        best = found.first_best(growth.min_gain)
        if best is None:
            continue
        j, threshold, gain = best
        is_numeric = bool(rows.is_numeric[j])
        children = _children(rows, node, j, threshold, sizes, y, weight)
        cut = {"threshold": threshold} if is_numeric else {}
        if growth.pays:
            right = [_right(one, y, weight) for one in (node, *children)]
            kept = sum(right[1:]) > right[0] + rounding
            cut |= {"right_as_leaf": right[0], "right_split": sum(right[1:]), "kept": float(kept)}
            if not kept:
                trace.add(
                    iteration=len(trace) + 1, node=number, feature=j, gain=gain, weight=float(node.value.sum()), **cut
                )
                continue
        made.split(number, j, threshold, len(children))
        for child in children:
            made.add(child)
        trace.add(
            iteration=len(trace) + 1,
            node=number,
            feature=j,
            gain=gain,
            weight=float(node.value.sum()),
            **cut,
        )
    return made.tree(), trace


def _children(
    rows: CodedColumns, node: _OpenNode, j: int, threshold: float, sizes: Sequence[int], y: Array, weight: Array
) -> list[_OpenNode]:
    """Return the nodes that a split makes; one without rows has the class weights of the node above."""
    is_numeric = bool(rows.is_numeric[j])
    branch, held = (
        rows.values[some, j] > threshold if is_numeric else rows.codes[some, j] for some in (node.rows, node.held)
    )
    used = node.used if is_numeric else node.used | (np.arange(len(sizes)) == j)
    found = []
    for t in range(2 if is_numeric else sizes[j]):
        part = node.rows[branch == t]
        value = np.bincount(y[part], weight[part], len(node.value)) if len(part) else node.value
        found.append(_OpenNode(part, node.depth + 1, used, value, node.held[held == t]))
    return found


def _equal_up_to(weight: Array, held: Array) -> float:
    """Return by how much two sums of weights of the held rows may differ and be equal."""
    return 4.0 * sum_error(len(held)) * float(weight[held].sum())


def _right(node: _OpenNode, y: Array, weight: Array) -> float:
    """Return the weight of the held rows that a node gets right as a leaf."""
    return float(weight[node.held[y[node.held] == np.argmax(node.value)]].sum())


def prune_id3(
    tree: MultiwayTree, trace: Trace, rows: CodedColumns, y: Array, weight: Array, held: Array
) -> tuple[MultiwayTree, Trace]:
    """Return the tree without branches that get no more of the held rows right than a leaf, and how they were cut.

    Children stand behind their parent, so from the last node to the first every branch is done before its node.
    """
    as_leaf = np.zeros(tree.node_count)
    stays = held
    nodes = np.zeros(len(held), dtype=np.intp)
    while len(stays):
        hits = y[stays] == np.argmax(tree.value[nodes], axis=1)
        np.add.at(as_leaf, nodes, weight[stays] * hits)
        stays, nodes = _one_down(tree, rows, stays, nodes)
    of_branch, is_leaf = as_leaf.copy(), tree.feature == NO_SPLIT
    rounding = _equal_up_to(weight, held)
    told = Trace()
    gains = dict(zip(trace["node"].astype(int).tolist(), trace["gain"], strict=True)) if len(trace) else {}
    for node in np.flatnonzero(~is_leaf)[::-1].tolist():
        start = int(tree.first_child[node])
        branch = float(of_branch[start : start + tree.n_children[node]].sum())
        kept = branch > as_leaf[node] + rounding
        of_branch[node] = branch if kept else as_leaf[node]
        is_leaf[node] = not kept
        told.add(
            iteration=len(told) + 1,
            node=node,
            feature=int(tree.feature[node]),
            gain=float(gains[node]),
            weight=float(tree.weight[node]),
            right_as_leaf=float(as_leaf[node]),
            right_split=branch,
            kept=float(kept),
        )
    return _without_branches(tree, is_leaf), told


def _one_down(tree: MultiwayTree, rows: CodedColumns, some: Array, nodes: Array) -> tuple[Array, Array]:
    """Return the rows that go on from their nodes, and the nodes that they come to."""
    goes = tree.feature[nodes] != NO_SPLIT
    some, nodes = some[goes], nodes[goes]
    asked = tree.feature[nodes]
    is_above = rows.values[some, asked] > tree.threshold[nodes]
    branch = np.where(rows.is_numeric[asked], is_above, rows.codes[some, asked])
    return some, tree.first_child[nodes] + branch


def _without_branches(tree: MultiwayTree, is_leaf: Array) -> MultiwayTree:
    """Return the tree whose marked nodes are leaves, its nodes in their old order."""
    kept = np.zeros(tree.node_count, dtype=bool)
    kept[0] = True
    for node in np.flatnonzero(~is_leaf):
        start = tree.first_child[node]
        kept[start : start + tree.n_children[node]] = kept[node]
    ends = is_leaf[kept]
    n_children = np.where(ends, 0, tree.n_children[kept]).astype(np.int32)
    first = np.where(ends, NO_CHILD, 1 + np.cumsum(n_children) - n_children).astype(np.int32)
    feature = np.where(ends, NO_SPLIT, tree.feature[kept]).astype(np.int32)
    threshold = np.where(ends, float(NO_SPLIT), tree.threshold[kept])
    return MultiwayTree(feature, threshold, first, n_children, tree.value[kept], tree.weight[kept])


@dataclass(frozen=True)
class _OpenNode:
    """A node to be looked at: its rows, how many questions lead to it, the columns these used up, its class weights."""

    rows: Array
    depth: int
    used: Array
    value: Array
    held: Array
    """Rows that are held back and come here."""


class _MadeNodes:
    """The nodes made so far, and those still to be looked at."""

    def __init__(self) -> None:
        self.values: list[Array] = []
        self.weights: list[float] = []
        self.splits: dict[int, tuple[int, float, int, int]] = {}
        self._waiting: deque[_OpenNode] = deque()

    def add(self, node: _OpenNode) -> None:
        """Add a node; one without rows holds the value of its parent."""
        self.values.append(node.value)
        self.weights.append(float(node.value.sum()) if len(node.rows) else 0.0)
        self._waiting.append(node)

    def __iter__(self) -> Iterator[_OpenNode]:
        """Yield the nodes in order, also those that are added meanwhile, and forget their rows."""
        while self._waiting:
            yield self._waiting.popleft()

    def split(self, node: int, feature: int, threshold: float, n_children: int) -> None:
        """Note that a node is split into children, which are added next."""
        self.splits[node] = (feature, threshold, len(self.values), n_children)

    def tree(self) -> MultiwayTree:
        """Return the finished tree."""
        leaf = (NO_SPLIT, float(NO_SPLIT), NO_CHILD, 0)
        columns = list(zip(*(self.splits.get(node, leaf) for node in range(len(self.values))), strict=True))
        feature, first, n_children = (np.array(columns[k], dtype=np.int32) for k in (0, 2, 3))
        threshold = np.array(columns[1], dtype=np.float64)
        return MultiwayTree(feature, threshold, first, n_children, np.array(self.values), np.array(self.weights))


def _candidates(
    rows: CodedColumns, sizes: Sequence[int], y: Array, weight: Array, node: _OpenNode, growth: Growth
) -> MultiwaySplits:
    """Return the splits of a node: one for each column of categories not used on its path, all thresholds of others."""
    found, own, value = MultiwaySplits(), node.rows, node.value
    labels, counted = y[own], weight[own]
    for j in np.flatnonzero(~node.used).tolist():
        if rows.is_numeric[j]:
            thresholds, tables = _threshold_tables(rows.values[own, j], labels, counted, len(value))
        else:
            keys = rows.codes[own, j].astype(np.intp) * len(value) + labels
            tables = np.bincount(keys, counted, sizes[j] * len(value)).reshape(1, sizes[j], len(value))
            thresholds = np.array([float(NO_SPLIT)])
        branches = tables.sum(axis=2)
        allowed = np.count_nonzero(branches, axis=1) > 1
        if growth.min_samples_leaf > 1:
            allowed &= np.sum(enough(branches, growth.min_samples_leaf), axis=1) > 1
        if allowed.any():
            scores, doubts = _scores(tables[allowed], branches[allowed], value, growth.criterion, len(own))
            found.add(j, thresholds[allowed], scores, doubts)
    return found


def _threshold_tables(values: Array, labels: Array, weight: Array, n_classes: int) -> tuple[Array, Array]:
    """Return the thresholds between different values, and class weights below and above each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ends = np.flatnonzero(ordered[:-1] < ordered[1:])
    one_hot = np.zeros((len(order), n_classes))
    one_hot[np.arange(len(order)), labels[order]] = weight[order]
    sums = np.cumsum(one_hot, axis=0)
    tables = np.stack([sums[ends], np.maximum(sums[-1] - sums[ends], 0.0)], axis=1)
    return middle(ordered[ends], ordered[ends + 1]), tables


def middle(low: Array, high: Array) -> Array:
    """Return the numbers half way, or the lower one where rounding would give the higher one."""
    half = low + (high - low) / 2
    return np.asarray(np.where(half < high, half, low))


def enough(weight: Array | float, least: float) -> Array:
    """Return whether weights reach a limit, up to the rounding of their sum."""
    return np.asarray(weight >= least * (1.0 - 1e-9))


def _scores(tables: Array, branches: Array, value: Array, criterion: str, n: int) -> tuple[Array, Array]:
    """Return how much each split lowers the impurity, and by how much rounding may have changed that."""
    impurity = IMPURITIES[criterion]
    total = value.sum()
    inside = np.sum(branches / total * impurity(tables), axis=1)
    gain = impurity(value[None])[0] - inside
    doubt = np.full(len(gain), MORE_BITS * sum_error(n) * (1.0 + np.log2(len(value))))
    if criterion != "gain_ratio":
        return gain, doubt
    information = entropy(branches)
    return gain / information, doubt / information


def entropy(weights: Array) -> Array:
    """Return the entropy in bits of shares along the last axis; 0 where there is no weight."""
    p = weights / np.maximum(weights.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return -np.sum(p * np.log2(np.where(p > 0, p, 1.0)), axis=-1)


def gini(weights: Array) -> Array:
    """Return how often two rows drawn from the same node are of different classes."""
    p = weights / np.maximum(weights.sum(axis=-1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(1.0 - np.sum(p * p, axis=-1))


def error(weights: Array) -> Array:
    """Return the share of rows that are not of the largest class."""
    return np.asarray(1.0 - weights.max(axis=-1) / np.maximum(weights.sum(axis=-1), np.finfo(float).tiny))


IMPURITIES: dict[str, Callable[[Array], Array]] = {"gain": entropy, "gain_ratio": entropy, "gini": gini, "error": error}
