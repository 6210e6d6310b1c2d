"""Trees grown one after another in the same memory, all of them as one pack, and what a pack says about rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.core.threads import WORTH_SHARING, run_blocks, split_evenly, thread_count
from pellucid.core.types import Array
from pellucid.ensemble.hist_gradient_boosting import growing_layout as layout
from pellucid.ensemble.hist_gradient_boosting.boosting_rules import most_leaves
from pellucid.tree.bins import N_EDGES
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, NO_FEATURE, NO_THRESHOLD, PackedTrees
from pellucid.tree.tree_reading import summed_values

SPARE_SLOTS = 4
MOST_GRADIENT_BITS = 46
FEW_ROWS = 50_000
"""Rows below which all histograms of a tree are kept, whatever their size."""


@dataclass(frozen=True)
class TreeSettings:
    """What every tree of an ensemble is grown by."""

    learning_rate: float
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_features: float


@dataclass(frozen=True)
class Bins:
    """Binned training rows: words of four features each, and what is known of every feature."""

    groups: Array
    n_bins: Array
    has_missing: Array
    is_categorical: Array
    monotonic: Array
    interaction_sets: Array
    """Bool (n_sets, n_features): features that may be on one path together; none: all may."""


class TreeGrower:
    """Grows trees on the same rows: the memory for rows, histograms and nodes is taken once."""

    def __init__(self, bins: Bins, settings: TreeSettings) -> None:
        from pellucid.ensemble.hist_gradient_boosting.split_kernels import FLOATS_SIZE, GROUP_SIZE, INTS_SIZE

        self.bins, self.settings = bins, settings
        n_groups, n = bins.groups.shape
        p = len(bins.n_bins)
        self.most_leaves = most_leaves(n, settings.min_samples_leaf, settings.max_leaf_nodes, settings.max_depth)
        slot_size = n_groups * GROUP_SIZE
        # histograms that do not fit into the memory of the binned rows are given up and counted again
        affordable = max(bins.groups.nbytes, 4 * FEW_ROWS * n_groups) // (8 * slot_size)
        self.n_slots = max(SPARE_SLOTS, min(self.most_leaves + 2, affordable))
        columns = (bins.n_bins, bins.has_missing, bins.is_categorical, bins.monotonic)
        self.features = np.stack([np.asarray(column, dtype=np.int64) for column in columns], axis=1)
        self.sets = np.asarray(bins.interaction_sets, dtype=np.int64).reshape(-1, p)
        self.by_set, self.directed = bool(np.any(bins.is_categorical)) or None, bool(np.any(bins.monotonic)) or None
        pairs = np.empty(2 * min(n, layout.BLOCK), dtype=np.int64)
        self.lines = layout.Lines(np.empty(n, dtype=np.uint32), np.empty(n, dtype=np.uint32), pairs)
        self.slots = np.empty((self.n_slots, slot_size), dtype=np.int64)
        self.nodes = np.zeros((2 * self.most_leaves + 1, layout.NODE_SIZE), dtype=np.int64)
        self.measures = np.zeros((2 * self.most_leaves + 1, layout.MEASURE_SIZE))
        self.splits, self.gains = np.zeros((2 * p, 5), dtype=np.int64), np.zeros(2 * p)
        self.n_threads = thread_count() if n * p >= WORTH_SHARING else 1
        self.ints = np.empty((self.n_threads, INTS_SIZE), dtype=np.int64)
        self.floats = np.empty((self.n_threads, FLOATS_SIZE))

    def grow(self, gradients: Array, hessians: Array, largest: Array, raw: Array, keys: Array) -> tuple[Array, Array]:
        """Grow a tree and add its values to ``raw``; return its nodes and their measures.

        ``largest`` are the largest gradient and hessian in size. Leave ``raw`` empty to have nothing added.
        """
        from pellucid.ensemble.hist_gradient_boosting.claim_kernels import STATE_SIZE
        from pellucid.ensemble.hist_gradient_boosting.growing_kernels import grow_tree

        n = len(self.lines.rows)
        job = np.zeros(layout.FREE + self.n_slots + n // layout.CHUNK + 1, dtype=np.int64)
        job[layout.N_NODES], job[layout.MOST_LEAVES] = 1, self.most_leaves
        job[layout.MOST_DEPTH] = np.iinfo(np.int32).max if self.settings.max_depth is None else self.settings.max_depth
        job[layout.N_FREE] = job[layout.N_SLOTS] = self.n_slots
        job[layout.FREE : layout.FREE + self.n_slots] = np.arange(self.n_slots)
        state = np.zeros(STATE_SIZE, dtype=np.int64)
        self.nodes[0] = 0
        data = layout.Data(self.bins.groups, gradients, hessians, raw)
        tree = layout.Tree(self.slots, self.nodes, self.measures, self.splits, self.gains, job)
        rules = layout.GrowingRules(self.features, self._units(largest, n))
        choice = layout.SplitChoice(keys, self.sets) if len(keys) or len(self.sets) else None
        own = (self.by_set, self.directed, self.ints, self.floats)
        run_blocks(
            lambda thread: grow_tree(thread, state, data, self.lines, tree, rules, choice, *own), range(self.n_threads)
        )
        n_nodes = int(job[layout.N_NODES])
        return self.nodes[:n_nodes].copy(), self.measures[:n_nodes].copy()

    def rows_of(self, node: Array) -> Array:
        """Return the rows of a node of the tree grown last."""
        return self.lines.rows[node[layout.FIRST] : node[layout.LAST]]

    def _units(self, largest: Array, n: int) -> Array:
        """Return the settings of the kernels; units are powers of two such that no sum of all rows can overflow."""
        count_bits = max(1, n.bit_length())
        bits = min(MOST_GRADIENT_BITS, 62 - count_bits), 62 - 2 * count_bits
        units = [2.0 ** (math.frexp(max(float(size), 1e-280))[1] - b) for size, b in zip(largest, bits, strict=True)]
        tree = self.settings
        own = (tree.l2_regularization, tree.min_samples_leaf, *units, tree.learning_rate, tree.max_features)
        return np.array([*own, 1.0 / units[0], 1.0 / units[1], count_bits], dtype=np.float64)


def pack(grown: Sequence[tuple[Array, Array]], edges: Sequence[Array], weights: Sequence[Array]) -> PackedTrees:
    """Return grown trees as one pack, with thresholds in the units of the data."""
    nodes = np.concatenate([one for one, _ in grown])
    measures = np.concatenate([one for _, one in grown])
    is_leaf = nodes[:, layout.LEFT] == 0
    by_set = ~is_leaf & (nodes[:, layout.IS_CATEGORY] == 1)
    table = np.full((len(edges), N_EDGES), np.inf)
    for j, known in enumerate(edges):
        table[j, : len(known)] = known
    feature = np.where(is_leaf, NO_FEATURE, nodes[:, layout.FEATURE])
    threshold = np.where(is_leaf | by_set, NO_THRESHOLD, table[nodes[:, layout.FEATURE], nodes[:, layout.BIN]])
    sizes = [len(one) for one, _ in grown]
    return PackedTrees(
        starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        children_left=np.where(is_leaf, LEAF, nodes[:, layout.LEFT]).astype(np.int32),
        children_right=np.where(is_leaf, LEAF, nodes[:, layout.RIGHT]).astype(np.int32),
        feature=feature.astype(np.int32),
        threshold=threshold,
        missing_go_to_left=np.where(is_leaf, 0, nodes[:, layout.MISSING_SIDE]).astype(np.uint8),
        category_row=np.where(by_set, np.cumsum(by_set) - 1, NO_CATEGORIES).astype(np.int32),
        left_categories=nodes[by_set, layout.BITS :].astype(np.uint32),
        impurity=np.zeros(len(nodes)),
        n_node_samples=nodes[:, layout.LAST] - nodes[:, layout.FIRST],
        weighted_n_node_samples=np.concatenate(weights),
        value=np.where(is_leaf, measures[:, layout.VALUE], 0.0)[:, np.newaxis, np.newaxis],
    )


ROWS_AT_ONCE = 512
FEW_ROWS_TO_WALK = 256
"""Rows below which preparing the trees takes longer than walking down them one by one."""


def raw_values(trees: PackedTrees, X: Array, n_outputs: int) -> Array:
    """Return the sums of the values of all trees, of shape (n_outputs, n_samples)."""
    n = X.shape[0]
    found = np.zeros((n, n_outputs))
    if n < FEW_ROWS_TO_WALK or not _has_neighbors(trees, X.shape[1]):
        return summed_values(trees, X, found, n_groups=n_outputs).T
    from pellucid.ensemble.hist_gradient_boosting.gradient_kernels import walk_trees

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
