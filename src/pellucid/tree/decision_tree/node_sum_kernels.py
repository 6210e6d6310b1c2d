"""What a node is without a split: its weight, value and impurity, from one pass over its rows or two."""

# mypy: allow-untyped-defs, no-check-untyped-defs

import math

from pellucid.solvers.compiling_kernels import lean_inlined
from pellucid.tree.decision_tree.growth_layout import (
    BASE,
    CENTER,
    DEPTH,
    ENTROPY,
    ERROR,
    FEATURE,
    GAIN,
    GINI,
    IMPURITY,
    LEFT,
    LOWER,
    MISSING_LEFT,
    POISSON,
    RIGHT,
    SQUARED,
    START,
    STOP,
    SUMS,
    THRESHOLD,
    TIE_WIDTH,
    TOTAL,
    UPPER,
    VALUE,
    WEIGHT,
    WHOLE,
    ZERO_WIDTH,
)
from pellucid.tree.decision_tree.row_order_kernels import sort_rows
from pellucid.tree.decision_tree.split_kernels import EPSILON, xlog

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
