"""Rows on their way down packed trees.

Every step looks whether it stays inside the tree, so that damaged arrays end in an error, not outside the memory.
"""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit

DAMAGED = -1
"""The leaf of a row whose way leads nowhere."""


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def goes_left(x, threshold, missing_left, row, left_categories):
    """Return whether a value goes left; a category without a place in the bit set goes where missing values go."""
    if np.isnan(x):
        return missing_left != 0
    if row < 0:
        return x <= threshold
    if row >= left_categories.shape[0] or x < 0 or x >= 32 * left_categories.shape[1]:
        return missing_left != 0
    code = np.int64(x)
    return (left_categories[row, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) != 0


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def leaf_of_row(x, first, last, left, right, feature, threshold, missing_left, category_row, left_categories):
    """Return where the row ``x`` ends in the tree of the nodes ``first`` to ``last``, within the tree. O(depth)."""
    node = 0
    size = last - first
    while True:
        at = first + node
        child = left[at]
        if child < 0:
            return node
        j = feature[at]
        if j < 0 or j >= x.shape[0]:
            return DAMAGED
        if not goes_left(x[j], threshold[at], missing_left[at], category_row[at], left_categories):
            child = right[at]
        if child <= node or child >= size:
            return DAMAGED
        node = child


@njit(cache=True, nogil=True, error_model="numpy")
def find_leaves(X, starts, left, right, feature, threshold, missing_left, category_row, left_categories, out):
    """Write the leaf of each row in each tree to ``out`` (n_rows, n_trees). O(n_rows n_trees depth)."""
    for t in range(len(starts) - 1):
        for i in range(X.shape[0]):
            out[i, t] = leaf_of_row(
                X[i],
                starts[t],
                starts[t + 1],
                left,
                right,
                feature,
                threshold,
                missing_left,
                category_row,
                left_categories,
            )


@njit(cache=True, nogil=True, error_model="numpy")
def add_values(
    X, starts, left, right, feature, threshold, missing_left, category_row, left_categories, value, groups, out
):
    """Add the values at the leaves of all trees to ``out`` (n_rows, n_values). O(n_rows n_trees (depth + n_values)).

    ``value`` is (n_nodes, n_columns); the columns of tree t are added to those of ``out`` from ``groups[t]`` on.
    Returns whether every row came to a leaf.
    """
    whole = True
    for t in range(len(starts) - 1):
        for i in range(X.shape[0]):
            leaf = leaf_of_row(
                X[i],
                starts[t],
                starts[t + 1],
                left,
                right,
                feature,
                threshold,
                missing_left,
                category_row,
                left_categories,
            )
            if leaf == DAMAGED:
                whole = False
                continue
            for k in range(value.shape[1]):
                out[i, groups[t] + k] += value[starts[t] + leaf, k]
    return whole
