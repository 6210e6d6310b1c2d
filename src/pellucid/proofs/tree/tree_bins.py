"""Rows in blocks as the proofs of trees see them: of each number its bin, found by passes of their own.

A column of at most 255 different values has a bin for each; another one has bins that end at quantiles of some rows. A
tree sends ``x`` left where ``x <= t``. If no bin has values on both sides of t, this is to send the bins up to some
number left, and two bytes hold a bin or a missing value. A threshold must lie halfway between the largest value of all
rows in the last bin on the left that its node has, and the least in the first one on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.tree.trees import TreeArrays

MOST_BINS = 255
MOST_SAMPLED = 200_000
"""Rows from which on edges are quantiles of a sample of so many."""
MOST_BUCKETS = 2**14
"""Parts of equal width between the first and the last edge, to look up values in."""
MOST_COMPARED = 3
"""Edges in one such part up to which looking up and comparing is sooner done than searching."""
SAMPLING_SEED = 0
"""Of that sample, whatever the model draws."""


@dataclass(frozen=True, eq=False)
class BinnedValues:
    """Where the bins of each column lie, (n_columns, 255); an empty bin has no least and no largest value."""

    lowest: Array
    highest: Array
    table: Any
    """The rows in blocks."""

    def on_bins(self, trees: TreeArrays) -> TreeArrays:
        """Return trees that ask for bins: those with a value up to the threshold go left."""
        threshold, is_inner = trees.threshold.copy(), ~trees.is_leaf & (trees.threshold != np.inf)
        for j in np.unique(trees.feature[is_inner]):
            nodes, used = np.flatnonzero(is_inner & (trees.feature == j)), np.flatnonzero(~np.isnan(self.lowest[j]))
            place = np.searchsorted(self.lowest[j, used], threshold[nodes], side="right")
            threshold[nodes] = np.append(-1, used)[place]
        return replace(trees, threshold=threshold)

    def values_beside(self, column: Array, below: Array, above: Array) -> tuple[Array, Array]:
        """Return the largest value in a bin of each column, and the least one in another; infinite bins have none."""
        low, high = below.copy(), above.copy()
        is_low, is_high = np.isfinite(below), np.isfinite(above)
        low[is_low] = self.highest[column[is_low], below[is_low].astype(np.int64)]
        high[is_high] = self.lowest[column[is_high], above[is_high].astype(np.int64)]
        return low, high


def binned(table: Any, weight: Array | None) -> tuple[Array, BinnedValues]:
    """Return the bins of all rows of a table in blocks, NaN of missing values, and what they hold."""
    edges = edges_of_table(table, weight)
    bins = np.empty(table.shape, dtype=np.float16)
    lowest, highest = np.full((2, table.shape[1], MOST_BINS), np.nan)
    for rows, (own, own_lowest, own_highest) in table.each(_bins, edges):
        bins[rows] = own
        lowest, highest = np.fmin(lowest, own_lowest), np.fmax(highest, own_highest)
    return bins, BinnedValues(lowest, highest, table)


def edges_of_table(table: Any, weight: Array | None) -> list[Array]:
    """Return the largest value, or more, of each bin but the last."""
    n, p = table.shape
    parts = [part for _, part in table.each(_different)]
    few = [np.unique(np.concatenate([part[j] for part in parts])) for j in range(p)]
    is_few = [len(values) <= MOST_BINS for values in few]
    if all(is_few):
        return [values[:-1] for values in few]
    if n > MOST_SAMPLED:
        share = None if weight is None else weight / weight.sum()
        table = table[np.random.RandomState(SAMPLING_SEED).choice(n, MOST_SAMPLED, p=share)]
        weight = None
    some = values_of(table)
    return [
        values[:-1] if exact else edges_again(some[:, j], weight, MOST_BINS)
        for j, (values, exact) in enumerate(zip(few, is_few, strict=True))
    ]


def edges_again(column: Array, weight: Array | None, max_bins: int) -> Array:
    """Return the edges between bins, from the different values and how much weight each has."""
    present = ~np.isnan(column)
    if not present.any():
        return np.empty(0)
    values, place = np.unique(column[present].astype(np.float64), return_inverse=True)
    if len(values) <= max_bins:
        low, high = values[:-1], values[1:]
    else:
        mass = np.cumsum(np.bincount(place, weights=None if weight is None else weight[present]))
        goal, slack = np.arange(1, max_bins) * (mass[-1] / max_bins), 1e-12 * mass[-1]
        last = len(values) - 1
        low = values[np.minimum(np.searchsorted(mass, goal - slack), last)]
        high = values[np.minimum(np.searchsorted(mass, goal + slack, side="right"), last)]
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.where(low == high, low, low / 2.0 + high / 2.0)
    largest = np.finfo(np.float64).max
    return np.unique(np.where(np.isinf(low), -largest, np.where(np.isinf(high), largest, middle)))


def edges_below(edges: Array, column: Array) -> Array:
    """Return how many edges lie below each value, any number of them for a missing value.

    Halving misses the cache and the branches: rather, most edges below a value lie in a bucket before its own, and
    those in its own are compared with it. As the number of a bucket never falls with the value, however it is rounded,
    the edges in buckets before are below.

    Examples
    --------
    >>> edges_below(np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0, 1.5, 9.0])).tolist()
    [0, 0, 1, 3]
    """
    if len(edges) == 0:
        return np.zeros(len(column), dtype=np.intp)
    with np.errstate(all="ignore"):
        in_bucket = np.bincount(_buckets(edges, edges), minlength=MOST_BUCKETS + 1)
        if in_bucket.max() > MOST_COMPARED:
            return np.searchsorted(edges, column)
        found = (np.cumsum(in_bucket) - in_bucket).take(_buckets(edges, column))
    ended = np.append(edges, np.nan)
    for _ in range(in_bucket.max()):
        found += ended.take(found) < column
    return found


def values_of(table: Any) -> Array:
    """Return the values of some rows; rows in memory are their own."""
    return table if isinstance(table, np.ndarray) else gathered(table, np.float64, _values)


def gathered(table: Any, dtype: Any, work: Any, *given: Any) -> Array:
    """Return what a function finds in all rows of a table in blocks, a line for each row."""
    found: Array | None = None
    for rows, part in table.each(work, *given):
        if found is None:
            found = np.empty((len(table), *part.shape[1:]), dtype=dtype)
        found[rows] = part
    assert found is not None
    return found


def _values(rows: Array) -> Array:
    return np.asarray(rows, dtype=np.float64)


def _buckets(edges: Array, values: Array) -> Array:
    place = np.asarray((values - edges[0]) * (MOST_BUCKETS / (edges[-1] - edges[0])))
    return np.fmin(np.fmax(place, 0.0, out=place), MOST_BUCKETS, out=place).astype(np.intp)


def _different(rows: Array) -> list[Array]:
    """Return the different numbers of each column, the first 256 where there are more."""
    found = []
    for j in range(rows.shape[1]):
        values = np.sort(rows[:, j].astype(np.float64))  # missing ones come last
        values = values[: len(values) - np.count_nonzero(np.isnan(values))]
        found.append(values[np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])][: MOST_BINS + 1])
    return found


def _bins(rows: Array, edges: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Return how many edges lie below each value, and the least and the largest value in each bin."""
    bins = np.empty(rows.shape, dtype=np.float16)
    lowest, highest = np.full((2, rows.shape[1], MOST_BINS), np.nan)
    for j, own in enumerate(edges):
        column = np.asarray(rows[:, j], dtype=np.float64)
        number, is_missing = edges_below(own, column), np.isnan(column)
        bins[:, j] = np.where(is_missing, np.nan, number)
        np.fmin.at(lowest[j], number[~is_missing], column[~is_missing])
        np.fmax.at(highest[j], number[~is_missing], column[~is_missing])
    return bins, lowest, highest
