"""The best cut of one column of a node, whatever the column holds: numbers, missing values or categories."""

# mypy: allow-untyped-defs, no-check-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean_inlined
from pellucid.tree.decision_tree.category_kernels import line_up_categories
from pellucid.tree.decision_tree.growth_layout import (
    BASE,
    DRAWN_THRESHOLD,
    FIRST_VALUE,
    HAS_MISSING,
    IS_CATEGORY,
    LOWER,
    MONOTONE,
    N_RANKS,
    ORDERING_FOUND,
    SCORE,
    SQUARED,
    START,
    STOP,
    SUMS,
    UPPER,
    WHOLE,
    ZERO_WIDTH,
    Limits,
)
from pellucid.tree.decision_tree.node_random_kernels import draw_share
from pellucid.tree.decision_tree.row_order_kernels import sort_rows
from pellucid.tree.decision_tree.split_kernels import scan_absolute, scan_classes, scan_numbers


@lean_inlined
def random_cut(values, share, lowest, highest):
    """Return a threshold drawn between two ranks of a column, and the last rank at or below it."""
    low, high = values[lowest], values[highest]
    threshold = low + share * (high - low)
    if not low <= threshold < high:
        threshold = low
    below, above = lowest, highest
    while above - below > 1:
        middle = (below + above) // 2
        if values[middle] <= threshold:
            below = middle
        else:
            above = middle
    return threshold, below


@lean_inlined
def put_missing_first(order, start, known, stop, line):
    """Copy rows in order, those of missing values, which stand from ``known`` on, before the others."""
    n_missing = stop - known
    for p in range(stop - start):
        line[p] = order[known + p if p < n_missing else start + p - n_missing]


@lean_inlined
def look_at(
    table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, v, j, bar, tie
):  # fmt: skip
    """Write the best cut of a column among those that score above ``bar``; return whether the column varies.

    Rows are scanned in one order or several: missing values last and then first, or categories in each of their orders.
    """
    facts, floats, out = table.facts[j], room.floats, room.results[j]
    start, n, rank = nodes.wholes[v, START], nodes.wholes[v, STOP] - nodes.wholes[v, START], table.ranks[j]
    by_set = sets is not None and facts[IS_CATEGORY] != 0
    whole, base, cut, n_turns = floats[SUMS, WHOLE], floats[SUMS, BASE], np.int64(-1), np.int64(1)
    is_sorted = sorting.shape[1] == 0
    order, a, skip = rows.orders[j if is_sorted and not by_set else -1], start, np.int64(0)
    if not (is_sorted or by_set):
        sort_rows(rows.orders[-1], start, start + n, rank, sorting, rows.lines[0])
        order, a = rows.lines[0], np.int64(0)
    b = known = a + n
    if by_set:
        n_turns = 1 if y is not None and rules.criterion < SQUARED else rules.n_values
    else:
        if rank[order[a]] == rank[order[b - 1]]:
            return False
        while rank[order[known - 1]] == facts[N_RANKS]:
            known -= 1
        out[HAS_MISSING] = b - known
        n_turns = 1 if known == b else 2
        if at_random:
            values, share = table.values[facts[FIRST_VALUE] :], draw_share(chance.keys[v], j, rules.n_features)
            lowest, highest = np.int64(rank[order[a]]), np.int64(rank[order[known - 1]])
            out[DRAWN_THRESHOLD], cut = random_cut(values, share, lowest, highest)
    found = (bar, -np.inf, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0)
    for turn in range(n_turns):
        if sets is not None and by_set:
            n_sets = line_up_categories(
                table, codes, y, rules.n_outputs, rows.orders[-1], floats, rows.lines, start, start + n, j, turn
            )
            if n_sets < 2:
                return False
            order, rank, a, b = rows.lines[0], rows.lines[1], np.int64(0), n
            if at_random:
                cut = np.int64(draw_share(chance.keys[v], j, rules.n_features) * (n_sets - 1))
        elif turn == 1:
            put_missing_first(order, a, known, b, rows.lines[1])
            order, a, b, skip = rows.lines[1], np.int64(0), n, b - known
        limits = Limits(
            rules.min_leaf, rules.min_weight, cut, facts[MONOTONE], nodes.reals[v, LOWER], nodes.reals[v, UPPER], tie,
            floats[SUMS, ZERO_WIDTH],
        )  # fmt: skip
        score = found[SCORE]
        if y is None:
            if codes is not None:
                found = scan_classes(
                    order, a, b, skip, rank, codes, table.pairs, floats, whole, limits, rules.criterion,
                    rules.n_values, base, found,
                )  # fmt: skip
        elif medians is not None:
            found = scan_absolute(
                order, a, b, skip, rank, y, table.pairs, floats, whole, limits, directed, medians.places, medians.sums,
                found,
            )  # fmt: skip
        else:
            found = scan_numbers(
                order, a, b, skip, rank, y, table.pairs, floats, whole, limits, directed, rules.criterion, base, found
            )
        if found[SCORE] != score:
            out[ORDERING_FOUND] = turn
    for q in range(8):
        out[q] = found[q]
    return True
