"""What packed trees say: leaves, values and ways of rows, importances, mean answers, and the view of scikit-learn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import PER_NODE, WORD, PackedTrees

BLOCK = 4096
"""Rows that walk down one tree after another together: they stay in the cache while the trees pass by."""

WORTH_SHARING = 1 << 13
"""Walks of a row down a tree from which a second thread pays."""


def leaves(trees: PackedTrees, X: Data) -> Array:
    """Return the leaf of each row in each tree, of shape (n_samples, n_trees), counted within the tree."""
    from pellucid.tree.packed_trees_kernels import find_leaves

    found = np.empty((X.shape[0], trees.n_trees), dtype=np.int32)
    starts, steps, threshold, sets = way_down(trees, X.shape[1])
    _walk(trees, X, lambda rows, part: find_leaves(rows, starts, steps, threshold, sets, found[part]))
    return found


def summed_values(trees: PackedTrees, X: Data, start: Array, value: Array | None = None, n_groups: int = 1) -> Array:
    """Return ``start`` (n_samples, n_values) plus the values of each row's leaves in all trees.

    ``value`` (n_nodes, n_columns) replaces the trees' own. With several groups the trees take turns: tree t adds to
    the columns of group ``t % n_groups``.
    """
    from pellucid.tree.packed_trees_kernels import add_values

    value = trees.value.reshape(trees.n_nodes, -1) if value is None else value
    found = np.array(start, dtype=np.float64, order="C")
    groups = np.arange(trees.n_trees) % n_groups * value.shape[1]
    starts, steps, threshold, sets = way_down(trees, X.shape[1])
    if len(value) != trees.n_nodes or found.shape != (X.shape[0], n_groups * value.shape[1]):
        raise ValueError(
            f"trees must have {found.shape[1] // n_groups} values at each node, got {value.shape[1]}. "
            "Fit the model again."
        )
    _walk(trees, X, lambda rows, part: add_values(rows, starts, steps, threshold, sets, value, groups, found[part]))
    return found


def decision_path(trees: PackedTrees, X: Data) -> sparse.csr_matrix:
    """Return which nodes each row passes, as ones of a matrix of shape (n_samples, n_nodes)."""
    places = leaves(trees, X) + trees.starts[:-1]
    above = _ancestors(trees)
    counts = np.diff(above.indptr)[places]
    ends = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    steps = np.repeat(above.indptr[places.ravel()] - np.cumsum(counts.ravel()) + counts.ravel(), counts.ravel())
    indices = above.indices[steps + np.arange(len(steps))]
    ones = np.ones(len(indices), dtype=np.int64)
    return sparse.csr_matrix((ones, indices, ends), shape=(X.shape[0], trees.n_nodes))


def feature_importances(trees: PackedTrees, n_features: int, *, normalize: bool = True) -> Array:
    """Return how much the splits of each column lower the impurity, as shares of the sum over all columns.

    Shares of each tree are averaged; a tree without splits counts for nothing.
    """
    parents, left, right = trees.child_nodes()
    weight, impurity = trees.weighted_n_node_samples, trees.impurity
    fall = weight * impurity
    gains = fall[parents] - fall[left] - fall[right]
    of_tree = trees.tree_of_node
    cells = of_tree[parents] * n_features + trees.feature[parents]
    shares = np.bincount(cells, gains, minlength=trees.n_trees * n_features).reshape(trees.n_trees, n_features)
    shares = shares / weight[trees.starts[:-1], np.newaxis]
    if not normalize:
        return shares.mean(axis=0)
    totals = shares.sum(axis=1)
    counted = (totals > 0) & (np.diff(trees.starts) > 1)
    if not counted.any():
        return np.zeros(n_features)
    mean = (shares[counted] / totals[counted, np.newaxis]).mean(axis=0)
    return np.asarray(mean / mean.sum())


def way_down(trees: PackedTrees, n_columns: int) -> Any:
    """Return the arrays that lead a row to its leaf, as the kernels want them: a node's numbers next to each other."""
    from pellucid.tree.packed_trees_kernels import pack_steps

    fault = trees.unsafe()
    if fault:
        raise ValueError(f"trees must be whole, but {fault}. Fit the model again.")
    steps = np.empty((trees.n_nodes, 4), dtype=np.int32)
    splits = (trees.feature, trees.children_left, trees.children_right, trees.category_row, trees.missing_go_to_left)
    if not pack_steps(trees.starts, *splits, n_columns, len(trees.left_categories), steps):
        raise ValueError(
            "trees must lead every row to a leaf, but a node points outside its tree. Fit the model again."
        )
    return trees.starts, steps, trees.threshold, trees.left_categories


def _walk(trees: PackedTrees, X: Data, work: Callable[[Array, slice], None]) -> None:
    """Run ``work(rows, part)`` for all blocks of rows, on all threads."""

    def walk(block: slice) -> None:
        rows = X[block]
        work(rows.toarray() if sparse.issparse(rows) else np.ascontiguousarray(rows), block)

    shared = X.shape[0] * trees.n_trees >= WORTH_SHARING
    n_blocks = max(-(-X.shape[0] // BLOCK), thread_count() if shared else 1)
    run_blocks(walk, split_evenly(X.shape[0], n_blocks))


def _ancestors(trees: PackedTrees) -> sparse.csr_matrix:
    """Return for each node itself and the nodes above it, in order, as places in the pack."""
    depth, parents = trees.depths(), trees.parents()
    ends = np.concatenate([[0], np.cumsum(depth + 1)])
    indices = np.empty(ends[-1], dtype=np.int64)
    node = np.arange(trees.n_nodes)
    place = ends[1:] - 1
    while len(node):
        indices[place] = node
        node, place = parents[node], place - 1
        node, place = node[(inside := node >= 0)], place[inside]
    return sparse.csr_matrix((np.ones(len(indices), dtype=np.int8), indices, ends), shape=(trees.n_nodes,) * 2)


@overload
def log_shares(shares: Array) -> Array: ...
@overload
def log_shares(shares: list[Array]) -> list[Array]: ...


def log_shares(shares: Array | list[Array]) -> Array | list[Array]:
    """Return the logarithms of shares, of one output or of each of several; that of 0 is minus infinity."""
    if isinstance(shares, list):
        return [log_shares(part) for part in shares]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))


class TreeSize:
    """Depth and leaves of ``tree_``."""

    tree_: Any

    def get_depth(self) -> int:
        """Return the number of splits on the longest way."""
        check_is_fitted(self)
        return int(self.tree_.max_depth)

    def get_n_leaves(self) -> int:
        """Return the number of leaves, branches without training rows among them."""
        check_is_fitted(self)
        return int(self.tree_.n_leaves)


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


class TreeView:
    """What ``tree_`` is: the arrays and methods of scikit-learn's ``Tree``, on the arrays that the estimator stores.

    ``plot_tree``, ``export_text``, ``export_graphviz`` and other people's tools read it. Changing an array of it
    changes the model.
    """

    def __init__(self, trees: PackedTrees, n_features: int, n_classes: Array | int) -> None:
        self._trees = trees
        self.n_features = n_features
        self.n_classes = np.atleast_1d(np.asarray(n_classes, dtype=np.intp))

    def __getattr__(self, name: str) -> Any:
        if name in PER_NODE or name == "left_categories":
            return getattr(self._trees, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return dict(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    @property
    def packed(self) -> PackedTrees:
        """The arrays, as a pack of one tree."""
        return self._trees

    @property
    def node_count(self) -> int:
        """Nodes, leaves included."""
        return self._trees.n_nodes

    @property
    def capacity(self) -> int:
        """The same: nothing is kept in reserve."""
        return self.node_count

    @property
    def n_outputs(self) -> int:
        """Targets."""
        return int(self._trees.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """Classes of the target that has most."""
        return int(self._trees.value.shape[2])

    @property
    def n_leaves(self) -> int:
        """Nodes without children."""
        return int(self._trees.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Splits on the longest way."""
        return int(self._trees.depths().max())

    def apply(self, X: Data) -> Array:
        """Return the leaf of each row."""
        return leaves(self._trees, X)[:, 0].astype(np.intp)

    def predict(self, X: Data) -> Array:
        """Return the values at the leaves, of shape (n_samples, n_outputs, n_values), the middle one only if needed."""
        found = self._trees.value[self.apply(X)]
        return found[:, 0] if self.n_outputs == 1 else found

    def decision_path(self, X: Data) -> sparse.csr_matrix:
        """Return which nodes each row passes."""
        return decision_path(self._trees, X)

    def compute_feature_importances(self, normalize: bool = True) -> Array:
        """Return how much the splits of each column lower the impurity."""
        return feature_importances(self._trees, self.n_features, normalize=normalize)

    def compute_node_depths(self) -> Array:
        """Return the depth of each node, the root's being 1."""
        return self._trees.depths() + 1
