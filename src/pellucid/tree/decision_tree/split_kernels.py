"""The best place to cut one column of a node, for every criterion.

Rows come in the order of the column. A score says how good a cut is; of all cuts whose score is within a tolerance of
the best one, the first counts. All sums are float64, and whole weights are summed without any rounding. Rows and ranks
are unsigned, so that the compiler need not think of places counted from the end.
"""

# mypy: allow-untyped-defs, no-check-untyped-defs

import math

import numpy as np

from pellucid.solvers.compiling_kernels import lean, lean_inlined
from pellucid.tree.decision_tree.growth_rules import (
    BELOW,
    CATEGORY_MEAN,
    CATEGORY_ORDER,
    CATEGORY_PLACE,
    CATEGORY_WEIGHT,
    CENTER,
    ENTROPY,
    ERROR,
    FEATURE,
    GINI,
    MISSING_LEFT,
    N_RANKS,
    ON_LEFT,
    ON_RIGHT,
    ORDERING,
    POISSON,
    RANK_BELOW,
    SCORE,
    SQUARED,
    START,
    STOP,
    TOP,
    TOTAL,
)

EPSILON = 2.0**-52


@lean_inlined
def better(score, limits, found, below, above, skip, n_left, w_left):
    """Return what is found after a cut whose score is above all before it."""
    if found[RANK_BELOW] >= 0.0 and found[TOP] >= score - limits.tie:
        if found[SCORE] >= score - limits.tie:
            return (score, found[1], found[2], found[3], found[4], found[5], found[6], found[7])
        return (score, score, below, above, 1.0 if skip > 0 else 0.0, n_left, w_left, 1.0)
    return (score, score, below, above, 1.0 if skip > 0 else 0.0, n_left, w_left, 0.0)


@lean_inlined
def xlog(x, whole):
    """Return ``x log2(x / whole)``, 0 for no rows; what rounding left below 0 counts as none."""
    return x * math.log2(x / whole) if x > 0.0 else 0.0


@lean_inlined
def may_cut(n_left, n_right, w_left, w_right, below, above, limits):
    """Return whether both sides are large enough, and the cut is where a random one must be."""
    if n_left < limits.min_leaf or n_right < limits.min_leaf:
        return False
    if limits.cut >= 0 and not (below <= limits.cut < above):
        return False
    return w_left >= limits.min_weight and w_right >= limits.min_weight


@lean_inlined
def keeps_direction(low_side, high_side, limits):
    """Return whether the values of the two sides rise (1) or fall (-1) and stay within the node's bounds."""
    if (low_side - high_side) * limits.direction > 0.0:
        return False
    return limits.lower <= low_side <= limits.upper and limits.lower <= high_side <= limits.upper


@lean_inlined
def ratio(score, base, w_left, w_right):
    """Return the part of the information in the sides that is about the target: C4.5's gain ratio."""
    whole = w_left + w_right
    return (score - base) / -(xlog(w_left, whole) + xlog(w_right, whole))


@lean_inlined
def one_sum_score(left, total, w_left, w_right, criterion, base, zero):
    """Return the score of a cut with this sum on its left.

    Of numbers it is the sum of differences from the node's mean, for Poisson of the numbers themselves; of two
    classes the weight of the second one.
    """
    rest = total - left
    if criterion == SQUARED:
        return left * left / w_left + rest * rest / w_right
    if criterion == POISSON:
        if left <= zero * total or rest <= zero * total:  # a mean of 0 has no likelihood
            return -np.inf
        mean = total / (w_left + w_right)
        return left * math.log(left / w_left / mean) + rest * math.log(rest / w_right / mean)
    other_left, other_rest = w_left - left, w_right - rest
    if criterion == GINI:
        return (left * left + other_left * other_left) / w_left + (rest * rest + other_rest * other_rest) / w_right
    if criterion == ERROR:
        return max(left, other_left) + max(rest, other_rest)
    score = xlog(left, w_left) + xlog(other_left, w_left) + xlog(rest, w_right) + xlog(other_rest, w_right)
    return score if criterion == ENTROPY else ratio(score, base, w_left, w_right)


@lean_inlined
def bar_of_squares(top, total, whole, criterion):
    """Return what ``left^2 / w_left + rest^2 / w_right`` must be above for a score above ``top``, less its rounding.

    The gini of two classes is twice this sum, plus the weight of the first class less that of the second.
    """
    if criterion == SQUARED:
        return top - 8.0 * EPSILON * abs(top)
    return (top + 2.0 * total - whole) / 2.0 - 8.0 * EPSILON * whole if criterion == GINI else -np.inf


@lean_inlined
def scan_numbers(
    order, start, stop, skip, rank, y, pairs, floats, whole, limits, directed, criterion, base, found
):  # fmt: skip
    """Return the best cut of rows in order by sums of ``y``. O(rows n_outputs).

    The first ``skip`` rows are missing values, which stay on the left. ``pairs`` (rows, 2) holds weights and the first
    target next to each other. Most cuts are refused by a comparison that needs no division.
    """
    sums, total, mean = floats[ON_LEFT], floats[TOTAL], floats[CENTER]
    n_outputs = len(y)
    w_left, left, mean_0, total_0 = 0.0, 0.0, mean[0], total[0]
    for k in range(1, n_outputs):
        sums[k] = 0.0
    bar = bar_of_squares(found[TOP], total_0, whole, criterion) if n_outputs == 1 else -np.inf
    before = np.int64(-1)
    for p in range(start, stop):
        i = order[p]
        r = np.int64(rank[i])
        if r != before:
            n_left, w_right, rest = p - start, whole - w_left, total_0 - left
            if (
                not left * left * w_right + rest * rest * w_left < bar * (w_left * w_right)
                and n_left > skip
                and may_cut(n_left, stop - p, w_left, w_right, before, r, limits)
            ):
                score = one_sum_score(left, total_0, w_left, w_right, criterion, base, limits.zero)
                for k in range(1, n_outputs):
                    score += one_sum_score(sums[k], total[k], w_left, w_right, criterion, base, limits.zero)
                score /= n_outputs
                keeps = True
                if directed is not None and limits.direction != 0:
                    keeps = keeps_direction(left / w_left + mean_0, rest / w_right + mean_0, limits)
                if score > found[TOP] and keeps:
                    found = better(score, limits, found, float(before), float(r), skip, float(n_left), w_left)
                    if n_outputs == 1:
                        bar = bar_of_squares(score, total_0, whole, criterion)
            before = r
        w = pairs[i, 0]
        w_left += w
        left += w * (pairs[i, 1] - mean_0)
        for k in range(1, n_outputs):
            sums[k] += w * (y[k, i] - mean[k])
    return found


@lean_inlined
def scan_classes(order, start, stop, skip, rank, codes, pairs, floats, whole, limits, criterion, n_all, base, found):
    """Return the best cut of rows in order by class counts. O(rows), for criteria but gini O(classes) more at a cut."""
    left, right, total = floats[ON_LEFT], floats[ON_RIGHT], floats[TOTAL]
    n_outputs = len(codes)
    w_left, sq_left, sq_right = 0.0, 0.0, 0.0
    for c in range(n_all):
        left[c] = 0.0
        right[c] = total[c]
        sq_right += total[c] * total[c]
    before = np.int64(-1)
    for p in range(start, stop):
        i = order[p]
        r = np.int64(rank[i])
        if r != before:
            n_left, w_right = p - start, whole - w_left
            if n_left > skip and may_cut(n_left, stop - p, w_left, w_right, before, r, limits):
                if criterion == GINI:
                    score = sq_left / w_left + sq_right / w_right
                else:
                    score = counts_score(left, right, w_left, w_right, criterion, n_outputs, n_all, base)
                score /= n_outputs
                if score > found[TOP]:
                    found = better(score, limits, found, float(before), float(r), skip, float(n_left), w_left)
            before = r
        w = pairs[i, 0]
        w_left += w
        for k in range(n_outputs):
            c = codes[k, i]
            sq_left += w * (2.0 * left[c] + w)
            sq_right -= w * (2.0 * right[c] - w)
            left[c] += w
            right[c] -= w
    return found


@lean
def counts_score(left, right, w_left, w_right, criterion, n_outputs, n_all, base):
    """Return the score of a cut with these class counts on its sides, summed over outputs."""
    score, n_values = 0.0, n_all // n_outputs
    if criterion == ERROR:
        for k in range(n_outputs):
            most_left, most_right = 0.0, 0.0
            for c in range(k * n_values, (k + 1) * n_values):
                most_left, most_right = max(most_left, left[c]), max(most_right, right[c])
            score += most_left + most_right
        return score
    for c in range(n_all):
        score += xlog(left[c], w_left) + xlog(right[c], w_right)
    return score if criterion == ENTROPY else ratio(score, base * n_outputs, w_left, w_right)


@lean_inlined
def scan_absolute(
    order, start, stop, skip, rank, y, pairs, floats, whole, limits, directed, places, medians, found
):  # fmt: skip
    """Return the best cut of rows in order by absolute differences from the medians of both sides. O(rows log rows).

    ``places`` (n_outputs, rows) is where each row stands when the node is sorted by its target, ``medians``
    (6, rows + 1) is room for the sums.
    """
    middle = floats[CENTER]
    n, errors, low, high = stop - start, medians[0], medians[1], medians[2]
    for q in range(n + 1):
        errors[q] = 0.0
    for k in range(len(y)):
        for step in range(-1, 2, 2):
            add_median_errors(order, start, stop, step, y[k], middle[k], pairs, places[k], medians)
    before, w_left = np.int64(rank[order[start]]), pairs[order[start], 0]
    for q in range(1, n):
        i = order[start + q]
        r = np.int64(rank[i])
        if r != before:
            if q > skip and may_cut(q, n - q, w_left, whole - w_left, before, r, limits):
                score = -errors[q] / len(y)
                keeps = True
                if directed is not None and limits.direction != 0:
                    keeps = keeps_direction(low[q], high[q], limits)
                if score > found[TOP] and keeps:
                    found = better(score, limits, found, float(before), float(r), skip, float(q), w_left)
            before = r
        w_left += pairs[i, 0]
    return found


@lean
def add_median_errors(order, start, stop, step, y, middle, pairs, place, medians):
    """Add to line 0 at q the absolute differences of the first q rows (step 1), or of all others, from their median.

    The medians go to line 1 or 2. Rows enter one by one; sums of weights and of targets over places are kept in two
    binary indexed trees, in which the half of the weight is found in O(log rows).
    """
    n, errors, weights, sums, values = stop - start, medians[0], medians[3], medians[4], medians[5]
    for q in range(n + 1):
        weights[q] = 0.0
        sums[q] = 0.0
    highest = 1
    while 2 * highest <= n:
        highest *= 2
    w_all, s_all = 0.0, 0.0
    for turn in range(n):
        i = order[start + turn if step == 1 else stop - 1 - turn]
        w, t = pairs[i, 0], y[i] - middle
        node = np.int64(place[i]) + 1
        values[node - 1] = t
        w_all += w
        s_all += w * t
        while node <= n:
            weights[node] += w
            sums[node] += w * t
            node += node & -node
        at, w_low, s_low, jump = 0, 0.0, 0.0, highest
        while jump > 0:  # over all places up to which there is less than half of the weight
            if at + jump <= n and 2.0 * (w_low + weights[at + jump]) < w_all:
                at += jump
                w_low += weights[at]
                s_low += sums[at]
            jump //= 2
        upper, w_upper, jump = 0, 0.0, highest
        while jump > 0:  # and up to which there is no more than half
            if upper + jump <= n and 2.0 * (w_upper + weights[upper + jump]) <= w_all:
                upper += jump
                w_upper += weights[upper]
            jump //= 2
        median = values[at]
        q = turn + 1 if step == 1 else n - turn - 1
        errors[q] += (s_all - s_low - median * (w_all - w_low)) + (median * w_low - s_low)
        medians[1 if step == 1 else 2, q] = (median + values[upper if upper < n else at]) / 2.0 + middle


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
