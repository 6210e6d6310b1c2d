"""Binary trees as arrays, one tree after another, and rows on their way down them in plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.types import Array, Data

LEAF = -1
"""The child of a leaf."""
NO_FEATURE = -2
NO_THRESHOLD = -2.0
"""What scikit-learn's trees have as feature and threshold of a leaf."""
NO_CATEGORIES = -1
"""The category row of a node that does not split by categories."""
WORD = 32
"""Categories in one word of a bit set."""


@dataclass(frozen=True, eq=False)
class PackedTrees:
    """Binary trees, each with its root first. A row goes left where its value is at most the threshold.

    A node that splits by categories sends those of its bit set to the left. Missing values go where
    ``missing_go_to_left`` says, and so do categories that the bit set has no place for.
    """

    starts: Array
    """int64 (n_trees + 1,): the nodes of tree t are ``starts[t]:starts[t + 1]``."""
    children_left: Array
    """int32 (n_nodes,): index within the tree, above the node's own; -1 at a leaf."""
    children_right: Array
    feature: Array
    """int32 (n_nodes,): -2 at a leaf."""
    threshold: Array
    """float64 (n_nodes,): -2 at a leaf."""
    missing_go_to_left: Array
    """uint8 (n_nodes,)."""
    category_row: Array
    """int32 (n_nodes,): row of ``left_categories``, each used once and in order; -1 where the threshold splits."""
    left_categories: Array
    """uint32 (n_category_splits, n_words): the codes that go left, as bits, the lowest first."""
    impurity: Array
    """float64 (n_nodes,)."""
    n_node_samples: Array
    """int64 (n_nodes,)."""
    weighted_n_node_samples: Array
    """float64 (n_nodes,)."""
    value: Array
    """float64 (n_nodes, n_outputs, n_values)."""

    @property
    def n_trees(self) -> int:
        """Trees in the pack."""
        return len(self.starts) - 1

    @property
    def n_nodes(self) -> int:
        """Nodes of all trees."""
        return len(self.feature)

    @property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        return self.children_left == LEAF

    @property
    def tree_of_node(self) -> Array:
        """The tree that each node belongs to."""
        if self.n_trees == 1:
            return np.zeros(self.n_nodes, dtype=np.int64)
        return np.repeat(np.arange(self.n_trees), np.diff(self.starts))

    def __iter__(self) -> Iterator[PackedTrees]:
        return (self.tree(t) for t in range(self.n_trees))

    def tree(self, t: int) -> PackedTrees:
        """Return one tree, as views of these arrays."""
        return self.part(t, t + 1)

    def part(self, first: int, last: int) -> PackedTrees:
        """Return the trees from ``first`` to before ``last``, as views of these arrays."""
        nodes = slice(self.starts[first], self.starts[last])
        parts: dict[str, Any] = {name: getattr(self, name)[nodes] for name in PER_NODE}
        rows = parts["category_row"]
        own = rows[rows != NO_CATEGORIES]
        before, count = (int(own[0]) if len(own) else 0), len(own)  # rows are used in order, each once
        if before:
            parts["category_row"] = np.where(rows == NO_CATEGORIES, rows, rows - before).astype(np.int32)
        return PackedTrees(
            starts=self.starts[first : last + 1] - self.starts[first],
            left_categories=self.left_categories[before : before + count],
            **parts,
        )

    def child_nodes(self) -> tuple[Array, Array, Array]:
        """Return the nodes that split and their left and right children, all as places in the pack."""
        parents = np.flatnonzero(~self.is_leaf)
        first = self.starts[self.tree_of_node[parents]]
        return parents, first + self.children_left[parents], first + self.children_right[parents]

    def parents(self) -> Array:
        """Return the parent of each node as a place in the pack, -1 of roots."""
        parents, left, right = self.child_nodes()
        found = np.full(self.n_nodes, -1, dtype=np.int64)
        found[left] = found[right] = parents
        return found

    def depths(self) -> Array:
        """Return the number of splits above each node."""
        parents, left, right = self.child_nodes()
        found = np.zeros(self.n_nodes, dtype=np.int64)
        children = np.zeros((self.n_nodes, 2), dtype=np.int64)
        children[parents, 0], children[parents, 1] = left, right
        level, depth = self.starts[:-1], 0
        while len(level):
            found[level] = depth
            level, depth = children[level[~self.is_leaf[level]]].ravel(), depth + 1
        return found

    def unsafe(self) -> str | None:
        """Return why compiled code must not see the arrays, or None: it looks for neither dtypes nor lengths.

        Costs little beside a walk of rows; where the nodes lead is looked at on the way (``pack_steps``).
        """
        return _fault_of_shapes(self)

    def fault(self, n_features: int) -> str | None:
        """Return what is wrong with the structure, in a few words, or None: all nodes form trees with these columns."""
        return _fault_of_shapes(self) or _fault_of_children(self) or _fault_of_splits(self, n_features)


PER_NODE = tuple(part.name for part in fields(PackedTrees) if part.name not in ("starts", "left_categories"))
"""The arrays with one entry for each node."""

DTYPES: dict[str, str] = {
    "starts": "int64",
    "children_left": "int32",
    "children_right": "int32",
    "feature": "int32",
    "threshold": "float64",
    "missing_go_to_left": "uint8",
    "category_row": "int32",
    "left_categories": "uint32",
    "impurity": "float64",
    "n_node_samples": "int64",
    "weighted_n_node_samples": "float64",
    "value": "float64",
}
DIMENSIONS = {"left_categories": 2, "value": 3}
"""Of the arrays that are not plain columns."""


def join_trees(packs: Sequence[PackedTrees]) -> PackedTrees:
    """Return one pack of all trees; category rows are counted on, bit sets padded to the longest."""
    words = max(pack.left_categories.shape[1] for pack in packs)
    sets = [np.pad(pack.left_categories, ((0, 0), (0, words - pack.left_categories.shape[1]))) for pack in packs]
    shifts = np.cumsum([0, *(len(rows) for rows in sets)])[:-1]
    rows = [
        np.where(pack.category_row < 0, NO_CATEGORIES, pack.category_row + shift).astype(np.int32)
        for pack, shift in zip(packs, shifts, strict=True)
    ]
    parts: dict[str, Any] = {name: np.concatenate([getattr(pack, name) for pack in packs]) for name in PER_NODE}
    parts["category_row"], parts["left_categories"] = np.concatenate(rows), np.concatenate(sets)
    sizes = np.concatenate([np.diff(pack.starts) for pack in packs])
    return PackedTrees(starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), **parts)


def _fault_of_shapes(trees: PackedTrees) -> str | None:
    for name, dtype in DTYPES.items():
        array = getattr(trees, name)
        if type(array) not in (np.ndarray, np.memmap) or array.dtype != dtype or array.ndim != DIMENSIONS.get(name, 1):
            return f"{name} is not an array of {dtype}"
    n_nodes = len(trees.feature)
    if any(len(getattr(trees, name)) != n_nodes for name in PER_NODE):
        return "its arrays have different lengths"
    starts = trees.starts
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != n_nodes or (np.diff(starts) < 1).any():
        return "its trees do not cover its nodes"
    return None


def _fault_of_children(trees: PackedTrees) -> str | None:
    """Look whether children stand behind their parent in the same tree, and every node but the root has one parent.

    Then there is no circle, and every node can be reached.
    """
    left, right = trees.children_left, trees.children_right
    if ((left == LEAF) != (right == LEAF)).any():
        return "a node has one child"
    parents, lefts, rights = trees.child_nodes()
    ends = trees.starts[1:][trees.tree_of_node[parents]]
    for child in (lefts, rights):
        if (child <= parents).any() or (child >= ends).any():
            return "a child is not behind its parent in the same tree"
    count = np.bincount(np.concatenate([lefts, rights]), minlength=trees.n_nodes)
    count[trees.starts[:-1]] += 1
    return None if (count == 1).all() else "a node does not have one parent"


def _fault_of_splits(trees: PackedTrees, n_features: int) -> str | None:
    leaf, feature, threshold, row = trees.is_leaf, trees.feature, trees.threshold, trees.category_row
    if (feature[leaf] != NO_FEATURE).any() or (threshold[leaf] != NO_THRESHOLD).any() or (row[leaf] != -1).any():
        return "a leaf has a split"
    if (feature[~leaf] < 0).any() or (feature[~leaf] >= n_features).any():
        return "a node splits a column that is not there"
    if not np.array_equal(row[row != NO_CATEGORIES], np.arange(len(trees.left_categories))):
        return "a set of categories does not belong to one node"
    if (trees.missing_go_to_left > 1).any():
        return "missing_go_to_left is neither 0 nor 1"
    if np.isnan(threshold).any():
        return "a threshold is not a number"
    counts = (trees.n_node_samples < 0).any() or not (trees.weighted_n_node_samples >= 0).all()
    return "a node counts fewer than no rows" if counts or np.isnan(trees.impurity).any() else None


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
