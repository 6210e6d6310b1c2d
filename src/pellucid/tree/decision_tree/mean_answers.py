"""The mean answer of trees over the training rows when some columns are set to given values."""

from __future__ import annotations

import sys

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.packed_trees import WORD, PackedTrees

MOST_SHARES = 1 << 22
"""Numbers, one for each node and row of the grid, that are held at once: 32 MB."""


def mean_answers(trees: PackedTrees, grid: Array, columns: Array, n_groups: int = 1) -> Array:
    """Return for each row of the grid the sum over trees of the weighted mean of the leaves it may end in.

    Where a node asks for one of the columns, the row goes one way; elsewhere both, with the weights of the children.
    With several groups the trees take turns. The result is of shape (n_groups, n_rows of the grid).
    """
    place = np.full(max(int(trees.feature.max()), int(columns.max())) + 1, -1)
    place[columns] = np.arange(len(columns))
    total = np.zeros((n_groups, len(grid)))
    together = max(1, MOST_SHARES * trees.n_trees // max(1, trees.n_nodes * len(grid)))
    for first in range(0, trees.n_trees, together):
        part = trees.part(first, min(first + together, trees.n_trees))
        leaves, answers = np.flatnonzero(part.is_leaf), _leaf_shares(part, grid.T, place)
        for group in range(n_groups):
            own = leaves[(first + part.tree_of_node[leaves]) % n_groups == group]
            total[group] += part.value[own, 0, 0] @ answers[own]
    return total


def _leaf_shares(trees: PackedTrees, values: Array, place: Array) -> Array:
    """Return which part of each row comes to each node; line ``place[j]`` of the values is what column j is set to."""
    share, is_leaf, weight = np.zeros((trees.n_nodes, values.shape[1])), trees.is_leaf, trees.weighted_n_node_samples
    level, root = trees.starts[:-1], trees.starts[trees.tree_of_node]
    share[level] = 1.0
    while len(level := level[~is_leaf[level]]):
        left, right = root[level] + trees.children_left[level], root[level] + trees.children_right[level]
        line = place[trees.feature[level]]
        part = np.repeat((weight[left] / weight[level])[:, None], values.shape[1], axis=1)
        asked = line >= 0
        part[asked] = _goes_left(trees, level[asked], values[line[asked]])
        share[left], share[right] = share[level] * part, share[level] * (1.0 - part)
        level = np.concatenate([left, right])
    return share


def _goes_left(trees: PackedTrees, nodes: Array, values: Array) -> Array:
    """Return which values, a line for each node, go left there."""
    known, left = ~np.isnan(values), values <= trees.threshold[nodes, None]
    by_set = np.flatnonzero(trees.category_row[nodes] >= 0)
    if len(by_set):
        x, sets = values[by_set], trees.left_categories[trees.category_row[nodes[by_set]]]
        has_place = (x >= 0) & (x < WORD * sets.shape[1])
        code = np.where(has_place, x, 0.0).astype(np.int64)
        words = np.take_along_axis(sets, code // WORD, axis=1).astype(np.int64)
        known[by_set], left[by_set] = has_place, (words >> (code % WORD)) & 1 == 1
    return np.where(known, left, trees.missing_go_to_left[nodes, None] == 1)


def join_peer(kind: type, module: str, name: str) -> None:
    """Have scikit-learn's tools take a class of ours for theirs, which is loaded where such a tool asks.

    Its partial dependence then asks for mean answers, instead of predictions of all rows at all values.
    """
    if module in sys.modules:
        getattr(sys.modules[module], name).register(kind)
