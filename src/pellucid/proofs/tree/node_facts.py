"""What every node of a tree must say, recomputed from the rows that reach it: for proofs, all nodes at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.tree.tree_rows import NodeTarget
from pellucid.proofs.tree.trees import TreeArrays, by_columns, walk


@dataclass
class NodeFacts:
    """Recomputed arrays, one entry for each node; values as (n_nodes, n_outputs, n_values)."""

    n_rows: Array
    weight: Array
    value: Array
    low_value: Array
    high_value: Array
    """Bounds of medians, which differ only where the rounding of weights decides what half of them is."""
    impurity: Array
    is_pure: Array
    below: Array
    """Of a split by threshold, the largest value that goes left, missing ones aside; -inf without one."""
    above: Array
    """And the smallest one that goes right; inf without one."""
    least: Array
    most: Array
    """The smallest and the largest value of the node's rows in the column of its split, missing ones aside."""
    n_missing: Array
    """Rows with a missing value in the column of the split."""

    @classmethod
    def nothing(cls, n: int, shape: Sequence[int]) -> NodeFacts:
        """Return what is so of n nodes without rows, whose values have a shape."""
        (below, most), (above, least) = np.full((2, n), -math.inf), np.full((2, n), math.inf)
        (n_rows, n_missing), (weight, impurity) = np.zeros((2, n), dtype=np.int64), np.zeros((2, n))
        value, low, high = np.zeros((3, n, *shape))
        pure = np.ones(n, dtype=bool)
        return cls(n_rows, weight, value, low, high, impurity, pure, below, above, least, most, n_missing)


def stored_facts(tree: TreeArrays) -> NodeFacts:
    """Return what the nodes say themselves, and nothing of their cuts."""
    nothing, is_pure = NodeFacts.nothing(tree.n_nodes, tree.value.shape[1:]), np.zeros(tree.n_nodes, dtype=bool)
    n_rows, weight = tree.n_node_samples, tree.weighted_n_node_samples
    return replace(nothing, n_rows=n_rows, weight=weight, value=tree.value, impurity=tree.impurity, is_pure=is_pure)


def node_facts(
    trees: TreeArrays, X: SparseOrDense, target: NodeTarget, rows: Array, node: Array, weight: Array, criterion: str
) -> NodeFacts:
    """Return what each node of trees without faults must say about the rows that reach it, from the roots on."""
    facts, columns = NodeFacts.nothing(trees.n_nodes, (target.n_outputs, target.n_values)), by_columns(X)
    for which, at in walk(trees, columns, rows, node):
        _add_level(facts, rows[which], at, target, weight[which], criterion)
        inner = ~trees.is_leaf[at]
        _add_cuts(facts, trees, columns, rows[which[inner]], at[inner])
    return facts


def _add_level(facts: NodeFacts, rows: Array, node: Array, target: NodeTarget, w: Array, criterion: str) -> None:
    found, place = np.unique(node, return_inverse=True)
    m = len(found)
    facts.n_rows[found] = np.bincount(place)
    facts.weight[found] = whole = np.bincount(place, w)
    impurity, pure = np.zeros(m), np.ones(m, dtype=bool)
    for k in range(target.n_outputs):
        if target.n_classes:
            counts = np.bincount(place * target.n_values + target.codes[rows, k], w, minlength=m * target.n_values)
            share = counts.reshape(m, -1) / whole[:, None]
            facts.value[found, k] = share
            impurity += _class_impurity(share, criterion)
            pure &= (share > 0).sum(axis=1) == 1
            continue
        y = target.y[rows, k]
        least, most = _extremes(place, y, m)
        pure &= least == most
        if criterion == "absolute_error":
            error = 0.0 if np.array_equal(w, np.floor(w)) else 1e-13 * math.sqrt(len(y))
            middle = facts.value[found, k, 0] = _medians(place, y, w, whole, 0.0)
            others = np.stack([middle, _medians(place, y, w, whole, error), _medians(place, y, w, whole, -error)])
            facts.low_value[found, k, 0], facts.high_value[found, k, 0] = others.min(axis=0), others.max(axis=0)
            impurity += np.bincount(place, w * np.abs(y - middle[place])) / whole
            continue
        origin = y[np.unique(place, return_index=True)[1]]
        mean = facts.value[found, k, 0] = origin + np.bincount(place, w * (y - origin[place])) / whole
        if criterion == "poisson":
            with np.errstate(all="ignore"):
                terms = np.where(y > 0, y * np.log(y / mean[place]), 0.0)
        else:
            terms = (y - mean[place]) ** 2
        impurity += np.bincount(place, w * terms) / whole
    facts.impurity[found] = np.where(pure, 0.0, impurity / target.n_outputs)
    facts.is_pure[found] = pure


def _class_impurity(share: Array, criterion: str) -> Array:
    if criterion == "gini":
        return 1.0 - np.sum(share**2, axis=1)
    if criterion == "error":
        return 1.0 - share.max(axis=1)
    return -np.sum(share * np.log2(np.where(share > 0, share, 1.0)), axis=1)


def _extremes(place: Array, y: Array, m: int) -> tuple[Array, Array]:
    least, most = np.full(m, math.inf), np.full(m, -math.inf)
    np.minimum.at(least, place, y)
    np.maximum.at(most, place, y)
    return least, most


def _medians(place: Array, y: Array, w: Array, whole: Array, error: float) -> Array:
    """Return for each node the middle of all numbers that have no more than half of the weight on either side.

    With an ``error`` weights that are so near to half count as half, or, if it is negative, do not.
    """
    order = np.lexsort((y, place))
    place, y, w = place[order], y[order], w[order]
    cumulated = np.cumsum(w)
    first = np.flatnonzero(np.diff(place, prepend=-1))
    up_to = cumulated - (cumulated - w)[first][place]  # each row, itself included
    limit = error * whole[place]
    low = np.minimum.reduceat(np.where(2.0 * up_to >= whole[place] - limit, y, math.inf), first)
    high = np.maximum.reduceat(np.where(2.0 * (up_to - w) <= whole[place] + limit, y, -math.inf), first)
    return np.where(low == high, low, low / 2.0 + high / 2.0)


def _add_cuts(facts: NodeFacts, tree: TreeArrays, columns: Any, rows: Array, node: Array) -> None:
    if not len(rows):
        return
    x = np.asarray(columns[rows, tree.feature[node]], dtype=np.float64).ravel()
    missing = np.isnan(x)
    np.add.at(facts.n_missing, node[missing], 1)
    left = ~missing & (x <= tree.threshold[node])
    right = ~missing & ~left
    np.maximum.at(facts.below, node[left], x[left])
    np.minimum.at(facts.above, node[right], x[right])
    np.minimum.at(facts.least, node[~missing], x[~missing])
    np.maximum.at(facts.most, node[~missing], x[~missing])


def value_bounds(trees: TreeArrays, value: Array, monotone: Array, n_classes: tuple[int, ...]) -> tuple[Array, Array]:
    """Return the bounds that monotonic constraints put on the value of each node, given what it would be without."""
    lower, upper = np.full(trees.n_nodes, -math.inf), np.full(trees.n_nodes, math.inf)
    free = value[:, 0, 1 if n_classes else 0]
    left, right, depth = trees.left, trees.right, trees.depth
    for level in range(int(depth.max(initial=0))):
        parents = np.flatnonzero((depth == level) & ~trees.is_leaf)
        direction = monotone[trees.feature[parents]]
        for child in (left[parents], right[parents]):
            lower[child], upper[child] = lower[parents], upper[parents]
        between = free[left[parents]] / 2.0 + free[right[parents]] / 2.0
        rises, falls = direction > 0, direction < 0
        upper[left[parents[rises]]] = lower[right[parents[rises]]] = between[rises]
        lower[left[parents[falls]]] = upper[right[parents[falls]]] = between[falls]
    return lower, upper
