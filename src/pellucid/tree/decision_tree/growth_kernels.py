"""Growing a tree: nodes are opened, the best split of each is found, rows are parted, until nothing is left to split.

One function, ``grow``, is called from outside. What a fit does not need is None (class codes or numbers, places for
absolute error, sets of categories), and the compiler leaves out the code for it.
"""

# mypy: allow-untyped-defs, no-check-untyped-defs

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.tree.decision_tree.compile_kernels import compiled, inlined
from pellucid.tree.decision_tree.node_random_kernels import child_key, draw_column, draw_share
from pellucid.tree.decision_tree.row_order_kernels import part_rows, sort_rows
from pellucid.tree.decision_tree.split_kernels import (
    ENTROPY,
    ERROR,
    GAIN_RATIO,
    GINI,
    POISSON,
    SQUARED,
    TOP,
    UNSURE,
    Limits,
    scan_absolute,
    scan_classes,
    scan_numbers,
    xlog,
)

EPSILON = 2.0**-52
TIE = 16.0
"""Scores are equal that differ by no more than this many times the rounding of their sums."""

N_RANKS, IS_CATEGORY, MONOTONE, FIRST_VALUE = range(4)
"""Facts about a column: the rank of a missing value, whether it holds categories, the direction in which the answer
must go with it, and where its sorted values begin."""

START, STOP, DEPTH, N_LEFT, BELOW, ORDERING, LEFT, RIGHT, FEATURE, MISSING_LEFT = range(10)
"""Whole numbers of a node: its rows are ``START:STOP`` of every order; of its split the rows on the left, the last rank
there (of categories: the last place in their order, and by which value they are ordered), the children, the column."""

LOWER, UPPER, GAIN, THRESHOLD, IMPURITY, WEIGHT, VALUE = range(7)
"""Real numbers of a node: bounds of its value, by how much its best split lowers the sum of impurities (-1: a leaf),
where it cuts, impurity, weight, and from there on the value."""

ORDERING_FOUND = 8
WHOLE, BASE, TIE_FOUND, ZERO = range(4)
"""About the node whose split is searched: its weight, the criterion's sum over all rows, the tolerance of ties, the
part of a sum that is no more than rounding."""


class Table(NamedTuple):
    """The columns."""

    ranks: Any
    """uint32 (n_columns, n_rows): the place of the value among the sorted ones of the column; missing comes last.
    With absolute error the ranks of the targets stand behind those of the columns."""
    facts: Any
    """int64 (n_columns, 4)."""
    values: Any
    """float64: the sorted values of all columns."""
    weight: Any
    """float64 (n_rows,), above 0."""
    pairs: Any
    """float64 (n_rows, 2): weights and numbers of the first output next to each other."""


class Rules(NamedTuple):
    """The parameters, as numbers."""

    criterion: int
    n_features: int
    n_outputs: int
    n_values: int
    """Numbers in the value of a node, over all outputs."""
    max_depth: int
    min_split: int
    min_leaf: int
    min_weight: float
    max_features: int
    random_splits: bool
    min_gain: float
    max_leaves: int
    """0: depth first, as many as there are; else best first."""
    presorted: bool
    """Whether the order of every column is kept along; else a node sorts the columns it looks at."""
    directed: bool
    """Whether a column has a direction."""


class Rows(NamedTuple):
    """The rows, those of each node next to each other."""

    orders: Any
    """uint32: the rows in the order of each column, if these are kept, and in the last line as they came."""
    goes_left: Any
    """uint8 (n_rows,)."""


class Room(NamedTuple):
    """What one thread works in."""

    lines: Any
    """uint32 (2, n_rows)."""
    keys: Any
    """int64 (2, n_rows)."""
    counts: Any
    """int64 (256,)."""
    floats: Any
    """float64 (8, n): sums on the left and right of a cut, of the node, what is subtracted from the target; weights,
    means, order and places of categories."""
    sums: Any
    """float64 (4,): see ``WHOLE``."""
    results: Any
    """float64 (n_columns, 9): what was found in each column."""
    drawn: Any
    """int64 (n_columns,)."""
    waiting: Any
    """int64 (n_nodes,): nodes that can be split."""


class Nodes(NamedTuple):
    """Nodes in the order in which they were opened."""

    wholes: Any
    reals: Any
    keys: Any
    """uint64."""


@inlined
def sort_if_needed(table, rules, rows, room, j, start, stop):
    """Sort the rows of a node by a column into line 0 of the room, unless orders are kept; return where they begin."""
    if rules.presorted:
        return start
    sort_rows(rows.orders[-1], start, stop, table.ranks[j], room.keys, room.counts, room.lines[0])
    return 0


@inlined
def sum_classes(codes, weight, rules, rows, start, stop, room, reals):
    """Write shares of classes, weight and impurity of a node; return whether it is pure, and the size of scores."""
    total, n_values = room.floats[2], rules.n_values // rules.n_outputs
    for c in range(rules.n_values):
        total[c] = 0.0
    for k in range(rules.n_outputs):
        for p in range(start, stop):
            total[codes[k, rows[p]]] += weight[rows[p]]
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
    return write_class_sums(
        rules, whole, fit / rules.n_outputs, present == rules.n_outputs, n_values, stop - start, room, reals
    )


@inlined
def write_class_sums(rules, whole, fit, pure, n_classes, n, room, reals):
    """Write weight and impurity from the mean of squared shares, of their logarithms, or of the largest shares."""
    reals[WEIGHT], room.sums[WHOLE], room.sums[BASE] = whole, whole, whole * fit
    scale = whole
    if rules.criterion == GINI or rules.criterion == ERROR:
        reals[IMPURITY] = 1.0 - fit
    else:
        reals[IMPURITY] = -fit
        scale = (whole if rules.criterion == ENTROPY else n) * (1.0 + math.log2(n_classes))
    if pure:
        reals[IMPURITY] = 0.0
    return pure, scale


@inlined
def sum_numbers(y, weight, rules, rows, start, stop, room, reals):
    """Write mean, weight and impurity of a node; return whether it is pure, and the size of scores."""
    total, mean = room.floats[2], room.floats[3]
    whole, squares, loss, size, pure = 0.0, 0.0, 0.0, 0.0, True
    for p in range(start, stop):
        whole += weight[rows[p]]
    for k in range(rules.n_outputs):
        first, moved = y[k, rows[start]], 0.0
        low = high = first
        for p in range(start, stop):  # about the first one, so that an offset costs no digits
            t = y[k, rows[p]]
            moved += weight[rows[p]] * (t - first)
            low, high = min(low, t), max(high, t)
        pure = pure and low == high
        middle = first + moved / whole
        if rules.criterion < SQUARED:  # the second of two classes
            total[0], mean[0] = first * whole + moved, 0.0
            share = total[0] / whole
            reals[VALUE], reals[VALUE + 1] = (whole - total[0]) / whole, share
            fit = max(share, 1.0 - share)
            if rules.criterion == GINI:
                fit = (total[0] * total[0] + (whole - total[0]) * (whole - total[0])) / (whole * whole)
            elif rules.criterion != ERROR:
                fit = xlog(share, 1.0) + xlog(1.0 - share, 1.0)
            return write_class_sums(rules, whole, fit, pure, 2, stop - start, room, reals)
        left_over = 0.0
        for p in range(start, stop):
            t = y[k, rows[p]]
            left_over += weight[rows[p]] * (t - middle)
            squares += weight[rows[p]] * (t - middle) * (t - middle)
            if rules.criterion == POISSON and t > 0.0:
                loss += weight[rows[p]] * t * math.log(t / middle)
        reals[VALUE + k], mean[k], total[k] = middle, middle, left_over
        if rules.criterion == POISSON:
            mean[k], total[k] = 0.0, middle * whole
            size += middle * whole * (1.0 + math.log(1.0 + (stop - start)))
    reals[WEIGHT], room.sums[WHOLE], room.sums[BASE] = whole, whole, 0.0
    fall = squares if rules.criterion == SQUARED else loss
    reals[IMPURITY] = 0.0 if pure else fall / whole / rules.n_outputs
    return pure, (squares if rules.criterion == SQUARED else size) / rules.n_outputs


@inlined
def sum_absolute(table, y, places, rules, rows, start, stop, room, reals):
    """Write medians, weight and impurity, and where each row stands among the targets."""
    whole, error, pure, n, weight = 0.0, 0.0, True, stop - start, table.weight
    for p in range(start, stop):
        whole += weight[rows.orders[-1, p]]
    for k in range(rules.n_outputs):
        a = sort_if_needed(table, rules, rows, room, rules.n_features + k, start, stop)
        order = rows.orders[rules.n_features + k] if rules.presorted else room.lines[0]
        below, low, high, has_low = 0.0, 0.0, 0.0, False
        for q in range(n):
            i = order[a + q]
            places[k, i] = q
            if 2.0 * below <= whole:
                high = y[k, i]
            below += weight[i]
            if not has_low and 2.0 * below >= whole:
                low, has_low = y[k, i], True
        median = low if low == high else low / 2.0 + high / 2.0
        for q in range(n):
            error += weight[order[a + q]] * abs(y[k, order[a + q]] - median)
        pure = pure and y[k, order[a]] == y[k, order[a + n - 1]]
        reals[VALUE + k] = median
        room.floats[3, k] = median
    reals[WEIGHT], room.sums[WHOLE], room.sums[BASE] = whole, whole, -error / rules.n_outputs
    reals[IMPURITY] = 0.0 if pure else error / whole / rules.n_outputs
    return pure, error / rules.n_outputs


@inlined
def scan(orders, line, start, stop, skip, ranks, j, table, codes, y, places, medians, rules, room, limits, found):
    """Return the best cut of rows in order, by the criterion."""
    whole, base = room.sums[WHOLE], room.sums[BASE]
    if y is None:
        if codes is not None:
            facts = (rules.criterion, rules.n_values)
            found = scan_classes(
                orders, line, start, stop, skip, ranks, j, codes, table.weight, room.floats, whole, limits, facts, base,
                found,
            )  # fmt: skip
    elif places is not None:
        found = scan_absolute(
            orders,
            line,
            start,
            stop,
            skip,
            ranks,
            j,
            y,
            table.weight,
            room.floats,
            whole,
            limits,
            places,
            medians,
            found,
        )
    else:
        found = scan_numbers(
            orders, line, start, stop, skip, ranks, j, y, table.pairs, room.floats, whole, limits, rules.criterion,
            base, found,
        )  # fmt: skip
    return found


@inlined
def random_cut(table, key, j, n_features, lowest, highest):
    """Return a threshold drawn between two ranks of a column, and the last rank at or below it."""
    first = table.facts[j, FIRST_VALUE]
    low, high = table.values[first + lowest], table.values[first + highest]
    threshold = low + draw_share(key, j, n_features) * (high - low)
    if not low <= threshold < high:
        threshold = low
    below, above = lowest, highest
    while above - below > 1:
        middle = (below + above) // 2
        if table.values[first + middle] <= threshold:
            below = middle
        else:
            above = middle
    return threshold, below


@inlined
def look_at(table, codes, y, places, medians, sets, rules, rows, room, nodes, v, j, bar, tie):
    """Write the best cut of a column among those that score above ``bar``; return whether the column varies."""
    start, stop, facts, out = nodes.wholes[v, START], nodes.wholes[v, STOP], table.facts[j], room.results[j]
    found = (bar, -np.inf, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0)
    cut, direction, zero = np.int64(-1), facts[MONOTONE], room.sums[ZERO]
    lower, upper = nodes.reals[v, LOWER], nodes.reals[v, UPPER]
    varies, ordering = True, 0
    if sets is not None and facts[IS_CATEGORY]:
        two_classes = rules.criterion < SQUARED and codes is None
        for by in range(0, 1 if two_classes else rules.n_values):
            n = line_up_categories(table, codes, y, rules, rows, room, start, stop, j, by)
            varies = n > 1
            if not varies:
                break
            if rules.random_splits:
                cut = np.int64(draw_share(nodes.keys[v], j, rules.n_features) * (n - 1))
            limits = Limits(rules.min_leaf, rules.min_weight, cut, direction, lower, upper, tie, zero)
            score = found[1]
            found = scan(
                room.lines, 0, 0, stop - start, 0, room.lines, 1, table, codes, y, places, medians, rules, room, limits,
                found,
            )  # fmt: skip
            if found[1] != score:
                ordering = by
    else:
        a = sort_if_needed(table, rules, rows, room, j, start, stop)
        orders, line = rows.orders, j
        if not rules.presorted:
            orders, line = room.lines, 0
        b = known = a + stop - start
        varies = table.ranks[j, orders[line, a]] != table.ranks[j, orders[line, b - 1]]
        if varies:
            while table.ranks[j, orders[line, known - 1]] == facts[N_RANKS]:
                known -= 1
            if rules.random_splits:
                lowest = np.int64(table.ranks[j, orders[line, a]])
                highest = np.int64(table.ranks[j, orders[line, known - 1]])
                cut = random_cut(table, nodes.keys[v], j, rules.n_features, lowest, highest)[1]
            limits = Limits(rules.min_leaf, rules.min_weight, cut, direction, lower, upper, tie, zero)
            for turn in range(1 if known == b else 2):
                skip = 0
                if turn == 1:  # missing values first: they go left
                    skip = b - known
                    for p in range(known, b):
                        room.lines[1, p - known] = orders[line, p]
                    for p in range(a, known):
                        room.lines[1, p - a + skip] = orders[line, p]
                    orders, line, a, b = room.lines, 1, 0, b - a
                found = scan(
                    orders,
                    line,
                    a,
                    b,
                    skip,
                    table.ranks,
                    j,
                    table,
                    codes,
                    y,
                    places,
                    medians,
                    rules,
                    room,
                    limits,
                    found,
                )
    for q in range(8):
        out[q] = found[q]
    out[ORDERING_FOUND] = ordering
    return varies


@compiled
def order_categories(table, codes, y, rules, rows, room, start, stop, j, by):
    """Write the categories of a node, in the order of their mean target, to the room; return how many there are.

    ``by`` says which of the classes, or targets, the mean is of. Of equal means the lower code comes first.
    """
    weights, means, order, n_ranks = room.floats[4], room.floats[5], room.floats[6], table.facts[j, N_RANKS]
    for r in range(n_ranks + 1):
        weights[r] = 0.0
        means[r] = 0.0
    for p in range(start, stop):
        i = rows.orders[-1, p]
        r = table.ranks[j, i]
        weights[r] += table.weight[i]
        if y is None:
            if codes is not None:
                for k in range(rules.n_outputs):
                    if codes[k, i] == by:
                        means[r] += table.weight[i]
        else:
            means[r] += table.weight[i] * y[by, i]
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


@compiled
def line_up_categories(table, codes, y, rules, rows, room, start, stop, j, by):
    """Write the rows in the order of their categories to line 0 of the room, and the place of each row's to line 1."""
    n = order_categories(table, codes, y, rules, rows, room, start, stop, j, by)
    order, place, ends = room.floats[6], room.floats[7], room.floats[4]
    for q in range(n):
        place[np.int64(order[q])] = q
        ends[q + 1] = 0.0
    ends[0] = 0.0
    for p in range(start, stop):
        ends[np.int64(place[table.ranks[j, rows.orders[-1, p]]]) + 1] += 1.0
    for q in range(n):
        ends[q + 1] += ends[q]
    for p in range(start, stop):
        i = rows.orders[-1, p]
        q = np.int64(place[table.ranks[j, i]])
        room.lines[0, np.int64(ends[q])] = i
        room.lines[1, i] = q
        ends[q] += 1.0
    return n


@inlined
def search(table, codes, y, places, medians, sets, rules, rows, room, nodes, v):
    """Find the best split: the lowest column, then the lowest threshold, of all cuts as good as the best."""
    results, tie, draws = room.results, room.sums[TIE_FOUND], rules.max_features < rules.n_features
    for j in range(rules.n_features):
        room.drawn[j] = j
        results[j, TOP] = -np.inf
    turn, n_varied, best, again = np.int64(0), np.int64(0), -np.inf, np.int64(-1)
    while again >= 0 or turn < rules.n_features:
        bar, slack, j = -np.inf, tie, again
        if again >= 0:
            bar, slack = np.nextafter(best - tie, -np.inf), np.inf
        else:
            j = draw_column(nodes.keys[v], turn, room.drawn) if draws else turn
        varies = look_at(table, codes, y, places, medians, sets, rules, rows, room, nodes, v, j, bar, slack)
        if again >= 0:
            break
        n_varied += varies
        best = max(best, results[j, TOP])
        turn += 1
        if turn == rules.n_features or (turn >= rules.max_features and n_varied > 0):
            if best == -np.inf:
                return
            again = np.int64(0)
            while results[again, TOP] < best - tie:
                again += 1
            if results[again, UNSURE] == 0.0 and results[again, 1] >= best - tie:
                break  # no earlier cut of the column is as good
    settle(table, codes, y, sets, rules, rows, room, nodes, v, again)


@inlined
def settle(table, codes, y, sets, rules, rows, room, nodes, v, j):
    """Write the split of a node by a column, unless it gains too little."""
    out, whole, slack = room.results[j], room.sums[WHOLE], room.sums[TIE_FOUND]
    gain = out[1] - room.sums[BASE]
    if rules.criterion == GAIN_RATIO:
        gain = out[1] * -(xlog(out[6], whole) + xlog(whole - out[6], whole))
        slack *= whole
    if gain + slack < rules.min_gain:
        return
    wholes, reals = nodes.wholes[v], nodes.reals[v]
    n = wholes[STOP] - wholes[START]
    reals[GAIN], reals[THRESHOLD] = max(gain, 0.0), 0.0
    wholes[FEATURE], wholes[BELOW], wholes[N_LEFT] = j, np.int64(out[2]), np.int64(out[5])
    wholes[ORDERING], wholes[MISSING_LEFT] = np.int64(out[ORDERING_FOUND]), 2 * wholes[N_LEFT] > n
    first, n_ranks, above = table.facts[j, FIRST_VALUE], table.facts[j, N_RANKS], np.int64(out[3])
    if sets is not None and table.facts[j, IS_CATEGORY]:
        write_categories(table, codes, y, sets, rules, rows, room, wholes, v)
        return
    lowest, highest, n_missing = n_ranks, np.int64(0), 0
    for p in range(wholes[START], wholes[STOP]):
        r = np.int64(table.ranks[j, rows.orders[-1, p]])
        if r == n_ranks:
            n_missing += 1
        else:
            lowest, highest = min(lowest, r), max(highest, r)
    if n_missing > 0:
        wholes[MISSING_LEFT] = np.int64(out[4])
    if above == n_ranks:
        reals[THRESHOLD] = np.inf
    elif rules.random_splits:
        reals[THRESHOLD] = random_cut(table, nodes.keys[v], j, rules.n_features, lowest, highest)[0]
    else:
        low, high = table.values[first + wholes[BELOW]], table.values[first + above]
        halfway = low / 2.0 + high / 2.0
        reals[THRESHOLD] = halfway if low <= halfway < high else low


@compiled
def write_categories(table, codes, y, sets, rules, rows, room, wholes, v):
    """Write the set of categories that go left; those the node has no row of go with the larger side."""
    j, n_ranks = wholes[FEATURE], table.facts[wholes[FEATURE], N_RANKS]
    n = order_categories(table, codes, y, rules, rows, room, wholes[START], wholes[STOP], j, wholes[ORDERING])
    for word in range(sets.shape[1]):
        sets[v, word] = 0
    for r in range(n_ranks):
        if wholes[MISSING_LEFT]:
            sets[v, r >> 5] |= np.uint32(1) << np.uint32(r & 31)
    for q in range(n):
        r = np.int64(room.floats[6, q])
        is_left = q <= wholes[BELOW]
        if r == n_ranks:
            wholes[MISSING_LEFT] = is_left
        elif is_left:
            sets[v, r >> 5] |= np.uint32(1) << np.uint32(r & 31)
        else:
            sets[v, r >> 5] &= ~(np.uint32(1) << np.uint32(r & 31))


@inlined
def open_node(table, codes, y, places, rules, rows, room, nodes, v):
    """Write what a node is without a split; return whether it may be split."""
    wholes, reals = nodes.wholes[v], nodes.reals[v]
    wholes[LEFT], wholes[RIGHT], wholes[FEATURE], wholes[MISSING_LEFT] = -1, -1, -2, 0
    reals[THRESHOLD], reals[GAIN] = -2.0, -1.0
    start, stop = wholes[START], wholes[STOP]
    pure, scale = True, 0.0
    if y is None:
        if codes is not None:
            pure, scale = sum_classes(codes, table.weight, rules, rows.orders[-1], start, stop, room, reals)
    elif places is not None:
        pure, scale = sum_absolute(table, y, places, rules, rows, start, stop, room, reals)
    else:
        pure, scale = sum_numbers(y, table.weight, rules, rows.orders[-1], start, stop, room, reals)
    room.sums[ZERO] = TIE * EPSILON * (64.0 + 4.0 * math.sqrt(stop - start))
    room.sums[TIE_FOUND] = room.sums[ZERO] * scale
    if rules.directed:
        place = VALUE + 1 if rules.criterion < SQUARED else VALUE
        reals[place] = min(max(reals[place], reals[LOWER]), reals[UPPER])
        if rules.criterion < SQUARED:
            reals[VALUE] = 1.0 - reals[place]
    small = stop - start < max(rules.min_split, 2 * rules.min_leaf) or reals[WEIGHT] < 2.0 * rules.min_weight
    return not (pure or small or wholes[DEPTH] >= rules.max_depth)


@inlined
def part_node(table, sets, rows, room, nodes, v, n_nodes):
    """Part the rows of a node between its children, and write the ways to these."""
    wholes = nodes.wholes[v]
    j, start, stop, below = wholes[FEATURE], wholes[START], wholes[STOP], wholes[BELOW]
    n_ranks = table.facts[j, N_RANKS]
    by_set = sets is not None and table.facts[j, IS_CATEGORY] != 0
    for p in range(start, stop):
        i = rows.orders[-1, p]
        r = np.int64(table.ranks[j, i])
        left = r <= below
        if r == n_ranks:
            left = wholes[MISSING_LEFT] != 0
        elif by_set:
            left = in_set(sets, v, r)
        rows.goes_left[i] = left
    for line in range(len(rows.orders)):
        part_rows(rows.orders[line], start, stop, rows.goes_left, room.lines[0])
    wholes[LEFT], wholes[RIGHT] = n_nodes, n_nodes + 1
    for side in range(2):
        child = n_nodes + side
        nodes.wholes[child, START] = start + wholes[N_LEFT] if side else start
        nodes.wholes[child, STOP] = stop if side else start + wholes[N_LEFT]
        nodes.wholes[child, DEPTH] = wholes[DEPTH] + 1
        nodes.keys[child] = child_key(nodes.keys[v], side == 0)
        nodes.reals[child, LOWER] = nodes.reals[v, LOWER]
        nodes.reals[child, UPPER] = nodes.reals[v, UPPER]


@inlined
def in_set(sets, v, code):
    """Return whether a category goes left."""
    if sets is None:
        return False
    return (sets[v, code >> 5] >> np.uint32(code & 31)) & np.uint32(1) != 0


@inlined
def next_node(rules, nodes, waiting, n_waiting, slack):
    """Return the place of the node to split next: the last one, or best first the lowest of those that gain most."""
    if rules.max_leaves == 0:
        return n_waiting - 1
    top = -1.0
    for q in range(n_waiting):
        top = max(top, nodes.reals[waiting[q], GAIN])
    for q in range(n_waiting):
        if nodes.reals[waiting[q], GAIN] >= top - slack:
            return q
    return n_waiting - 1


@compiled
def grow(table, codes, y, places, medians, sets, rules, rows, room, nodes, max_splits):
    """Grow the tree below node 0, whose rows, way and bounds are given; return the number of nodes.

    After ``max_splits`` splits the children of the last one are left as they are, neither opened nor split.
    """
    n_waiting, n_nodes, n_leaves, first = np.int64(0), np.int64(1), np.int64(1), np.int64(0)
    slack, n_all = 0.0, rows.orders.shape[1]
    while True:
        for v in range(first, n_nodes):
            if open_node(table, codes, y, places, rules, rows, room, nodes, v):
                if v == 0:
                    slack = room.sums[TIE_FOUND]
                    if rules.criterion == GAIN_RATIO:
                        slack *= room.sums[WHOLE] / n_all
                search(table, codes, y, places, medians, sets, rules, rows, room, nodes, v)
                if nodes.reals[v, GAIN] >= 0.0:
                    room.waiting[n_waiting] = v
                    n_waiting += 1
        if n_waiting == 0 or n_leaves == rules.max_leaves:
            break
        place = next_node(rules, nodes, room.waiting, n_waiting, slack)
        v = room.waiting[place]
        n_waiting -= 1
        for q in range(place, n_waiting):  # the others stay in their order
            room.waiting[q] = room.waiting[q + 1]
        part_node(table, sets, rows, room, nodes, v, n_nodes)
        if table.facts[nodes.wholes[v, FEATURE], MONOTONE] != 0:
            set_bounds(table, codes, y, places, rules, rows, room, nodes, v)
        first, n_nodes, n_leaves = n_nodes, n_nodes + 2, n_leaves + 1
        if n_leaves - 1 == max_splits:
            return n_nodes
    for q in range(n_waiting):  # splits found but not made
        v = room.waiting[q]
        nodes.wholes[v, FEATURE], nodes.wholes[v, MISSING_LEFT], nodes.reals[v, THRESHOLD] = -2, 0, -2.0
    return n_nodes


@compiled
def set_bounds(table, codes, y, places, rules, rows, room, nodes, v):
    """Part the bounds of a node between its children, halfway between the values that these would have."""
    left, right = nodes.wholes[v, LEFT], nodes.wholes[v, RIGHT]
    place = VALUE + 1 if rules.criterion < SQUARED else VALUE
    between = 0.0
    for child in range(left, left + 2):
        lower, upper = nodes.reals[child, LOWER], nodes.reals[child, UPPER]
        nodes.reals[child, LOWER], nodes.reals[child, UPPER] = -np.inf, np.inf
        open_node(table, codes, y, places, rules, rows, room, nodes, child)
        nodes.reals[child, LOWER], nodes.reals[child, UPPER] = lower, upper
        between += nodes.reals[child, place] / 2.0
    rises = table.facts[nodes.wholes[v, FEATURE], MONOTONE] > 0
    nodes.reals[left if rises else right, UPPER] = between
    nodes.reals[right if rises else left, LOWER] = between


@compiled
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
