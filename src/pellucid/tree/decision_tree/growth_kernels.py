"""Growing a tree: nodes are opened, the best split of each is found, rows are parted, until nothing is left to split.

One function, ``grow``, grows. What would cost time in the loops over rows is None where a fit does not need it, and
the compiler leaves out the code for it: ``codes`` of classes or ``y`` of numbers, ``medians`` for absolute error,
``sets`` of categories, ``directed`` for monotonic splits. What is asked once per node and column is asked when it
runs, as each combination takes seconds to compile: whether columns are kept in order (no room for ``sorting``), and
whether nodes draw columns or thresholds.
"""

# mypy: allow-untyped-defs, no-check-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_inlined
from pellucid.tree.decision_tree.category_kernels import in_set, write_categories
from pellucid.tree.decision_tree.column_cut_kernels import look_at
from pellucid.tree.decision_tree.growth_layout import (
    BASE,
    BELOW,
    DEPTH,
    DRAWN_THRESHOLD,
    FEATURE,
    FIRST_VALUE,
    GAIN,
    GAIN_RATIO,
    HAS_MISSING,
    IS_CATEGORY,
    LEFT,
    LOWER,
    MISSING_LEFT,
    MISSING_ON_LEFT,
    MONOTONE,
    N_LEFT,
    N_RANKS,
    ORDERING,
    ORDERING_FOUND,
    RANK_ABOVE,
    RANK_BELOW,
    RIGHT,
    ROWS_ON_LEFT,
    SCORE,
    SQUARED,
    START,
    STOP,
    SUMS,
    THRESHOLD,
    TIE_WIDTH,
    TOP,
    UNSURE,
    UPPER,
    VALUE,
    WAITING,
    WEIGHT_ON_LEFT,
    WHOLE,
)
from pellucid.tree.decision_tree.node_random_kernels import child_key, draw_column
from pellucid.tree.decision_tree.node_sum_kernels import open_node
from pellucid.tree.decision_tree.row_order_kernels import part_rows
from pellucid.tree.decision_tree.split_kernels import xlog


@lean_inlined
def first_as_good(results, best, tie):
    """Return the lowest column with a cut as good as the best, and whether an earlier cut of it may be as good."""
    j = np.int64(0)
    while results[j, TOP] < best - tie:
        j += 1
    return j, results[j, UNSURE] != 0.0 or results[j, SCORE] < best - tie


@lean_inlined
def search(table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, v):
    """Find the best split: the lowest column, then the lowest threshold, of all cuts as good as the best.

    Returns its column, -1 where there is none. A column is looked at again, with a bar, if one of its cuts was taken
    for a better one that a still better one made as good as the best.
    """
    results, tie, n = room.results, room.floats[SUMS, TIE_WIDTH], rules.n_features
    for j in range(n):
        results[j, TOP] = -np.inf
        chance.drawn[j] = j
    turn, n_varied, best, bar, slack = np.int64(0), np.int64(0), -np.inf, -np.inf, tie
    again = np.int64(-1)
    while True:
        j = again if again >= 0 else turn
        if again < 0 and rules.max_features < n:
            j = draw_column(chance.keys[v], turn, chance.drawn)
        n_varied += look_at(
            table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, v, j, bar,
            slack,
        )  # fmt: skip
        if again >= 0:
            return again
        best = max(best, results[j, TOP])
        turn += 1
        if turn == n or (turn >= rules.max_features and n_varied > 0):
            if best == -np.inf:
                return again
            again, is_unsure = first_as_good(results, best, tie)
            if not is_unsure:
                return again
            bar, slack = np.nextafter(best - tie, -np.inf), np.inf


@lean_inlined
def write_split(table, codes, y, sets, at_random, rules, rows, room, nodes, v, j):
    """Write the split of a node by a column, unless it gains too little; return whether it is split."""
    out, whole, slack = room.results[j], room.floats[SUMS, WHOLE], room.floats[SUMS, TIE_WIDTH]
    gain = out[SCORE] - room.floats[SUMS, BASE]
    if rules.criterion == GAIN_RATIO:
        w_left = out[WEIGHT_ON_LEFT]
        gain = out[SCORE] * -(xlog(w_left, whole) + xlog(whole - w_left, whole))
        slack *= whole
    if gain + slack < rules.min_gain:
        return False
    wholes, reals = nodes.wholes[v], nodes.reals[v]
    n_left = np.int64(out[ROWS_ON_LEFT])
    reals[GAIN], reals[THRESHOLD] = max(gain, 0.0), 0.0
    wholes[FEATURE], wholes[BELOW], wholes[N_LEFT] = j, np.int64(out[RANK_BELOW]), n_left
    wholes[MISSING_LEFT] = 2 * n_left > wholes[STOP] - wholes[START]
    if sets is not None and table.facts[j, IS_CATEGORY]:
        wholes[ORDERING] = np.int64(out[ORDERING_FOUND])
        write_categories(table, codes, y, sets, rules.n_outputs, rows.orders[-1], room.floats, wholes, v)
        return True
    if out[HAS_MISSING] > 0.0:
        wholes[MISSING_LEFT] = np.int64(out[MISSING_ON_LEFT])
    first, above = table.facts[j, FIRST_VALUE], np.int64(out[RANK_ABOVE])
    if above == table.facts[j, N_RANKS]:
        reals[THRESHOLD] = np.inf
    elif at_random:
        reals[THRESHOLD] = out[DRAWN_THRESHOLD]
    else:
        low, high = table.values[first + wholes[BELOW]], table.values[first + above]
        halfway = low / 2.0 + high / 2.0
        reals[THRESHOLD] = halfway if low <= halfway < high else low
    return True


@lean_inlined
def part_node(table, sets, chance, rows, nodes, v, n_nodes):
    """Part the rows of a node between its children, and write the ways to these."""
    wholes = nodes.wholes[v]
    j, start, stop, below = wholes[FEATURE], wholes[START], wholes[STOP], wholes[BELOW]
    n_ranks, rank, order = table.facts[j, N_RANKS], table.ranks[j], rows.orders[-1]
    for p in range(start, stop):
        i = order[p]
        r = np.int64(rank[i])
        left = r <= below
        if r == n_ranks:
            left = wholes[MISSING_LEFT] != 0
        elif sets is not None and table.facts[j, IS_CATEGORY] != 0:
            left = in_set(sets, v, r)
        rows.goes_left[i] = left
    for line in range(len(rows.orders)):
        part_rows(rows.orders[line], start, stop, rows.goes_left, rows.lines[0])
    wholes[LEFT], wholes[RIGHT] = n_nodes, n_nodes + 1
    for side in range(2):
        child, reals = nodes.wholes[n_nodes + side], nodes.reals[n_nodes + side]
        child[START] = start + wholes[N_LEFT] if side else start
        child[STOP] = stop if side else start + wholes[N_LEFT]
        child[DEPTH] = wholes[DEPTH] + 1
        reals[LOWER], reals[UPPER] = nodes.reals[v, LOWER], nodes.reals[v, UPPER]
        chance.keys[n_nodes + side] = child_key(chance.keys[v], side == 0)


@lean_inlined
def next_node(max_leaves, nodes, n_waiting, slack):
    """Take the node to split next from those waiting: the last one, or best first the lowest of those that gain most.

    Those that stay keep their order.
    """
    wholes, place = nodes.wholes, n_waiting - 1
    if max_leaves > 0:
        top = -1.0
        for q in range(n_waiting):
            top = max(top, nodes.reals[wholes[q, WAITING], GAIN])
        place = np.int64(0)
        while nodes.reals[wholes[place, WAITING], GAIN] < top - slack:
            place += 1
    v = wholes[place, WAITING]
    for q in range(place, n_waiting - 1):
        wholes[q, WAITING] = wholes[q + 1, WAITING]
    return v


@lean_and_kept
def grow(
    table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, max_splits
):  # fmt: skip
    """Grow the tree below node 0, whose rows, way and bounds are given; return the number of nodes.

    After ``max_splits`` splits the children of the last one are left as they are, neither opened nor split.
    """
    n_waiting, n_nodes, n_leaves, first = np.int64(0), np.int64(1), np.int64(1), np.int64(0)
    slack, sums = 0.0, room.floats[SUMS]
    while True:
        for v in range(first, n_nodes):
            if not open_node(table, codes, y, medians, sorting, directed, rules, rows, room.floats, nodes, v):
                continue
            if v == 0:
                slack = sums[TIE_WIDTH]
                if rules.criterion == GAIN_RATIO:
                    slack *= sums[WHOLE] / rows.orders.shape[1]
            j = search(
                table, codes, y, medians, sets, sorting, chance, at_random, directed, rules, rows, room, nodes, v
            )
            if j >= 0 and write_split(table, codes, y, sets, at_random, rules, rows, room, nodes, v, j):
                nodes.wholes[n_waiting, WAITING] = v
                n_waiting += 1
        if n_waiting == 0 or n_leaves == rules.max_leaves:
            break
        v = next_node(rules.max_leaves, nodes, n_waiting, slack)
        n_waiting -= 1
        part_node(table, sets, chance, rows, nodes, v, n_nodes)
        if directed is not None and table.facts[nodes.wholes[v, FEATURE], MONOTONE] != 0:
            set_bounds(table, codes, y, medians, sorting, directed, rules, rows, room.floats, nodes, v)
        first, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        if n_leaves - 1 == max_splits:
            return n_nodes
    for q in range(n_waiting):  # splits found but not made
        v = nodes.wholes[q, WAITING]
        nodes.wholes[v, FEATURE], nodes.wholes[v, MISSING_LEFT], nodes.reals[v, THRESHOLD] = -2, 0, -2.0
    return n_nodes


@lean
def set_bounds(table, codes, y, medians, sorting, directed, rules, rows, floats, nodes, v):
    """Part the bounds of a node between its children, halfway between the values that these would have."""
    left, right = nodes.wholes[v, LEFT], nodes.wholes[v, RIGHT]
    place = VALUE + 1 if rules.criterion < SQUARED else VALUE
    between = 0.0
    for child in range(left, left + 2):
        lower, upper = nodes.reals[child, LOWER], nodes.reals[child, UPPER]
        nodes.reals[child, LOWER], nodes.reals[child, UPPER] = -np.inf, np.inf
        open_node(table, codes, y, medians, sorting, directed, rules, rows, floats, nodes, child)
        nodes.reals[child, LOWER], nodes.reals[child, UPPER] = lower, upper
        between += nodes.reals[child, place] / 2.0
    rises = table.facts[nodes.wholes[v, FEATURE], MONOTONE] > 0
    nodes.reals[left if rises else right, UPPER] = between
    nodes.reals[right if rises else left, LOWER] = between


@lean_and_kept
def keep_orders(orders, place, kept):
    """Write the rows that have a place, as these places, in the order of each column. O(rows n_columns)."""
    n_all = np.uint32(kept.shape[1])
    for j in range(len(orders)):
        q = 0
        for p in range(orders.shape[1]):
            new = place[orders[j, p]]
            if new < n_all:
                kept[j, q] = new
                q += 1


@lean_and_kept
def find_preorder(wholes, place, order):
    """Write the place of each node when every left subtree comes right after its root, and the node at each place.

    Nodes stand behind their parents. O(nodes).
    """
    size = order  # of the subtree of each node, until it is known where they go
    size[:] = 1
    for v in range(len(wholes) - 1, 0, -1):
        if wholes[v, LEFT] >= 0:
            size[v] += size[wholes[v, LEFT]] + size[wholes[v, RIGHT]]
    place[0] = 0
    for v in range(len(wholes)):
        if wholes[v, LEFT] >= 0:
            place[wholes[v, LEFT]] = place[v] + 1
            place[wholes[v, RIGHT]] = place[v] + 1 + size[wholes[v, LEFT]]
    for v in range(len(wholes)):
        order[place[v]] = v
