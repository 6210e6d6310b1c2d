"""Bins of columns: a column's values as at most 255 whole numbers, with a bin of their own for missing values.

The edges between bins are the midpoints of neighboring values where these are few, and quantiles of the training rows
otherwise: the edge number k of m is the value with the share k / m of the weight at or below it, or the mean of two
values between which that share is reached exactly.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.core.threads import run_blocks, split_evenly
from pellucid.core.types import Array

MOST_BINS = 255
"""Of the numbers of a column; missing values have one more."""

MOST_SAMPLED = 200_000
"""Rows from which on edges are quantiles of a sample of so many."""

ROWS_AT_ONCE = 8192
GROUP = 4
"""Columns whose bins stand in one word."""
N_EDGES = 256

LARGEST_EDGE = float(np.finfo(np.float64).max)
"""Edges stay finite: an infinite threshold parts missing values from all others."""


def find_edges(
    X: Array | TableInBlocks, weight: Array | None, max_bins: int, categories: Sequence[Array | None], seed: int
) -> list[Array]:
    """Return the edges of each feature, and the codes of a categorical one."""
    n, seen = X.shape[0], None
    if n > MOST_SAMPLED:
        share = None if weight is None else weight / weight.sum()
        seen, weight = np.sort(np.random.RandomState(seed).choice(n, MOST_SAMPLED, p=share)), None
    if isinstance(X, TableInBlocks):
        X, seen = (X if seen is None else X[seen]).read(), None

    def edges(j: int) -> Array:
        known = categories[j]
        if known is not None:
            return np.arange(len(known), dtype=np.float64)
        column = X[:, j] if seen is None else X[:, j][seen]  # the sample of all columns would be larger than all bins
        return edges_of(column, weight, max_bins)

    return run_blocks(edges, range(X.shape[1]))


def edges_of(column: Array, weight: Array | None, max_bins: int) -> Array:
    """Return the increasing edges between the bins of a column of numbers."""
    present = ~np.isnan(column)
    values = column[present].astype(np.float64, copy=False)
    if not len(values):
        return np.empty(0)
    if weight is None:
        values.sort()
    else:
        order = np.argsort(values, kind="stable")
        values, weight = values[order], weight[present][order]
    is_new = values[1:] != values[:-1]
    if np.count_nonzero(is_new) < max_bins:
        places = np.flatnonzero(is_new)
        edges = _middle(values[places], values[places + 1])
    else:
        edges = np.unique(_quantiles(values, weight, max_bins))
    return edges


def _middle(low: Array, high: Array) -> Array:
    """Return means that cannot overflow; between infinities there is none, and the finite one is the edge."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = low / 2.0 + high / 2.0
    return np.where(np.isinf(low), np.nextafter(low, high), np.where(np.isinf(high), LARGEST_EDGE, middle))


def _quantiles(values: Array, weight: Array | None, max_bins: int) -> Array:
    steps = np.arange(1, max_bins)
    if weight is None:
        whole, part = np.divmod(steps * len(values), max_bins)
        return _middle_of_equal(values[whole - (part == 0)], values[whole])
    mass = np.cumsum(weight)
    goal = steps * (mass[-1] / max_bins)
    slack = 1e-12 * mass[-1]  # sums of weights are rounded
    low = np.minimum(np.searchsorted(mass, goal - slack), len(values) - 1)
    high = np.minimum(np.searchsorted(mass, goal + slack, side="right"), len(values) - 1)
    return _middle_of_equal(values[low], values[high])


def _middle_of_equal(low: Array, high: Array) -> Array:
    return np.where(low == high, low, _middle(low, high))


def bin_rows(X: Array | TableInBlocks, edges: Sequence[Array], is_categorical: Array) -> tuple[Array, Array]:
    """Return the bins, four features to a word, (n_groups, n_samples), and which features have missing values."""
    if isinstance(X, TableInBlocks):
        return _bins_of_blocks(X, edges, is_categorical)
    from pellucid.tree.bins_kernels import bin_columns

    n, p = X.shape
    table = np.full((p, N_EDGES), np.inf)
    for j, known in enumerate(edges):
        table[j, : len(known)] = known
    groups, has_missing = np.empty((-(-p // GROUP), n), dtype=np.uint32), np.zeros(p, dtype=bool)

    def fill(rows: slice) -> None:
        for group in range(len(groups)):
            columns = slice(GROUP * group, GROUP * (group + 1))
            block = np.ascontiguousarray(X[rows, columns], dtype=np.float64)
            bin_columns(block, table[columns], is_categorical[columns], groups[group, rows], has_missing[columns])

    run_blocks(fill, split_evenly(n, -(-n // ROWS_AT_ONCE)))
    return groups, has_missing


def _bins_of_blocks(X: TableInBlocks, edges: Sequence[Array], is_categorical: Array) -> tuple[Array, Array]:
    """Return the same for rows in blocks: each block is binned where it is, and its bins are brought here."""
    n, p = X.shape
    groups, has_missing = np.empty((-(-p // GROUP), n), dtype=np.uint32), np.zeros(p, dtype=bool)
    for rows, (own, missing) in X.each(bin_rows, edges, is_categorical):
        groups[:, rows] = own
        has_missing |= missing
    return groups, has_missing
