"""The mean answer of trees over the training rows when some columns are set to given values."""

from __future__ import annotations

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.packed_trees import PackedTrees


def mean_answers(trees: PackedTrees, grid: Array, columns: Array) -> Array:
    """Return for each row of the grid the sum over trees of the weighted mean of the leaves it may end in.

    Where a node asks for one of the columns, the row goes one way; elsewhere both, with the weights of the children.
    """
    place = {int(column): at for at, column in enumerate(columns)}
    total = np.zeros(len(grid))
    for tree in trees:
        share = np.zeros((tree.n_nodes, len(grid)))
        share[0] = 1.0
        for v in np.flatnonzero(~tree.is_leaf):
            left, right = tree.children_left[v], tree.children_right[v]
            if int(tree.feature[v]) in place:
                part = (grid[:, place[int(tree.feature[v])]] <= tree.threshold[v]).astype(float)
            else:
                part = np.full(len(grid), tree.weighted_n_node_samples[left] / tree.weighted_n_node_samples[v])
            share[left], share[right] = share[v] * part, share[v] * (1.0 - part)
        leaf = tree.is_leaf
        total += tree.value[leaf, 0, 0] @ share[leaf]
    return total
