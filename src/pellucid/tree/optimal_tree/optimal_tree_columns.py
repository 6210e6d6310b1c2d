"""The splits that an optimal tree may use, thresholds and single categories, and such splits as packed trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.types import Array
from pellucid.tree.packed_trees import LEAF, NO_CATEGORIES, NO_FEATURE, NO_THRESHOLD, WORD, PackedTrees

MOST_CATEGORIES = 1024
"""Codes of a column of categories must be below this: a set of them is kept as bits."""


@dataclass(frozen=True)
class BinnedColumns:
    """Rows as bins of their columns.

    An ordered column has one split after each bin but the last, a column of categories one for each bin against all
    others. The splits of all columns stand one after the other.
    """

    codes: Array
    """int32 (n_rows, n_columns): bins from 0."""
    cuts: tuple[Array, ...]
    """Of each column its thresholds, or the codes of its categories."""
    is_category: Array
    """bool (n_columns)."""

    @property
    def n_bins(self) -> Array:
        """Bins of each column."""
        return np.array([len(cuts) + (not of) for cuts, of in zip(self.cuts, self.is_category, strict=True)], np.int64)

    @property
    def starts(self) -> Array:
        """Where the splits of each column begin, and where the last ones end."""
        return np.concatenate([[0], np.cumsum([len(cuts) for cuts in self.cuts])]).astype(np.int64)

    def inside(self, rows: Array, column: int, split: int) -> Array:
        """Return which of the rows go left: up to the threshold, or of the category."""
        codes = self.codes[rows, column]
        return np.asarray(codes == split if self.is_category[column] else codes <= split)


def binned_columns(X: Array, weight: Array, is_category: Array, max_thresholds: int | None) -> BinnedColumns:
    """Return the rows as bins.

    Thresholds lie half way between neighboring values. If there are more than ``max_thresholds`` in a column, those
    next to evenly spaced shares of the weight are taken.
    """
    cuts, codes = [], np.zeros(X.shape, dtype=np.int32)
    for j in range(X.shape[1]):
        column = np.asarray(X[:, j], dtype=np.float64)
        if is_category[j]:
            cuts.append(np.unique(column))
            codes[:, j] = np.searchsorted(cuts[j], column)
        else:
            cuts.append(_thresholds(column, weight, max_thresholds))
            codes[:, j] = np.searchsorted(cuts[j], column, side="left")
    return BinnedColumns(codes, tuple(cuts), is_category)


def category_mask(wanted: Any, X: Array, names: Sequence[str] | None) -> Array:
    """Return which columns hold codes of categories: those named; refuse names and codes that do not exist."""
    mask = np.zeros(X.shape[1], dtype=bool)
    known = {name: j for j, name in enumerate(names or ())} | {j: j for j in range(X.shape[1])}
    for key in wanted if wanted is not None else ():
        if key not in known:
            raise ValueError(f"categorical_features must name columns of X, got {key!r}. Columns are {list(known)}.")
        mask[known[key]] = True
    for j in np.flatnonzero(mask):
        column = X[:, j]
        if np.any(column != np.floor(column)) or column.min() < 0 or column.max() >= MOST_CATEGORIES:
            raise ValueError(
                f"X must hold whole numbers from 0 to {MOST_CATEGORIES - 1} in the categorical column {j}, got "
                f"{column.min():g} to {column.max():g}. Encode it with OrdinalEncoder."
            )
    return mask


def _thresholds(column: Array, weight: Array, most: int | None) -> Array:
    values, places = np.unique(column, return_inverse=True)
    low, high = values[:-1], values[1:]
    half = low + (high - low) / 2
    half = np.where(half < high, half, low)  # rounding must not lift it to the next value
    if most is None or len(half) <= most:
        return np.asarray(half)
    below = np.cumsum(np.bincount(places, weight))[:-1]
    wanted = weight.sum() * np.arange(1, most + 1) / (most + 1)
    near = np.searchsorted(below, wanted * (1.0 - 1e-12))
    return np.asarray(half[np.unique(np.minimum(near, len(half) - 1))])


def packed_splits(tree: Any, columns: BinnedColumns, y: Array, weight: Array, n_classes: int) -> PackedTrees:
    """Return the tree with its nodes in preorder; ``tree`` is a split with sides, None a leaf."""
    packing = _Packing(columns, y, weight, n_classes)
    packing.add(tree, np.arange(len(y)))
    return packing.packed()


class _Packing:
    """Lists of what each node holds, filled from the root on."""

    def __init__(self, columns: BinnedColumns, y: Array, weight: Array, n_classes: int) -> None:
        self.columns, self.y, self.weight, self.n_classes = columns, y, weight, n_classes
        self.children: list[list[int]] = []
        self.splits: list[tuple[int, float, int]] = []
        self.counts: list[Array] = []
        self.n_rows: list[int] = []
        self.sets: list[int] = []

    def add(self, tree: Any, rows: Array) -> int:
        node = len(self.children)
        self.children.append([LEAF, LEAF])
        self.counts.append(np.bincount(self.y[rows], self.weight[rows], self.n_classes))
        self.n_rows.append(len(rows))
        self.splits.append((NO_FEATURE, NO_THRESHOLD, NO_CATEGORIES))
        if tree is None:
            return node
        cut = float(self.columns.cuts[tree.column][tree.cut])
        if self.columns.is_category[tree.column]:
            self.splits[node] = (tree.column, NO_THRESHOLD, len(self.sets))
            self.sets.append(int(cut))
        else:
            self.splits[node] = (tree.column, cut, NO_CATEGORIES)
        inside = self.columns.inside(rows, tree.column, tree.cut)
        self.children[node][0] = self.add(tree.left, rows[inside])
        self.children[node][1] = self.add(tree.right, rows[~inside])
        return node

    def packed(self) -> PackedTrees:
        feature, threshold, category_row = zip(*self.splits, strict=True)
        counts = np.array(self.counts)
        total = counts.sum(axis=1)
        sets = np.zeros((len(self.sets), 1 + max(self.sets, default=0) // WORD), dtype=np.uint32)
        for row, code in enumerate(self.sets):
            sets[row, code // WORD] = np.uint32(1) << np.uint32(code % WORD)
        return PackedTrees(
            starts=np.array([0, len(counts)], dtype=np.int64),
            children_left=np.array([left for left, _ in self.children], dtype=np.int32),
            children_right=np.array([right for _, right in self.children], dtype=np.int32),
            feature=np.array(feature, dtype=np.int32),
            threshold=np.array(threshold, dtype=np.float64),
            missing_go_to_left=np.zeros(len(counts), dtype=np.uint8),
            category_row=np.array(category_row, dtype=np.int32),
            left_categories=sets,
            impurity=np.asarray(1.0 - counts.max(axis=1) / total),
            n_node_samples=np.array(self.n_rows, dtype=np.int64),
            weighted_n_node_samples=total,
            value=(counts / total[:, None])[:, None, :],
        )
