"""Nodes in the order in which they were opened, put together as a tree in scikit-learn's order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.decision_tree.growth_layout import (
    FEATURE,
    IMPURITY,
    LEFT,
    MISSING_LEFT,
    RIGHT,
    START,
    STOP,
    THRESHOLD,
    VALUE,
    WEIGHT,
)
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, PackedTrees


class Grown(NamedTuple):
    """What the kernel leaves of each node, in the order of opening; see ``growth_layout`` for the columns."""

    wholes: Array
    reals: Array
    keys: Array
    sets: Array | None


def joined(tops: list[tuple[Grown, int]], subtrees: list[tuple[Grown, int]]) -> Grown:
    """Return one tree of nodes that were split alone, each with its two children, and of the subtrees below them.

    With each comes the place of its root: ``3 t + c`` is child ``c`` of the top ``t``; -1 of the first one. A part
    replaces the child that stands for it.
    """
    parts = [*tops, *subtrees]
    firsts = np.cumsum([0, *(len(grown.wholes) for grown, _ in parts)])
    wholes = np.concatenate([grown.wholes for grown, _ in parts])
    is_inner = wholes[:, LEFT] >= 0
    shift = np.repeat(firsts[:-1], np.diff(firsts))
    for side in (LEFT, RIGHT):
        wholes[:, side] = np.where(is_inner, wholes[:, side] + shift, wholes[:, side])
    replaced = np.zeros(len(wholes), dtype=bool)
    for part, (_, place) in enumerate(parts):
        if place >= 0:
            parent, child = firsts[place // 3], place % 3
            replaced[wholes[parent, LEFT if child == 1 else RIGHT]] = True
            wholes[parent, LEFT if child == 1 else RIGHT] = firsts[part]
    new = np.cumsum(~replaced) - 1
    for side in (LEFT, RIGHT):
        wholes[is_inner, side] = new[wholes[is_inner, side]]
    kept = ~replaced
    sets = None if parts[0][0].sets is None else np.concatenate([grown.sets for grown, _ in parts])[kept]
    reals, keys = (np.concatenate([grown[field] for grown, _ in parts])[kept] for field in (1, 2))
    return Grown(wholes[kept], reals, keys, sets)


def packed(grown: Grown, is_category: Array, *, in_preorder: bool, shape: tuple[int, int]) -> PackedTrees:
    """Return opened nodes as a tree; ``shape`` is (n_outputs, n_values).

    Depth first, every left subtree stands before the right one; best first, nodes stay in the order of their opening.
    """
    wholes, reals, n_nodes = grown.wholes, grown.reals, len(grown.wholes)
    if in_preorder:
        from pellucid.tree.decision_tree.growth_kernels import find_preorder

        place, order = np.empty(n_nodes, dtype=np.int64), np.empty(n_nodes, dtype=np.int64)
        find_preorder(wholes, place, order)
        wholes, reals = wholes[order], reals[order]
    else:
        place = order = np.arange(n_nodes)
    leaf, feature = wholes[:, LEFT] == LEAF, wholes[:, FEATURE].astype(np.int32)
    by_set = ~leaf & (is_category[np.where(leaf, 0, feature)] > 0)
    category_row = np.full(n_nodes, NO_CATEGORIES, dtype=np.int32)
    category_row[by_set] = np.arange(int(by_set.sum()))
    sets = np.empty((0, 0), np.uint32) if grown.sets is None else grown.sets[order[by_set]]
    return PackedTrees(
        starts=np.array([0, n_nodes], dtype=np.int64),
        children_left=np.where(leaf, LEAF, place[wholes[:, LEFT]]).astype(np.int32),
        children_right=np.where(leaf, LEAF, place[wholes[:, RIGHT]]).astype(np.int32),
        feature=feature,
        threshold=reals[:, THRESHOLD].copy(),
        missing_go_to_left=wholes[:, MISSING_LEFT].astype(np.uint8),
        category_row=category_row,
        left_categories=sets,
        impurity=reals[:, IMPURITY].copy(),
        n_node_samples=wholes[:, STOP] - wholes[:, START],
        weighted_n_node_samples=reals[:, WEIGHT].copy(),
        value=reals[:, VALUE:].reshape(n_nodes, *shape),
    )
