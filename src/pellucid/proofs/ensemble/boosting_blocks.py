"""Rows in blocks as the proof of boosted trees sees them: the number of each value's bin, found by its own pass.

A tree sends ``x`` left where ``x <= edge[k]``. With b the number of edges below x that is ``b <= k``: trees with k in
place of their thresholds do to bins what the others do to values, and two bytes hold a bin or a missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.tree.tree_bins import edges_below, gathered
from pellucid.proofs.tree.trees import TreeArrays


def bins_of(table: Any, edges: Sequence[Array], is_categorical: Array) -> Array:
    """Return how many edges lie below each value, NaN of a missing one; a category is its own bin."""
    return gathered(table, np.float16, _bins, list(edges), is_categorical)


def edges_of_bins(edges: Sequence[Array]) -> list[Array]:
    """Return the edges between bins that are numbered."""
    return [np.arange(len(own), dtype=np.float64) for own in edges]


def on_bins(trees: TreeArrays, edges: Sequence[Array]) -> TreeArrays:
    """Return trees that ask for bins; a threshold that is no edge has none, and becomes NaN."""
    threshold = trees.threshold.copy()
    for node in np.flatnonzero(~trees.is_leaf & (trees.category_row < 0) & (trees.threshold != np.inf)):
        own = edges[trees.feature[node]]
        (place,) = np.nonzero(own == trees.threshold[node])
        threshold[node] = place[0] if len(place) else np.nan
    return replace(trees, threshold=threshold)


def _bins(rows: Array, edges: Sequence[Array], is_categorical: Array) -> Array:
    found = np.empty(rows.shape, dtype=np.float16)
    for j, own in enumerate(edges):
        column = np.asarray(rows[:, j], dtype=np.float64)
        number = column if is_categorical[j] else edges_below(own, column)
        found[:, j] = np.where(np.isnan(column), np.nan, number)
    return found
