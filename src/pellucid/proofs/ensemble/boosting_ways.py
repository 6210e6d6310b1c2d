"""The ways of rows down boosted trees, and what the values on them say of nodes; of rows in blocks, by one pass.

At a fit to rows in blocks few trees are looked at. Each block is sent down them where it is, and brings back the leaf
of each row, what is known of the nodes, and the values of the few rows in nodes whose split is searched again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.tree.trees import WORD, TreeArrays, values_left


class Ways(NamedTuple):
    """Where rows come to in a tree, and what was seen on the way."""

    leaf: Array
    """The leaf of each row."""
    missing: Array
    """Of each node, how many rows have no value there."""
    highest: Array
    """The largest value that goes left, minus infinity where none does."""
    sets: Array
    """The categories that go left, as bits; a line for each set of the tree."""

    def joined(self, other: Ways) -> Ways:
        """Return what was seen by both, with these leaves."""
        highest = np.maximum(self.highest, other.highest)
        return Ways(self.leaf, self.missing + other.missing, highest, self.sets | other.sets)


def ways_down(tree: TreeArrays, X: Array) -> Ways:
    """Send rows down a tree, level by level."""
    m, leaf = tree.n_nodes, np.zeros(len(X), dtype=np.int64)
    missing, highest, sets = np.zeros(m, dtype=np.int64), np.full(m, -np.inf), np.zeros_like(tree.left_categories)
    which, node = np.arange(len(X)), leaf.copy()
    while len(which):
        leaf[which] = node
        is_inner = ~tree.is_leaf[node]
        which, node = which[is_inner], node[is_inner]
        x = np.asarray(X[which, tree.feature[node]], dtype=np.float64)
        left, is_missing = values_left(tree, x, node), np.isnan(x)
        missing += np.bincount(node[is_missing], minlength=m)
        known = left & ~is_missing
        np.maximum.at(highest, node[known], x[known])
        by_set = known & (tree.category_row[node] >= 0)
        if by_set.any():
            code = x[by_set].astype(np.int64)
            bit = (np.uint32(1) << (code % WORD).astype(np.uint32)).astype(np.uint32)
            np.bitwise_or.at(sets, (tree.category_row[node[by_set]], code // WORD), bit)
        node = np.where(left, tree.left[node], tree.right[node])
    return Ways(leaf, missing, highest, sets)


@dataclass(frozen=True, eq=False)
class RowsByWays:
    """Rows in blocks, of which the ways down some trees are known, and the values of a few."""

    shape: tuple[int, int]
    ways: list[Ways]
    has_missing: Array
    """Of each column."""
    rows: Array
    """Which rows have their values here, rising."""
    values: Array

    def __getitem__(self, entries: tuple[Array, int]) -> Array:
        """Return the values of a column in some of the rows that have them."""
        rows, column = entries
        return np.asarray(self.values[np.searchsorted(self.rows, rows), column])


def rows_by_ways(table: Any, trees: TreeArrays, asked: Array) -> RowsByWays:
    """Return the ways of all rows of a table in blocks; the nodes that are ``asked`` for have the values of their rows.

    All in one pass.
    """
    each = [trees.picked([number]) for number in range(trees.n_trees)]
    is_asked = [_below(tree, asked - start) for tree, start in zip(each, trees.starts, strict=False)]
    leaves = np.empty((trees.n_trees, table.shape[0]), dtype=np.int64)
    found: list[Ways] = []
    places, values, has_missing = [], [], np.zeros(table.shape[1], dtype=bool)
    for rows, (ways, own_missing, kept, own_values) in table.each(_ways_of_rows, each, is_asked):
        leaves[:, rows] = [own.leaf for own in ways]
        found = [one.joined(own) for one, own in zip(found, ways, strict=True)] if found else ways
        has_missing |= own_missing
        places.append(kept + rows.start if isinstance(rows, slice) else rows[kept])
        values.append(own_values)
    order = np.argsort(np.concatenate(places))
    ways = [one._replace(leaf=leaf) for one, leaf in zip(found, leaves, strict=True)]
    return RowsByWays(table.shape, ways, has_missing, np.concatenate(places)[order], np.concatenate(values)[order])


def _below(tree: TreeArrays, asked: Array) -> Array:
    """Return which nodes of a tree are asked for, or stand below one that is."""
    found, level = np.zeros(tree.n_nodes, dtype=bool), asked[(asked >= 0) & (asked < tree.n_nodes)]
    while len(level):
        found[level] = True
        level = level[~tree.is_leaf[level]]
        level = np.unique(np.concatenate([tree.left[level], tree.right[level]]))
    return found


def _ways_of_rows(
    rows: Array, trees: Sequence[TreeArrays], is_asked: Sequence[Array]
) -> tuple[list[Ways], Array, Array, Array]:
    """Return the ways of the rows of a block, which columns have missing values, and the rows to keep with values.

    Leaves are numbers as short as can be, on their way from here.
    """
    ways = [ways_down(tree, rows) for tree in trees]
    kept = np.flatnonzero(np.any([asked[own.leaf] for own, asked in zip(ways, is_asked, strict=True)], axis=0))
    short = [own._replace(leaf=own.leaf.astype(np.min_scalar_type(len(own.missing)))) for own in ways]
    return short, np.isnan(rows).any(axis=0), kept, rows[kept].astype(np.result_type(rows, np.float32))
