"""Rows in blocks as trees grow on them: the bin of each number, one byte, brought here from where the blocks are.

A column of at most 255 different values has a bin for each of them, so that the tree is that of the same rows in
memory. The bins of another one end at quantiles of rows that are drawn by a fixed seed: all fits find the same. A
threshold lies halfway between the largest value of all rows in one bin and the least in another, as it lies between two
values in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pellucid.core.scale.table_in_blocks import TableInBlocks
from pellucid.core.types import Array
from pellucid.tree.bins import MOST_BINS, bin_rows, find_edges
from pellucid.tree.decision_tree.decision_tree_solvers import ColumnRanks, rank_columns
from pellucid.tree.decision_tree.tree_data import TreeData

SAMPLING_SEED = 0
"""Of the rows whose quantiles edges are: without a ``random_state`` nothing else is drawn, and fits stay the same."""

GLANCE = 4096
"""Rows by which most columns of many values are known."""


def rank_rows(data: TreeData) -> ColumnRanks:
    """Return the ranks of rows in memory, or the bins of rows in blocks."""
    if not isinstance(data.X, TableInBlocks):
        return rank_columns(data.X, data.n_categories)
    edges = edges_of_table(data.X, None if data.given[2] is None else data.row_weight)
    return bins_of_table(data.X, edges)


def edges_of_table(table: TableInBlocks, weight: Array | None) -> list[Array]:
    """Return the edges of each column: its values but for the last, or quantiles of rows drawn by their weight."""
    few = joined_values(part for _, part in table.each(few_values))
    if any(values is None for values in few):
        found = find_edges(table, weight, MOST_BINS, [None] * len(few), SAMPLING_SEED)
    else:
        found = [np.empty(0)] * len(few)
    return [edges if values is None else values[:-1] for values, edges in zip(few, found, strict=True)]


def few_values(rows: Array) -> list[Array | None]:
    """Return the different values of each column, None of more than there are bins."""
    return [_few_values(column) for column in rows.T]


def _few_values(column: Array) -> Array | None:
    values = np.empty(0)
    for part in (column[:GLANCE], column):
        values = np.unique(part.astype(np.float64))
        values = values[~np.isnan(values)]
        if len(values) > MOST_BINS:
            return None
    return values


def joined_values(parts: Iterable[list[Array | None]]) -> list[Array | None]:
    """Return the same of all parts of a table."""
    found: list[Array | None] = []
    for seen in zip(*parts, strict=True):
        known = [values for values in seen if values is not None]
        values = np.unique(np.concatenate(known)) if len(known) == len(seen) else None
        found.append(None if values is None or len(values) > MOST_BINS else values)
    return found


def bins_of_table(table: TableInBlocks, edges: Sequence[Array]) -> ColumnRanks:
    """Return the bins of all rows, found where these are, with the least and the largest value in each bin."""
    n, d = table.shape
    ranks, ends = np.empty((d, n), np.uint8), np.stack([np.full((d, MOST_BINS), np.inf)] * 2)
    for rows, (own, own_ends) in table.each(bins_of_rows, list(edges)):
        ranks[:, rows] = own
        np.minimum(ends, own_ends, out=ends)
    starts = MOST_BINS * np.arange(d + 1)
    n_ranks = np.full(d, MOST_BINS)  # the last byte is that of missing values
    return ColumnRanks(ranks, np.empty((0, n), np.uint32), n_ranks, ends[0].ravel(), -ends[1].ravel(), starts)


def bins_of_rows(rows: Array, edges: Sequence[Array]) -> tuple[Array, Array]:
    """Return the bins, (n_columns, n_rows), 255 of missing values; and in each the least value and minus the most.

    A value belongs to the first bin whose edge it does not exceed.
    """
    groups, _ = bin_rows(rows, edges, np.zeros(len(edges), dtype=bool))
    words = groups.astype("<u4", copy=False).view(np.uint8).reshape(*groups.shape, -1)  # the first column lowest
    bins = np.ascontiguousarray(words.transpose(0, 2, 1).reshape(-1, len(rows))[: len(edges)])
    ends = np.full((2, len(edges), MOST_BINS + 1), np.inf)
    for j in range(len(edges)):
        column = rows[:, j].astype(np.float64)
        np.fmin.at(ends[0, j], bins[j], column)
        np.fmin.at(ends[1, j], bins[j], -column)
    return bins, ends[:, :, :MOST_BINS]
