"""Binary trees read from their arrays in plain NumPy: their structure, the way of rows down them, nodes to look at.

The arrays are those that a model stores: of each node the two children, counted within its tree, the column and the
threshold of its split, or the row of ``left_categories`` whose bits are the categories that go left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, SparseOrDense
from pellucid.proofs.sampling import draws

LEAF, NO_FEATURE, NO_THRESHOLD, NO_CATEGORIES = -1, -2, -2.0, -1
"""What stands for no child, no column, no threshold and no set of categories."""
WORD = 32
"""Categories in one word of a bit set, the lowest bit first."""
ALWAYS_LEVELS = 2
"""Splits above the nodes that are always looked at, in the first and in the last tree."""


@dataclass(frozen=True, eq=False)
class TreeArrays:
    """Trees one after another, the root of each first: the nodes of tree t are ``starts[t]:starts[t + 1]``."""

    starts: Array
    children_left: Array
    children_right: Array
    feature: Array
    threshold: Array
    missing_go_to_left: Array
    category_row: Array
    left_categories: Array
    impurity: Array
    n_node_samples: Array
    weighted_n_node_samples: Array
    value: Array

    @classmethod
    def of(cls, stored: Any) -> TreeArrays:
        """Return the arrays of stored trees."""
        return cls(**{part.name: getattr(stored, part.name) for part in fields(cls)})

    def picked(self, trees: Sequence[int] | Array) -> TreeArrays:
        """Return some of the trees."""
        ranges = [np.arange(self.starts[t], self.starts[t + 1]) for t in trees]
        nodes = np.concatenate(ranges)
        own = {name: getattr(self, name)[nodes] for name in PER_NODE}
        return TreeArrays(np.cumsum([0, *map(len, ranges)]), left_categories=self.left_categories, **own)

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.starts) - 1

    @property
    def n_nodes(self) -> int:
        """How many nodes all trees have."""
        return len(self.feature)

    @cached_property
    def is_leaf(self) -> Array:
        """Which nodes are leaves."""
        return np.asarray(self.children_left == LEAF)

    @cached_property
    def tree_of(self) -> Array:
        """The tree of each node."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.starts))

    @cached_property
    def left(self) -> Array:
        """The left child of each node as a place in the arrays, -1 of leaves."""
        return np.where(self.is_leaf, LEAF, self.starts[self.tree_of] + self.children_left)

    @cached_property
    def right(self) -> Array:
        """The right child of each node."""
        return np.where(self.is_leaf, LEAF, self.starts[self.tree_of] + self.children_right)

    @cached_property
    def parent(self) -> Array:
        """The node above each node, -1 of roots."""
        found, inner = np.full(self.n_nodes, -1), np.flatnonzero(~self.is_leaf)
        found[self.left[inner]] = found[self.right[inner]] = inner
        return found

    @cached_property
    def depth(self) -> Array:
        """Splits above each node."""
        found, level = np.zeros(self.n_nodes, dtype=np.int64), self.starts[:-1]
        while len(level := level[~self.is_leaf[level]]):
            found[self.left[level]] = found[self.right[level]] = found[level] + 1
            level = np.concatenate([self.left[level], self.right[level]])
        return found

    def set_of(self, v: int) -> Array | None:
        """Return the bit set of a node that splits by categories."""
        return self.left_categories[self.category_row[v]] if self.category_row[v] >= 0 else None


PER_NODE = tuple(part.name for part in fields(TreeArrays) if part.name not in ("starts", "left_categories"))
DTYPES = {
    "starts": "int64", "children_left": "int32", "children_right": "int32", "feature": "int32", "threshold": "float64",
    "missing_go_to_left": "uint8", "category_row": "int32", "left_categories": "uint32", "impurity": "float64",
    "n_node_samples": "int64", "weighted_n_node_samples": "float64", "value": "float64",
}  # fmt: skip


def fault_of_trees(stored: Any, n_features: int) -> str:
    """Return why stored arrays are not binary trees of so many columns, or nothing.

    Where every child stands behind its parent in the same tree, and every node but a root is the child of one node,
    there is no circle, and every node is reached.
    """
    for name, dtype in DTYPES.items():
        array, ndim = getattr(stored, name), {"left_categories": 2, "value": 3}.get(name, 1)
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
            return f"{name} is not an array of {dtype}"
    trees, n = TreeArrays.of(stored), len(stored.feature)
    if any(len(getattr(trees, name)) != n for name in PER_NODE):
        return "its arrays have different lengths"
    starts = trees.starts
    if len(starts) < 2 or starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 1).any():
        return "its trees do not cover its nodes"
    leaf, inner = trees.is_leaf, np.flatnonzero(~trees.is_leaf)
    if (leaf != (trees.children_right == LEAF)).any():
        return "a node has one child"
    children = np.concatenate([trees.left[inner], trees.right[inner]])
    above, ends = np.tile(inner, 2), np.tile(starts[trees.tree_of[inner] + 1], 2)
    if (children <= above).any() or (children >= ends).any():
        return "a child is not behind its parent in the same tree"
    if (np.bincount(np.concatenate([children, starts[:-1]]), minlength=n) != 1).any():
        return "a node does not have one parent"
    row = trees.category_row
    if (
        (trees.feature[leaf] != NO_FEATURE).any()
        or (trees.threshold[leaf] != NO_THRESHOLD).any()
        or (row[leaf] >= 0).any()
    ):
        return "a leaf has a split"
    if (trees.feature[inner] < 0).any() or (trees.feature[inner] >= n_features).any():
        return "a node splits a column that is not there"
    if not np.array_equal(row[row != NO_CATEGORIES], np.arange(len(trees.left_categories))):
        return "a set of categories does not belong to one node"
    if (trees.missing_go_to_left > 1).any() or np.isnan(trees.threshold).any():
        return "a threshold or the way of missing values is none"
    counts = (trees.n_node_samples < 0).any() or not (trees.weighted_n_node_samples >= 0).all()
    return "a node counts fewer than no rows" if counts or np.isnan(trees.impurity).any() else ""


def sent_left(x: Array, threshold: Any, missing_left: Any, bits: Array | None = None) -> Array:
    """Return which values go left: those up to the threshold, or those whose bit is set; others as missing ones."""
    if bits is None:
        return np.where(np.isnan(x), missing_left, x <= threshold).astype(bool)
    known = (x >= 0) & (x < WORD * bits.shape[-1])
    code = np.where(known, x, 0.0).astype(np.int64)
    word = np.take_along_axis(np.broadcast_to(bits, (len(x), bits.shape[-1])), code[:, None] // WORD, axis=1)[:, 0]
    return np.where(known, (word.astype(np.int64) >> (code % WORD)) & 1, missing_left).astype(bool)


def goes_left(trees: TreeArrays, columns: Any, rows: Array, node: Array) -> Array:
    """Return which rows go left at the nodes they are at."""
    if not len(rows):  # which a sparse matrix has no numbers for
        return np.empty(0, dtype=bool)
    return values_left(trees, np.asarray(columns[rows, trees.feature[node]], dtype=np.float64).ravel(), node)


def values_left(trees: TreeArrays, x: Array, node: Array) -> Array:
    """Return which values go left, one at each of some nodes."""
    missing, row = trees.missing_go_to_left[node], trees.category_row[node]
    left, by_set = sent_left(x, trees.threshold[node], missing), row >= 0
    if by_set.any():
        left[by_set] = sent_left(x[by_set], 0.0, missing[by_set], trees.left_categories[row[by_set]])
    return left


def by_columns(X: SparseOrDense) -> Any:
    """Return rows in a form whose columns are quickly read."""
    return X.tocsc() if sparse.issparse(X) else X


def walk(
    trees: TreeArrays, columns: Any, rows: Array, node: Array, passes: Array | None = None
) -> Iterator[tuple[Array, Array]]:
    """Send rows down from the nodes they are at; yield, level by level, which of them are there, and at what nodes.

    Rows that come to a node that ``passes`` is not true of are left out from there on.
    """
    which = np.arange(len(rows))
    while len(which):
        yield which, node
        inner = ~trees.is_leaf[node]
        which, node = which[inner], node[inner]
        node = np.where(goes_left(trees, columns, rows[which], node), trees.left[node], trees.right[node])
        if passes is not None:
            on = passes[node]
            which, node = which[on], node[on]


def leaves_of(trees: TreeArrays, X: SparseOrDense, t: int = 0) -> Array:
    """Return the leaf that each row comes to in a tree, as a place in the arrays."""
    leaves = np.full(X.shape[0], trees.starts[t], dtype=np.int64)
    for which, node in walk(trees, by_columns(X), np.arange(X.shape[0]), leaves.copy()):
        leaves[which] = node
    return leaves


def places_at(trees: TreeArrays, columns: Any, rows: Array, node: Array, asked: Array) -> list[Array]:
    """Return for each node that is asked for which of the rows, sent down from their nodes, come to it, in order."""
    is_asked, passes = np.zeros((2, trees.n_nodes), dtype=bool)
    is_asked[asked], above = True, asked
    while len(above):
        passes[above] = True
        above = np.unique(trees.parent[above])
        above = above[above >= 0]
    nothing = np.empty(0, dtype=np.int64)
    levels = [(which[is_asked[at]], at[is_asked[at]]) for which, at in walk(trees, columns, rows, node, passes)]
    places, found = (np.concatenate([nothing, *part]) for part in zip(*levels, strict=True))
    order = np.argsort(found, kind="stable")
    ends = [np.searchsorted(found[order], asked, side=side) for side in ("left", "right")]
    return [places[order[first:last]] for first, last in zip(*ends, strict=True)]


class Chosen(NamedTuple):
    """Nodes to look at again, and of how many rows, drawn at random, they are the whole way."""

    nodes: Array
    n_ways: int
    are_all: bool


def chosen_nodes(
    trees: TreeArrays,
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
    budget = _NodeBudget(cost, most_nodes, most_cost)
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


class _NodeBudget:
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


def _first_nodes(trees: TreeArrays) -> Array:
    """Return the nodes below few splits in the first and in the last tree."""
    ends = np.isin(trees.tree_of, (0, trees.n_trees - 1))
    return np.flatnonzero(ends & (trees.depth <= ALWAYS_LEVELS))


def _ways(trees: TreeArrays, of_tree: Array, rows: Array, columns: Any) -> list[Array]:
    """Return the nodes that each row passes in its tree."""
    here, steps = trees.starts[of_tree].astype(np.int64), []
    for which, node in walk(trees, columns, rows, here.copy()):
        here[which] = node
        steps.append(here.copy())
    return [way[: trees.depth[way[-1]] + 1] for way in np.stack(steps, axis=1)]
