"""What packed trees say about rows: the leaves they end in, the values there, the nodes on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array, Data
from pellucid.tree.packed_trees import PackedTrees

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
