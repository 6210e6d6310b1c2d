"""Sums of the values of boosted trees for many rows."""

from __future__ import annotations

import numpy as np

from pellucid.core.threads import run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.tree.packed_trees import PackedTrees
from pellucid.tree.tree_reading import summed_values

ROWS_AT_ONCE = 512
FEW_ROWS = 256
"""Rows below which preparing the trees takes longer than walking down them one by one."""


def raw_values(trees: PackedTrees, X: Array, n_outputs: int) -> Array:
    """Return the sums of the values of all trees, of shape (n_outputs, n_samples)."""
    n = X.shape[0]
    found = np.zeros((n, n_outputs))
    if n < FEW_ROWS or not _has_neighbors(trees, X.shape[1]):
        return summed_values(trees, X, found, n_groups=n_outputs).T
    from pellucid.ensemble.hist_gradient_boosting.walking_kernels import walk_trees

    leaf, by_set = trees.is_leaf, trees.category_row >= 0
    first = trees.starts[trees.tree_of_node]
    way = (
        trees.starts,
        np.maximum.reduceat(trees.depths(), trees.starts[:-1]),
        np.logical_or.reduceat(by_set, trees.starts[:-1]),
        np.where(leaf, 0, trees.feature).astype(np.uint32),
        np.where(leaf, np.arange(trees.n_nodes), first + trees.children_left).astype(np.uint32),
        np.where(leaf, np.inf, trees.threshold),
        ~leaf & (trees.missing_go_to_left == 0),
        trees.category_row,
        trees.left_categories,
        trees.value[:, 0, 0].copy(),
    )

    def walk(rows: slice) -> None:
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        walk_trees(block.ravel(), block.shape[1], *way, found[rows])

    run_blocks(walk, split_evenly(n, max(-(-n // ROWS_AT_ONCE), thread_count())))
    return found.T


def _has_neighbors(trees: PackedTrees, n_features: int) -> bool:
    """Return whether the trees are whole and every right child stands behind the left one."""
    if trees.fault(n_features) or trees.value.shape[1:] != (1, 1):
        return False
    inner = ~trees.is_leaf
    return bool((trees.children_right[inner] == trees.children_left[inner] + 1).all())
