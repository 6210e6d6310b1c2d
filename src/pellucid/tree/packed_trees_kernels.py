"""Rows on their way down packed trees.

All rows of a block take a step together, so that the processor fetches the nodes of many rows at once. ``steps`` is
(n_nodes, 4): the column, the left and the right child, and twice the category row plus 2, plus 1 if missing values go
left; of a node that splits by its threshold that is 0 or 1. ``pack_steps`` looks whether every step stays inside its
tree, so that damaged arrays end in an error, not outside the memory.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept


@kept
def pack_steps(starts, feature, left, right, category_row, missing_left, n_columns, n_sets, steps):
    """Write ``steps``; return whether all children stand behind their parent and all columns and sets are there."""
    for t in range(len(starts) - 1):
        for node in range(starts[t], starts[t + 1]):
            steps[node, 0], steps[node, 1], steps[node, 2] = feature[node], left[node], right[node]
            steps[node, 3] = 2 * (category_row[node] + 1) + (missing_left[node] != 0)
            if feature[node] < 0:
                continue
            own, size = node - starts[t], starts[t + 1] - starts[t]
            nearest, farthest = min(left[node], right[node]), max(left[node], right[node])
            if nearest <= own or farthest >= size or feature[node] >= n_columns or category_row[node] >= n_sets:
                return False
    return True


@kept
def is_in_left_set(x, direction, left_categories):
    """Return whether a category goes left; one without a place in the bit set goes where missing values go."""
    row = (direction >> 1) - 1
    if np.isnan(x) or x < 0 or x >= 32 * left_categories.shape[1]:
        return direction & 1 != 0
    code = np.int64(x)
    return (left_categories[row, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) != 0


@kept
def descend(X, first, steps, threshold, left_categories, leaf, moving):
    """Write to ``leaf`` where each row ends in the tree whose root is the node ``first``. O(n_rows depth).

    ``moving`` is working memory for the rows that have not come to a leaf.
    """
    n_moving = X.shape[0]
    for i in range(n_moving):
        leaf[i], moving[i] = 0, i
    while n_moving > 0:
        still = 0
        for k in range(n_moving):
            i = moving[k]
            node = first + leaf[i]
            j = steps[node, 0]
            if j < 0:
                continue
            x, direction = X[i, j], steps[node, 3]
            if direction > 1:
                child = steps[node, 1] if is_in_left_set(x, direction, left_categories) else steps[node, 2]
            elif np.isnan(x):
                child = steps[node, 1] if direction else steps[node, 2]
            else:
                child = steps[node, 1] if x <= threshold[node] else steps[node, 2]
            leaf[i] = child
            moving[still] = i
            still += 1
        n_moving = still


@kept
def find_leaves(X, starts, steps, threshold, left_categories, out):
    """Write the leaf of each row in each tree to ``out`` (n_rows, n_trees). O(n_rows n_trees depth)."""
    leaf, moving = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0], dtype=np.int32)
    for t in range(len(starts) - 1):
        first = starts[t]
        descend(X, first, steps, threshold, left_categories, leaf, moving)
        for i in range(X.shape[0]):
            out[i, t] = leaf[i]


@kept
def add_values(X, starts, steps, threshold, left_categories, value, groups, out):
    """Add the values at the leaves of all trees to ``out`` (n_rows, n_values). O(n_rows n_trees (depth + n_values)).

    ``value`` is (n_nodes, n_columns); the columns of tree t are added to those of ``out`` from ``groups[t]`` on.
    """
    leaf, moving = np.empty(X.shape[0], dtype=np.int32), np.empty(X.shape[0], dtype=np.int32)
    for t in range(len(starts) - 1):
        first = starts[t]
        descend(X, first, steps, threshold, left_categories, leaf, moving)
        for i in range(X.shape[0]):
            for k in range(value.shape[1]):
                out[i, groups[t] + k] += value[first + leaf[i], k]
