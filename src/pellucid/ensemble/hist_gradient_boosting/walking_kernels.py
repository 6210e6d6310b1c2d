"""Rows on their way down boosted trees, whose two children stand side by side: a step is a sum, without a branch.

A leaf leads to itself, so that four rows can take as many steps together as the tree is deep, while each waits for its
memory. Places are unsigned: signed ones would be looked at for counting from the end.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import PLAIN, kept, loop

AT_ONCE = 4


@loop(**PLAIN)
def step(X, row, here, feature, left, threshold, missing_right):
    """Return the node after ``here`` of the row that begins at place ``row`` of ``X``."""
    x = X[row + np.uint64(feature[here])]
    return np.uint64(left[here]) + np.uint64((x > threshold[here]) | ((x != x) & missing_right[here]))


@loop(**PLAIN)
def step_by_set(X, row, here, feature, left, missing_right, categories):
    """Return the same for a node that sends a set of categories to the left."""
    x = X[row + np.uint64(feature[here])]
    if not 0.0 <= x < 32 * categories.shape[0]:  # no place in the set: as if missing
        return np.uint64(left[here]) + np.uint64(missing_right[here])
    code = np.uint64(x)
    bit = (categories[code >> np.uint64(5)] >> np.uint32(code & np.uint64(31))) & np.uint32(1)
    return np.uint64(left[here]) + np.uint64(bit == 0)


@kept
def walk_trees(X, p, starts, depths, has_sets, feature, left, threshold, missing_right, sets, categories, value, out):
    """Add to ``out`` (n_rows, n_outputs) the values at the leaves of all trees, which belong to the outputs in turn.

    ``X`` holds rows of ``p`` values; ``left`` is the left child, of a leaf itself; ``sets`` the row of ``categories``.
    """
    n, width = out.shape[0], np.uint64(p)
    for t in range(depths.shape[0]):
        root, k = np.uint64(starts[t]), t % out.shape[1]
        for i in range(0, n, 1 if has_sets[t] else AT_ONCE):
            a = b = c = d = root
            first = np.uint64(i) * width
            if has_sets[t]:
                while np.uint64(left[a]) != a:
                    if sets[a] >= 0:
                        a = step_by_set(X, first, a, feature, left, missing_right, categories[sets[a]])
                    else:
                        a = step(X, first, a, feature, left, threshold, missing_right)
                out[i, k] += value[a]
                continue
            second = np.uint64(min(i + 1, n - 1)) * width
            third = np.uint64(min(i + 2, n - 1)) * width
            fourth = np.uint64(min(i + 3, n - 1)) * width
            for _ in range(depths[t]):
                a = step(X, first, a, feature, left, threshold, missing_right)
                b = step(X, second, b, feature, left, threshold, missing_right)
                c = step(X, third, c, feature, left, threshold, missing_right)
                d = step(X, fourth, d, feature, left, threshold, missing_right)
            out[i, k] += value[a]
            if i + 1 < n:
                out[i + 1, k] += value[b]
            if i + 2 < n:
                out[i + 2, k] += value[c]
            if i + 3 < n:
                out[i + 3, k] += value[d]
