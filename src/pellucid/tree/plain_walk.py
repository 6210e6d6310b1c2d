"""Rows on their way down packed trees in plain NumPy, level by level: for proofs, which share no loop with the fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import LEAF, WORD, PackedTrees

ROWS_AT_ONCE = 65_536
"""What is known of so many rows is small beside the rows."""


def plain_leaves(tree: PackedTrees, X: Data) -> Array:
    """Return the leaf of each row in the first tree of a pack without faults."""
    nodes = np.zeros(X.shape[0], dtype=np.int64)
    for rows, node in walk_down(tree, X):
        nodes[rows] = node
    return nodes


def rows_of_nodes(tree: PackedTrees, X: Data) -> list[Array]:
    """Return the rows that pass each node of the first tree, in order."""
    passed: list[list[Array]] = [[] for _ in range(int(tree.starts[1]))]
    every = [(np.arange(X.shape[0]), np.zeros(X.shape[0], dtype=np.int64)), *walk_down(tree, X)]
    for rows, node in every:
        order = np.argsort(node, kind="stable")
        rows, node = rows[order], node[order]
        for group in np.split(np.arange(len(node)), np.flatnonzero(np.diff(node)) + 1) if len(node) else ():
            passed[node[group[0]]].append(rows[group])
    return [np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64) for parts in passed]


def walk_down(tree: PackedTrees, X: Data) -> list[tuple[Array, Array]]:
    """Return all that ``levels_down`` yields."""
    return list(levels_down(tree, X))


def levels_down(tree: PackedTrees, X: Data) -> Iterator[tuple[Array, Array]]:
    """Yield for every level below the root rows that reach it and the nodes they reach there, a block at a time."""
    columns = X.tocsc() if sparse.issparse(X) else X
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        rows = np.arange(start, min(start + ROWS_AT_ONCE, X.shape[0]))
        node = np.zeros(len(rows), dtype=np.int64)
        while True:
            inner = tree.children_left[node] != LEAF
            rows, node = rows[inner], node[inner]
            if not len(rows):
                break
            left = goes_left(tree, columns, rows, node)
            node = np.where(left, tree.children_left[node], tree.children_right[node]).astype(np.int64)
            yield rows, node


def goes_left(tree: PackedTrees, columns: Data, rows: Array, node: Array) -> Array:
    """Return which rows go left at the nodes they are at; nodes may be places in a pack of many trees."""
    x = _values(columns, rows, tree.feature[node])
    missing = np.isnan(x)
    by_set = tree.category_row[node] >= 0
    left = x <= tree.threshold[node]
    if by_set.any():
        n_places = WORD * tree.left_categories.shape[1]
        place = np.where(by_set & ~missing & (x >= 0) & (x < n_places), x, 0).astype(np.int64)
        word = tree.left_categories[np.maximum(tree.category_row[node], 0), place // WORD]
        is_in = (word.astype(np.int64) >> (place % WORD)) & 1 == 1
        missing |= by_set & ~((x >= 0) & (x < n_places))
        left = np.where(by_set, is_in, left)
    return np.asarray(np.where(missing, tree.missing_go_to_left[node] == 1, left))


def _values(columns: Data, rows: Array, feature: Array) -> Array:
    if not sparse.issparse(columns):
        return np.asarray(columns[rows, feature], dtype=np.float64)
    return np.asarray(columns[rows, feature], dtype=np.float64).ravel()
