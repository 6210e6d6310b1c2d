"""Loops over the rows of a node: they are parted, put in their place, counted, and given the value of their leaf."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.growing_layout import (
    BIN,
    BITS,
    COUNTED,
    FEATURE,
    FIRST,
    IS_CATEGORY,
    IS_KNOWN,
    LARGE,
    LAST,
    LOWER,
    MISSING_SIDE,
    SLOT,
    START,
    STOP,
    UPPER,
    VALUE,
)
from pellucid.ensemble.hist_gradient_boosting.histogram_kernels import GROUP, GROUP_SIZE, MISSING, N_BINS, count_rows
from pellucid.ensemble.hist_gradient_boosting.split_kernels import L2, SHRINKAGE, TABLE, bounded_value
from pellucid.solvers.compiling_kernels import lean

TABLE_PLACE = np.uint64(TABLE)


@lean
def part_chunk(groups, rows, buffer, node, by_set, start, stop, ints):
    """Put the rows of a chunk that go left at its front in the buffer and the others, backwards, at its end."""
    for b in range(N_BINS):
        ints[TABLE + b] = b <= node[BIN]
        if by_set is not None and node[IS_CATEGORY]:
            ints[TABLE + b] = (node[BITS + (b >> 5)] >> (b & 31)) & 1
    ints[TABLE + MISSING] = node[MISSING_SIDE]
    feature = node[FEATURE]
    column, shift = groups[feature // GROUP], np.uint32(8 * (feature % GROUP))
    front, back = np.uint64(start), np.uint64(stop - 1)  # signed places would be looked at for counting from the end
    for i in range(start, stop):
        row = rows[i]
        is_left = np.uint64(ints[TABLE_PLACE + np.uint64((column[row] >> shift) & np.uint32(MISSING))])
        buffer[front] = row  # one of the two stays: no branch to mispredict
        buffer[back] = row
        front += is_left
        back -= np.uint64(1) - is_left
    return np.int64(front) - start


@lean
def copy_chunk(rows, buffer, first, n_left_before, n_left_in_all, n_left, start, stop):
    """Put a parted chunk where its rows belong: left rows before, right ones after, in their old order."""
    left, right = first + n_left_before, first + n_left_in_all + (start - first - n_left_before)
    for i in range(n_left):
        rows[left + i] = buffer[start + i]
    for i in range(stop - start - n_left):
        rows[right + i] = buffer[stop - 1 - i]


@lean
def count_group(group, groups, rows, pairs, slots, nodes, job):
    """Add a block of rows to the histograms of four features; the sibling's are what is then left of the parent's."""
    counted, start = nodes[job[COUNTED]], group * GROUP_SIZE
    histograms = slots[counted[SLOT], start : start + GROUP_SIZE]
    if job[START] == counted[FIRST]:
        for i in range(GROUP_SIZE):
            histograms[i] = 0
    count_rows(groups[group], rows, job[START], job[STOP], pairs, histograms)
    if job[IS_KNOWN] and job[STOP] == counted[LAST]:
        parent = slots[nodes[job[LARGE], SLOT], start : start + GROUP_SIZE]
        for i in range(GROUP_SIZE):
            parent[i] -= histograms[i]


@lean
def finish_leaf(rows, data, node, measures, settings):
    """Set the value of a leaf to its Newton step, shrunken, and add it to the predictions of its rows."""
    gradient, hessian = 0.0, 0.0
    is_constant = data.hessians.shape[0] == 1
    for i in range(node[FIRST], node[LAST]):
        gradient += data.gradients[rows[i]]
        hessian += data.hessians[0 if is_constant else rows[i]]
    value = bounded_value(gradient, hessian, settings[L2], measures[LOWER], measures[UPPER]) * settings[SHRINKAGE]
    measures[VALUE] = value
    if data.raw.shape[0]:
        for i in range(node[FIRST], node[LAST]):
            data.raw[rows[i]] += value
