"""A tree of splits as packed arrays, with the class shares of its training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.optimal_tree.optimal_tree_columns import BinnedColumns
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, NO_FEATURE, NO_THRESHOLD, WORD, PackedTrees


def packed_splits(tree: Any, columns: BinnedColumns, y: Array, weight: Array, n_classes: int) -> PackedTrees:
    """Return the tree with its nodes in preorder; ``tree`` is a split with sides, None a leaf."""
    packing = _Packing(columns, y, weight, n_classes)
    packing.add(tree, np.arange(len(y)))
    return packing.packed()


class _Packing:
    """Lists of what each node holds, filled from the root on."""

    def __init__(self, columns: BinnedColumns, y: Array, weight: Array, n_classes: int) -> None:
        self.columns, self.y, self.weight, self.n_classes = columns, y, weight, n_classes
        self.children: list[list[int]] = []
        self.splits: list[tuple[int, float, int]] = []
        self.counts: list[Array] = []
        self.n_rows: list[int] = []
        self.sets: list[int] = []

    def add(self, tree: Any, rows: Array) -> int:
        node = len(self.children)
        self.children.append([LEAF, LEAF])
        self.counts.append(np.bincount(self.y[rows], self.weight[rows], self.n_classes))
        self.n_rows.append(len(rows))
        self.splits.append((NO_FEATURE, NO_THRESHOLD, NO_CATEGORIES))
        if tree is None:
            return node
        cut = float(self.columns.cuts[tree.column][tree.cut])
        if self.columns.is_category[tree.column]:
            self.splits[node] = (tree.column, NO_THRESHOLD, len(self.sets))
            self.sets.append(int(cut))
        else:
            self.splits[node] = (tree.column, cut, NO_CATEGORIES)
        inside = self.columns.inside(rows, tree.column, tree.cut)
        self.children[node][0] = self.add(tree.left, rows[inside])
        self.children[node][1] = self.add(tree.right, rows[~inside])
        return node

    def packed(self) -> PackedTrees:
        feature, threshold, category_row = zip(*self.splits, strict=True)
        counts = np.array(self.counts)
        total = counts.sum(axis=1)
        sets = np.zeros((len(self.sets), 1 + max(self.sets, default=0) // WORD), dtype=np.uint32)
        for row, code in enumerate(self.sets):
            sets[row, code // WORD] = np.uint32(1) << np.uint32(code % WORD)
        return PackedTrees(
            starts=np.array([0, len(counts)], dtype=np.int64),
            children_left=np.array([left for left, _ in self.children], dtype=np.int32),
            children_right=np.array([right for _, right in self.children], dtype=np.int32),
            feature=np.array(feature, dtype=np.int32),
            threshold=np.array(threshold, dtype=np.float64),
            missing_go_to_left=np.zeros(len(counts), dtype=np.uint8),
            category_row=np.array(category_row, dtype=np.int32),
            left_categories=sets,
            impurity=np.asarray(1.0 - counts.max(axis=1) / total),
            n_node_samples=np.array(self.n_rows, dtype=np.int64),
            weighted_n_node_samples=total,
            value=(counts / total[:, None])[:, None, :],
        )
