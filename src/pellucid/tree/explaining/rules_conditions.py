"""What a tree asks on its ways, in words: conditions on columns, joined where a column is asked for again."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.id3.id3_tree import NO_SPLIT, MultiwayTree
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, WORD, PackedTrees


@dataclass(frozen=True)
class Condition:
    """``low < value <= high`` of a column of numbers, or a value that is, or is not, among some categories."""

    feature: int
    name: str
    low: float = -math.inf
    high: float = math.inf
    categories: tuple[Any, ...] | None = None
    is_excluded: bool = False

    def __str__(self) -> str:
        if self.categories is not None:
            several = ", ".join(map(str, self.categories))
            if len(self.categories) == 1:
                return f"{self.name} {'≠' if self.is_excluded else '='} {several}"
            return f"{self.name} is {'none' if self.is_excluded else 'one'} of {several}"
        if self.low == math.inf or (math.isinf(self.low) and math.isinf(self.high)):
            return f"{self.name} is {'missing' if self.low == math.inf else 'known'}"
        if math.isinf(self.low):
            return f"{self.name} ≤ {self.high:.6g}"
        if math.isinf(self.high):
            return f"{self.name} > {self.low:.6g}"
        return f"{self.low:.6g} < {self.name} ≤ {self.high:.6g}"

    def __and__(self, other: Condition) -> Condition:
        """Return both conditions on one column as one."""
        if self.categories is None or other.categories is None:
            return replace(self, low=max(self.low, other.low), high=min(self.high, other.high))
        if self.is_excluded and other.is_excluded:
            return replace(self, categories=tuple(dict.fromkeys((*self.categories, *other.categories))))
        if self.is_excluded:
            return other & self
        return replace(
            self, categories=tuple(c for c in self.categories if (c in other.categories) != other.is_excluded)
        )


def joined(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return one condition for each column, in the order in which the columns were first asked for."""
    found: dict[int, Condition] = {}
    for condition in conditions:
        earlier = found.get(condition.feature)
        found[condition.feature] = condition if earlier is None else earlier & condition
    return tuple(found.values())


@dataclass(frozen=True)
class ReadableTree:
    """A tree as its answers are told: the branches of each node with their conditions, and what each node says."""

    branches: tuple[tuple[tuple[int, Condition], ...], ...]
    value: Array
    """(n_nodes, n_values): shares of the classes, or one number."""
    weight: Array
    """Of the training rows of each node."""

    def ways(self) -> list[tuple[int, tuple[Condition, ...]]]:
        """Return every leaf with the conditions on the way to it, in the order of the branches."""
        found, waiting = [], [(0, tuple[Condition, ...]())]
        while waiting:
            node, before = waiting.pop()
            if not self.branches[node]:
                found.append((node, before))
            waiting += [(child, (*before, condition)) for child, condition in reversed(self.branches[node])]
        return found


def readable_tree(model: Any, names: Sequence[str]) -> ReadableTree:
    """Return the tree of a fitted model, with names for its columns."""
    multiway = getattr(model, "tree_", None)
    if isinstance(multiway, MultiwayTree):
        branches = tuple(
            _multiway_branches(multiway, node, model.categories_, names) for node in range(len(multiway.feature))
        )
        total = multiway.value.sum(axis=1, keepdims=True)
        return ReadableTree(branches, multiway.value / total, multiway.weight)
    trees = getattr(model, "trees_", None)
    if not isinstance(trees, PackedTrees) or trees.n_trees != 1 or trees.value.shape[1] != 1:
        raise TypeError(
            f"tree must be one decision tree of pellucid with one target, got {type(model).__name__}. "
            "For forests and boosting see shapley_values."
        )
    known = getattr(model, "categories_", None) or [None] * len(names)
    branches = tuple(_binary_branches(trees, node, known, names) for node in range(trees.n_nodes))
    return ReadableTree(branches, trees.value[:, 0], trees.weighted_n_node_samples)


def _multiway_branches(
    tree: MultiwayTree, node: int, categories: Sequence[Array], names: Sequence[str]
) -> tuple[tuple[int, Condition], ...]:
    j, first = int(tree.feature[node]), int(tree.first_child[node])
    if j == NO_SPLIT:
        return ()
    if len(categories[j]) == 0:
        cut = float(tree.threshold[node])
        return (first, Condition(j, names[j], high=cut)), (first + 1, Condition(j, names[j], low=cut))
    values = [_plain(value) for value in categories[j]]
    return tuple((first + t, Condition(j, names[j], categories=(value,))) for t, value in enumerate(values))


def _binary_branches(
    tree: PackedTrees, node: int, known: Sequence[Array | None], names: Sequence[str]
) -> tuple[tuple[int, Condition], ...]:
    left, right, j = int(tree.children_left[node]), int(tree.children_right[node]), int(tree.feature[node])
    if left == LEAF:
        return ()
    row = tree.category_row[node]
    if row == NO_CATEGORIES:
        cut = float(tree.threshold[node])
        return (left, Condition(j, names[j], high=cut)), (right, Condition(j, names[j], low=cut))
    codes = [
        w * WORD + b for w, word in enumerate(tree.left_categories[row].tolist()) for b in range(WORD) if word >> b & 1
    ]
    values = known[j]
    if values is None:
        inside = Condition(j, names[j], categories=tuple(codes))
        return (left, inside), (right, replace(inside, is_excluded=True))
    sides = [tuple(_plain(v) for c, v in enumerate(values) if (c in codes) == is_left) for is_left in (True, False)]
    return (left, Condition(j, names[j], categories=sides[0])), (right, Condition(j, names[j], categories=sides[1]))


def _plain(value: Any) -> Any:
    """Return a category as a user would write it: 3.0 is 3."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
