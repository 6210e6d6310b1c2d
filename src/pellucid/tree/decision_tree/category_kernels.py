"""Columns of categories: ordered by the mean target of their rows, cut like numbers, kept as sets of bits."""

# mypy: allow-untyped-defs, no-check-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_inlined
from pellucid.tree.decision_tree.growth_layout import (
    BELOW,
    CATEGORY_MEAN,
    CATEGORY_ORDER,
    CATEGORY_PLACE,
    CATEGORY_WEIGHT,
    FEATURE,
    MISSING_LEFT,
    N_RANKS,
    ORDERING,
    START,
    STOP,
)


@lean
def order_categories(table, codes, y, n_outputs, rows, floats, start, stop, j, by):
    """Write the categories of a node, in the order of their mean target; return how many there are.

    ``by`` says which of the classes, or targets, the mean is of. Of equal means the lower code comes first.
    """
    weights, means, order = floats[CATEGORY_WEIGHT], floats[CATEGORY_MEAN], floats[CATEGORY_ORDER]
    n_ranks = table.facts[j, N_RANKS]
    for r in range(n_ranks + 1):
        weights[r] = 0.0
        means[r] = 0.0
    for p in range(start, stop):
        i = rows[p]
        r, w = table.ranks[j, i], table.pairs[i, 0]
        weights[r] += w
        if y is None:
            if codes is not None:
                for k in range(n_outputs):
                    if codes[k, i] == by:
                        means[r] += w
        else:
            means[r] += w * y[by, i]
    n = 0
    for r in range(n_ranks + 1):
        if weights[r] > 0.0:
            means[r] /= weights[r]
            q = n - 1
            while q >= 0 and means[np.int64(order[q])] > means[r]:
                order[q + 1] = order[q]
                q -= 1
            order[q + 1] = r
            n += 1
    return n


@lean
def line_up_categories(table, codes, y, n_outputs, rows, floats, lines, start, stop, j, by):
    """Write the rows in the order of their categories to line 0, and the place of each row's to line 1."""
    n = order_categories(table, codes, y, n_outputs, rows, floats, start, stop, j, by)
    order, place, ends = floats[CATEGORY_ORDER], floats[CATEGORY_PLACE], floats[CATEGORY_WEIGHT]
    for q in range(n):
        place[np.int64(order[q])] = q
        ends[q + 1] = 0.0
    ends[0] = 0.0
    for p in range(start, stop):
        ends[np.int64(place[table.ranks[j, rows[p]]]) + 1] += 1.0
    for q in range(n):
        ends[q + 1] += ends[q]
    for p in range(start, stop):
        i = rows[p]
        q = np.int64(place[table.ranks[j, i]])
        lines[0, np.int64(ends[q])] = i
        lines[1, i] = q
        ends[q] += 1.0
    return n


@lean
def write_categories(table, codes, y, sets, n_outputs, rows, floats, wholes, v):
    """Write the set of categories that go left; those the node has no row of go with the larger side."""
    j, start, stop = wholes[FEATURE], wholes[START], wholes[STOP]
    n_ranks = table.facts[j, N_RANKS]
    n = order_categories(table, codes, y, n_outputs, rows, floats, start, stop, j, wholes[ORDERING])
    for word in range(sets.shape[1]):
        sets[v, word] = 0
    for r in range(n_ranks):
        if wholes[MISSING_LEFT]:
            sets[v, r >> 5] |= np.uint32(1) << np.uint32(r & 31)
    for q in range(n):
        r = np.int64(floats[CATEGORY_ORDER, q])
        is_left = q <= wholes[BELOW]
        if r == n_ranks:
            wholes[MISSING_LEFT] = is_left
        elif is_left:
            sets[v, r >> 5] |= np.uint32(1) << np.uint32(r & 31)
        else:
            sets[v, r >> 5] &= ~(np.uint32(1) << np.uint32(r & 31))


@lean_inlined
def in_set(sets, v, code):
    """Return whether a category goes left."""
    return (sets[v, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) != 0
