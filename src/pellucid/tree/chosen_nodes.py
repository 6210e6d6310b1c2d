"""Which nodes of trees a proof looks at again, where there are too many: those that answer for most rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.types import Array
from pellucid.proofs.sampling import draws
from pellucid.tree.packed_trees import LEAF, PackedTrees
from pellucid.tree.plain_walk import goes_left

ALWAYS_LEVELS = 2
"""Splits above the nodes that are always looked at, in the first and in the last tree."""


class Chosen(NamedTuple):
    """Nodes to look at again, and of how many rows, drawn at random, they are the whole way."""

    nodes: Array
    n_ways: int
    are_all: bool


def chosen_nodes(
    trees: PackedTrees,
    cost: Array,
    n_rows: Array,
    draw_starts: Callable[[int], tuple[Array, Array]],
    columns: Any,
    most_nodes: int,
    most_cost: float,
) -> Chosen:
    """Return all nodes there is something to search in, which are those that cost something, or some of them.

    These are the first nodes of the first and of the last tree; then, of the leaves that could have been split, those
    with most rows have the best chance; then all nodes on the ways of rows drawn at random, down trees drawn at random:
    ``draw_starts(k)`` returns k trees and k rows, and ``columns`` holds their values.
    """
    open_nodes = np.flatnonzero(cost > 0)
    if len(open_nodes) <= most_nodes and cost.sum() <= most_cost:
        return Chosen(open_nodes, 0, True)
    budget = _Budget(cost, most_nodes, most_cost)
    budget.take(_first_nodes(trees))
    leaves = np.flatnonzero(trees.is_leaf & (cost > 0))
    turn = np.log(1.0 - draws().random(len(leaves))) / np.maximum(n_rows[leaves], 1)  # many rows: early turns
    for leaf in leaves[np.argsort(-turn)].tolist():
        if not budget.take(np.array([leaf]), share=0.5):
            break
    n_ways = 0
    for way in _ways(trees, *draw_starts(most_nodes), columns):
        if not budget.take(way, share=1.0) and n_ways:
            break
        n_ways += 1
    return Chosen(np.flatnonzero(budget.taken), n_ways, False)


def affordable_nodes(cost: Array, most_nodes: int, most_cost: float) -> Chosen:
    """Return nodes drawn at random that cost no more together; the cheapest one if all cost more."""
    open_nodes = draws().permutation(np.flatnonzero(cost > 0))
    some = open_nodes[np.cumsum(cost[open_nodes]) <= most_cost][:most_nodes]
    if not len(some) and len(open_nodes):
        some = open_nodes[[int(np.argmin(cost[open_nodes]))]]
    return Chosen(np.sort(some), 0, len(some) == len(open_nodes))


class _Budget:
    """What may be looked at: so many nodes, at so much cost."""

    def __init__(self, cost: Array, most_nodes: int, most_cost: float) -> None:
        self.cost, self.taken = cost, np.zeros(len(cost), dtype=bool)
        self.most, self.used = (float(most_nodes), float(most_cost)), [0.0, 0.0]

    def take(self, nodes: Array, share: float = math.inf) -> bool:
        """Take nodes that have something to search, and return whether less than a share of the budget is used."""
        new = nodes[~self.taken[nodes] & (self.cost[nodes] > 0)]
        self.taken[new] = True
        self.used[0] += len(new)
        self.used[1] += float(self.cost[new].sum())
        return all(used < share * most for used, most in zip(self.used, self.most, strict=True))


def _first_nodes(trees: PackedTrees) -> Array:
    """Return the nodes below few splits in the first and in the last tree."""
    found = []
    for t in {0, trees.n_trees - 1}:
        level = np.array([0])
        for _ in range(ALWAYS_LEVELS + 1):
            found.append(trees.starts[t] + level)
            level = trees.starts[t] + level
            level = level[trees.children_left[level] != LEAF]
            level = np.concatenate([trees.children_left[level], trees.children_right[level]]).astype(np.int64)
    return np.concatenate(found)


def _ways(trees: PackedTrees, of_tree: Array, rows: Array, columns: Any) -> list[Array]:
    """Return the nodes that each row passes in its tree, as places in the pack."""
    first = trees.starts[of_tree].astype(np.int64)
    node = first.copy()
    steps, moving = [node.copy()], np.arange(len(rows))
    while len(moving := moving[trees.children_left[node[moving]] != LEAF]):
        here = node[moving]
        left = goes_left(trees, columns, rows[moving], here)
        node[moving] = first[moving] + np.where(left, trees.children_left[here], trees.children_right[here])
        steps.append(node.copy())
    return [np.unique(way) for way in np.stack(steps, axis=1)]
