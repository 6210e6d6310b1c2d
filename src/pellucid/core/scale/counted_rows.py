"""Counted rows: a small weighted table with the same counts, by class and column, as rows that nobody can hold.

Sums of a class stand in one row of weight 1, beside a row of zeros for the rest of its weight. Categories of a column
are dealt out beside those of the others, as many rows as there are changes: which categories of two columns meet is
another matter, and naive Bayes does not ask.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.input_rules import SUMS
from pellucid.core.scale.moments import groups_of, refuse_no_weight
from pellucid.core.scale.row_blocks import BlockError, RowBlock, RowBlocks, StandIn, made_on_device
from pellucid.core.types import Array

MOST_CATEGORIES = 10_000
"""Different values of a column, of which there would be a row each."""


@dataclass(frozen=True, eq=False)
class BlockCounts:
    """What one pass over the rows leaves: weight and counts by label."""

    weights: dict[Any, float]
    counts: dict[Any, Any]
    """Sums of the columns, or for each column a mapping from category to weight."""


@made_on_device("pellucid.core.device.device_moments:count_block")
def count_block(block: RowBlock, how: str, threshold: float | None) -> BlockCounts:
    """Return the counts of a block; above a threshold, if there is one, is one category and the rest the other."""
    weights, counts = dict[Any, float](), dict[Any, Any]()
    for label, (X,), weight in groups_of(block, "classes"):
        if X.dtype.kind == "f" and not np.isfinite(X).all():
            raise BlockError(f"block {block.number} must be finite: Input contains NaN or infinity. Drop such rows.")
        if threshold is None and X.min() < 0:
            raise BlockError(f"block {block.number} must hold counts: Negative values in data. Shift them.")
        own = np.ones(len(X)) if weight is None else weight
        weights[label] = float(own.sum())
        X = X if threshold is None else (threshold < X).astype(np.int64)
        counts[label] = own @ X.astype(np.float64) if how == SUMS else [_categories(x, own) for x in X.T]
    return BlockCounts(weights, counts)


def _categories(column: Array, weight: Array) -> dict[int, float]:
    values, places = np.unique(column, return_inverse=True)
    if len(values) > MOST_CATEGORIES or (column.dtype.kind == "f" and (values % 1 != 0).any()):
        raise BlockError(f"columns must hold at most {MOST_CATEGORIES:,} categories, whole numbers, got others.")
    totals = np.bincount(places.reshape(-1), weights=weight)
    return dict(zip(values.astype(np.int64).tolist(), totals.tolist(), strict=True))


def join_counts(found: Sequence[BlockCounts]) -> BlockCounts:
    """Return the counts of all blocks, which come in order."""
    weights, counts = dict[Any, float](), dict[Any, Any]()
    for one in found:
        for label, own in one.counts.items():
            weights[label] = weights.get(label, 0.0) + one.weights[label]
            counts[label] = _plus(counts[label], own) if label in counts else own
    return BlockCounts(weights, counts)


def _plus(one: Any, other: Any) -> Any:
    if isinstance(one, np.ndarray):
        return one + other
    return [_merged(*pair) for pair in zip(one, other, strict=True)]


def _merged(one: Mapping[int, float], other: Mapping[int, float]) -> dict[int, float]:
    return {value: one.get(value, 0.0) + other.get(value, 0.0) for value in sorted(one.keys() | other.keys())}


def counted_rows(blocks: RowBlocks, how: str, threshold: float | None) -> StandIn:
    """Return rows with the counts of all, by class."""
    found = blocks.reduce(count_block, join_counts, how, threshold)
    labels = sorted(found.counts)
    refuse_no_weight(labels)
    make = _rows_of_sums if how == SUMS else _rows_of_categories
    tables, weights = zip(*(make(found.counts[label], found.weights[label]) for label in labels), strict=True)
    own = np.repeat(np.array(labels), [len(table) for table in tables])
    return StandIn(np.concatenate(tables), np.concatenate(weights), own)


def _rows_of_sums(sums: Array, weight: float) -> tuple[Array, Array]:
    if weight <= 1.0:
        return (sums / weight)[None, :], np.array([weight])
    return np.stack([sums, np.zeros_like(sums)]), np.array([1.0, weight - 1.0])


def _rows_of_categories(columns: Sequence[Mapping[int, float]], weight: float) -> tuple[Array, Array]:
    """Return rows in which each category has its weight: those left of each column go together while both last."""
    waiting = [list(column.items()) for column in columns]
    rows, weights = [], []
    while all(waiting):
        rows.append([left[0][0] for left in waiting])
        weights.append(min(left[0][1] for left in waiting))
        for left in waiting:
            value, rest = left[0][0], left[0][1] - weights[-1]
            left[:1] = [(value, rest)] if rest > np.finfo(float).eps * weight else []
    return np.array(rows, dtype=np.int64), np.array(weights)
