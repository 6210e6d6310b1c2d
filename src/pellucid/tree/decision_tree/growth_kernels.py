"""Growing a tree: nodes are opened, the best split of each is found, rows are parted, until nothing is left to split.

One function, ``grow``, grows. What would cost time in the loops over rows is None where a fit does not need it, and
the compiler leaves out the code for it: ``codes`` of classes or ``y`` of numbers, ``medians`` for absolute error,
``sets`` of categories, ``directed`` for monotonic splits. What is asked once per node and column is asked when it
runs, as each combination takes seconds to compile: whether columns are kept in order (no room for ``sorting``), and
whether nodes draw columns or thresholds.
"""

# mypy: allow-untyped-defs, no-check-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_inlined
from pellucid.tree.decision_tree.column_cut_kernels import child_key, draw_column, look_at, part_rows, sort_rows
from pellucid.tree.decision_tree.growth_rules import (
    BASE,
    BELOW,
    CENTER,
    DEPTH,
    DRAWN_THRESHOLD,
    ENTROPY,
    ERROR,
    FEATURE,
    FIRST_VALUE,
    GAIN,
    GAIN_RATIO,
    GINI,
    HAS_MISSING,
    IMPURITY,
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
    POISSON,
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
    TOTAL,
    UNSURE,
    UPPER,
    VALUE,
    WAITING,
    WEIGHT,
    WEIGHT_ON_LEFT,
    WHOLE,
    ZERO_WIDTH,
)
from pellucid.tree.decision_tree.split_kernels import EPSILON, in_set, write_categories, xlog


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
        low, high = table.highest[first + wholes[BELOW]], table.lowest[first + above]
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


TIE = 16.0
"""Scores are equal that differ by no more than this many times the rounding of their sums."""


@lean_inlined
def open_node(table, codes, y, medians, sorting, directed, rules, rows, floats, nodes, v):
    """Write what a node is without a split; return whether it may be split."""
    wholes, reals = nodes.wholes[v], nodes.reals[v]
    wholes[LEFT], wholes[RIGHT], wholes[FEATURE], wholes[MISSING_LEFT] = -1, -1, -2, 0
    reals[THRESHOLD], reals[GAIN] = -2.0, -1.0
    start, stop = wholes[START], wholes[STOP]
    pure, scale = True, 0.0
    if y is None:
        if codes is not None:
            pure, scale = sum_classes(codes, table.pairs, rules, rows.orders[-1], start, stop, floats, reals)
    elif medians is not None:
        pure, scale = sum_absolute(table, y, medians, sorting, rules, rows, start, stop, floats, reals)
    else:
        pure, scale = sum_numbers(y, table.pairs, rules, rows.orders[-1], start, stop, floats, reals)
    floats[SUMS, ZERO_WIDTH] = TIE * EPSILON * (64.0 + 4.0 * math.sqrt(stop - start))
    floats[SUMS, TIE_WIDTH] = floats[SUMS, ZERO_WIDTH] * scale
    if directed is not None:
        place = VALUE + 1 if rules.criterion < SQUARED else VALUE
        reals[place] = min(max(reals[place], reals[LOWER]), reals[UPPER])
        if rules.criterion < SQUARED:
            reals[VALUE] = 1.0 - reals[place]
    small = stop - start < max(rules.min_split, 2 * rules.min_leaf) or reals[WEIGHT] < 2.0 * rules.min_weight
    return not (pure or small or wholes[DEPTH] >= rules.max_depth)


@lean_inlined
def sum_classes(codes, pairs, rules, rows, start, stop, floats, reals):
    """Write shares of classes, weight and impurity of a node; return whether it is pure, and the size of scores."""
    total, n_values = floats[TOTAL], rules.n_values // rules.n_outputs
    for c in range(rules.n_values):
        total[c] = 0.0
    for k in range(rules.n_outputs):
        for p in range(start, stop):
            total[codes[k, rows[p]]] += pairs[rows[p], 0]
    whole, fit, present = 0.0, 0.0, 0
    for c in range(n_values):
        whole += total[c]
    for k in range(rules.n_outputs):
        top = 0.0
        for c in range(k * n_values, (k + 1) * n_values):
            share = total[c] / whole
            reals[VALUE + c] = share
            present += total[c] > 0.0
            top = max(top, share)
            if rules.criterion == GINI:
                fit += share * share
            elif rules.criterion != ERROR:
                fit += xlog(share, 1.0)
        if rules.criterion == ERROR:
            fit += top
    pure = present == rules.n_outputs
    return write_class_sums(rules, whole, fit / rules.n_outputs, pure, n_values, stop - start, floats[SUMS], reals)


@lean_inlined
def write_class_sums(rules, whole, fit, pure, n_classes, n, sums, reals):
    """Write weight and impurity from the mean of squared shares, of their logarithms, or of the largest shares."""
    reals[WEIGHT], sums[WHOLE], sums[BASE] = whole, whole, whole * fit
    scale = whole
    if rules.criterion == GINI or rules.criterion == ERROR:
        reals[IMPURITY] = 1.0 - fit
    else:
        reals[IMPURITY] = -fit
        scale = (whole if rules.criterion == ENTROPY else n) * (1.0 + math.log2(n_classes))
    if pure:
        reals[IMPURITY] = 0.0
    return pure, scale


@lean_inlined
def sum_numbers(y, pairs, rules, rows, start, stop, floats, reals):
    """Write mean, weight and impurity of a node; return whether it is pure, and the size of scores."""
    total, mean, sums = floats[TOTAL], floats[CENTER], floats[SUMS]
    whole, squares, loss, size, pure = 0.0, 0.0, 0.0, 0.0, True
    for p in range(start, stop):
        whole += pairs[rows[p], 0]
    for k in range(rules.n_outputs):
        first, moved = y[k, rows[start]], 0.0
        low = high = first
        for p in range(start, stop):  # about the first one, so that an offset costs no digits
            t = y[k, rows[p]]
            moved += pairs[rows[p], 0] * (t - first)
            low, high = min(low, t), max(high, t)
        pure = pure and low == high
        middle = first + moved / whole
        if rules.criterion < SQUARED:
            total[0], mean[0] = first * whole + moved, 0.0
            return two_class_sums(rules, whole, total[0], pure, stop - start, sums, reals)
        left_over = 0.0
        for p in range(start, stop):
            t, w = y[k, rows[p]], pairs[rows[p], 0]
            left_over += w * (t - middle)
            squares += w * (t - middle) * (t - middle)
            if rules.criterion == POISSON and t > 0.0:
                loss += w * t * math.log(t / middle)
        reals[VALUE + k], mean[k], total[k] = middle, middle, left_over
        if rules.criterion == POISSON:
            mean[k], total[k] = 0.0, middle * whole
            size += middle * whole * (1.0 + math.log(1.0 + (stop - start)))
    reals[WEIGHT], sums[WHOLE], sums[BASE] = whole, whole, 0.0
    fall = squares if rules.criterion == SQUARED else loss
    reals[IMPURITY] = 0.0 if pure else fall / whole / rules.n_outputs
    return pure, (squares if rules.criterion == SQUARED else size) / rules.n_outputs


@lean_inlined
def two_class_sums(rules, whole, second, pure, n, sums, reals):
    """Write shares, weight and impurity of two classes, given the weight of the second one."""
    share = second / whole
    reals[VALUE], reals[VALUE + 1] = (whole - second) / whole, share
    fit = max(share, 1.0 - share)
    if rules.criterion == GINI:
        fit = (second * second + (whole - second) * (whole - second)) / (whole * whole)
    elif rules.criterion != ERROR:
        fit = xlog(share, 1.0) + xlog(1.0 - share, 1.0)
    return write_class_sums(rules, whole, fit, pure, 2, n, sums, reals)


@lean_inlined
def sum_absolute(table, y, medians, sorting, rules, rows, start, stop, floats, reals):
    """Write medians, weight and impurity, and where each row stands among the targets."""
    whole, error, pure, n, pairs = 0.0, 0.0, True, stop - start, table.pairs
    for p in range(start, stop):
        whole += pairs[rows.orders[-1, p], 0]
    for k in range(rules.n_outputs):
        target = rules.n_features + k
        orders, line, a = rows.orders, target, start
        if sorting.shape[1] > 0:
            sort_rows(rows.orders[-1], start, stop, table.ranks[target], sorting, rows.lines[0])
            orders, line, a = rows.lines, 0, 0
        order, below, low, high, has_low = orders[line], 0.0, 0.0, 0.0, False
        for q in range(n):
            i = order[a + q]
            medians.places[k, i] = q
            if 2.0 * below <= whole:
                high = y[k, i]
            below += pairs[i, 0]
            if not has_low and 2.0 * below >= whole:
                low, has_low = y[k, i], True
        median = low if low == high else low / 2.0 + high / 2.0
        for q in range(n):
            error += pairs[order[a + q], 0] * abs(y[k, order[a + q]] - median)
        pure = pure and y[k, order[a]] == y[k, order[a + n - 1]]
        reals[VALUE + k] = median
        floats[CENTER, k] = median
    reals[WEIGHT], floats[SUMS, WHOLE], floats[SUMS, BASE] = whole, whole, -error / rules.n_outputs
    reals[IMPURITY] = 0.0 if pure else error / whole / rules.n_outputs
    return pure, error / rules.n_outputs
