r"""Cost-complexity pruning: the subtrees that are best for some price :math:`\alpha` of a leaf.

.. math:: R_\alpha(T) = \sum_{t \in \text{leaves}} \frac{w_t}{w} I_t + \alpha\,|\text{leaves}|

The weakest link, the split whose subtree takes least from the impurity per leaf, is cut first; of equally weak ones
that with the lowest number.
"""

from __future__ import annotations

import heapq

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, NO_FEATURE, NO_THRESHOLD, PackedTrees


class _Links:
    """Impurity and leaves below each node, while weakest links are cut one by one."""

    def __init__(self, tree: PackedTrees) -> None:
        self.tree, self.parents = tree, tree.parents()
        self.own = tree.weighted_n_node_samples * tree.impurity / tree.weighted_n_node_samples[0]
        self.below, self.leaves = branch_sums(tree, self.own)
        self.is_cut = tree.is_leaf.copy()
        self.queue = [(self.strength(v), v) for v in np.flatnonzero(~tree.is_leaf).tolist()]
        heapq.heapify(self.queue)

    def strength(self, v: int) -> float:
        """Return what the subtree of a node takes from the impurity, per leaf it costs."""
        return float((self.own[v] - self.below[v]) / (self.leaves[v] - 1))

    def weakest(self) -> tuple[float, int] | None:
        """Return the weakest link and its node, None when only the root is left."""
        while self.queue:
            strength, v = self.queue[0]
            if not self.is_cut[v] and strength == self.strength(v):
                return strength, v
            heapq.heappop(self.queue)
        return None

    def cut(self, v: int) -> None:
        """Make a node a leaf."""
        more, fewer = self.own[v] - self.below[v], self.leaves[v] - 1
        waiting = [v]
        while waiting:
            node = waiting.pop()
            if not self.is_cut[node]:
                waiting += [int(self.tree.children_left[node]), int(self.tree.children_right[node])]
            self.is_cut[node] = True
        self.below[v], self.leaves[v] = self.own[v], 1
        above = int(self.parents[v])
        while above >= 0:
            self.below[above] += more
            self.leaves[above] -= fewer
            heapq.heappush(self.queue, (self.strength(above), above))
            above = int(self.parents[above])


def branch_sums(tree: PackedTrees, own: Array) -> tuple[Array, Array]:
    """Return the sum of a number over the leaves below each node, and how many these are."""
    below, leaves = np.where(tree.is_leaf, own, 0.0), tree.is_leaf.astype(np.int64)
    depth, parents = tree.depths(), tree.parents()
    order = np.argsort(-depth, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        inside = level[parents[level] >= 0]
        np.add.at(below, parents[inside], below[inside])
        np.add.at(leaves, parents[inside], leaves[inside])
    return below, leaves


def pruning_path(tree: PackedTrees) -> tuple[Array, Array]:
    """Return the prices at which a link is cut, from 0 on, and the impurity of the leaves after each cut."""
    links = _Links(tree)
    prices, impurities = [0.0], [float(links.below[0])]
    while (found := links.weakest()) is not None:
        links.cut(found[1])
        prices.append(found[0])
        impurities.append(float(links.below[0]))
    return np.array(prices), np.array(impurities)


def pruned(tree: PackedTrees, price: float) -> PackedTrees:
    """Return the tree without the links that are no stronger than a price."""
    links = _Links(tree)
    while (found := links.weakest()) is not None and found[0] <= price:
        links.cut(found[1])
    return without_branches(tree, links.is_cut)


def without_branches(tree: PackedTrees, is_cut: Array) -> PackedTrees:
    """Return the tree with leaves in the place of some nodes, in the order it had."""
    parents, kept = tree.parents(), np.ones(tree.n_nodes, dtype=bool)
    for v in range(1, tree.n_nodes):  # a parent comes before its children
        kept[v] = kept[parents[v]] and not is_cut[parents[v]]
    new = np.cumsum(kept) - 1
    leaf = is_cut[kept]
    rows = np.where(leaf, NO_CATEGORIES, tree.category_row[kept])
    used = rows[rows != NO_CATEGORIES]
    category_row = np.full(len(rows), NO_CATEGORIES, dtype=np.int32)
    category_row[rows != NO_CATEGORIES] = np.arange(len(used))
    return PackedTrees(
        starts=np.array([0, int(kept.sum())], dtype=np.int64),
        children_left=np.where(leaf, LEAF, new[tree.children_left[kept]]).astype(np.int32),
        children_right=np.where(leaf, LEAF, new[tree.children_right[kept]]).astype(np.int32),
        feature=np.where(leaf, NO_FEATURE, tree.feature[kept]).astype(np.int32),
        threshold=np.where(leaf, NO_THRESHOLD, tree.threshold[kept]),
        missing_go_to_left=np.where(leaf, 0, tree.missing_go_to_left[kept]).astype(np.uint8),
        category_row=category_row,
        left_categories=tree.left_categories[used],
        impurity=tree.impurity[kept],
        n_node_samples=tree.n_node_samples[kept],
        weighted_n_node_samples=tree.weighted_n_node_samples[kept],
        value=tree.value[kept],
    )
