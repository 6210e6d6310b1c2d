"""Histograms of whole numbers, and the best split of a feature, read off one.

The gain of a split is the loss reduction of a Newton step per child, with G and H the sums of gradients and hessians:

    G_left^2 / (H_left + l2) + G_right^2 / (H_right + l2) - G^2 / (H + l2)

A monotonic constraint bounds the values of the children; the gain is then that of the bounded values. Sums are exact,
so two splits that part the rows in the same way have the same gain to the last bit, and the first one is taken.

The sums on the left of all candidates are written down first: what follows is a plain loop that the compiler can
vectorize.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.ensemble.hist_gradient_boosting.claim_kernels import add_pair, fetch_ahead
from pellucid.solvers.compiling_kernels import lean

# Histograms of whole numbers: the sums of gradients, hessians and rows in every bin of a feature.
#
# Gradients and hessians are rounded to multiples of a power of two, so that their sums are exact: the same in every
# order, on any number of threads, and a sibling's histogram is the parent's minus the other's without rounding. A bin
# has two words: the sum of gradients; and the sum of hessians, shifted by as many bits as the number of rows needs,
# plus that number.
#
# Bins of ``GROUP`` neighboring features lie in one word of 32 bits, the first feature lowest, and the histograms of a
# group lie side by side. ``MISSING`` is the bin of missing values.


AHEAD = 16
SPARSE = 8
"""Where fewer than one in so many rows is counted, the processor does not guess where the next one is: it is told."""

GROUP = 4
N_BINS = 256
MISSING = 255
FEATURE_SIZE = 2 * N_BINS
GROUP_SIZE = GROUP * FEATURE_SIZE

ONE, BYTE = np.uint64(1), np.uint64(255)
SHIFT1, SHIFT2, SHIFT3 = np.uint64(8), np.uint64(16), np.uint64(24)
SECOND, THIRD, FOURTH = np.uint64(FEATURE_SIZE), np.uint64(2 * FEATURE_SIZE), np.uint64(3 * FEATURE_SIZE)


@lean
def round_rows(rows, gradients, hessians, per_gradient, per_hessian, count_bits, pairs, start, stop, origin):
    """Write the words of ``rows[start:stop]`` from pair ``start - origin`` on.

    ``per_gradient`` and ``per_hessian`` are how many units a 1 is; a single hessian is that of all rows.
    """
    is_constant = hessians.shape[0] == 1
    hessian = np.int64(np.rint(hessians[0] * per_hessian))
    for i in range(start, stop):
        row = rows[i]
        if not is_constant:
            hessian = np.int64(np.rint(hessians[row] * per_hessian))
        place = 2 * (i - origin)
        pairs[place] = np.int64(np.rint(gradients[row] * per_gradient))
        pairs[place + 1] = (hessian << count_bits) + 1


@lean
def count_rows(column, rows, start, stop, pairs, histograms):
    """Add the words of ``rows[start:stop]`` to the histograms of the four features of a column."""
    is_sparse = (stop - start) * SPARSE < column.shape[0]
    for i in range(start, stop):
        if is_sparse:
            fetch_ahead(column, rows[min(i + AHEAD, stop - 1)])
        word = np.uint64(column[rows[i]])
        gradient, hessian = pairs[2 * (i - start)], pairs[2 * (i - start) + 1]
        add_pair(histograms, (word & BYTE) << ONE, gradient, hessian)
        add_pair(histograms, SECOND + (((word >> SHIFT1) & BYTE) << ONE), gradient, hessian)
        add_pair(histograms, THIRD + (((word >> SHIFT2) & BYTE) << ONE), gradient, hessian)
        add_pair(histograms, FOURTH + ((word >> SHIFT3) << ONE), gradient, hessian)


LEAST_HESSIAN = 1e-3
"""Sum of hessians below which no child may be."""

LEAST_SUPPORT = 10.0
"""Rows, as its share of the hessians tells, that a category needs to be moved to the left."""

STABILIZER = 1e-15
ROUNDING = 16 * 2.0**-52
"""Part of the terms of a gain that rounding can make up."""

NO_GAIN = -1.0

L2, LEAST_ROWS, GRADIENT_UNIT, HESSIAN_UNIT, SHRINKAGE, FEATURE_SHARE, PER_GRADIENT, PER_HESSIAN, COUNT_BITS = range(9)
SETTINGS_SIZE = 9
"""Entries of ``settings``."""

ALLOWED, SPLIT_BIN, MISSING_LEFT, LEFT_GRADIENT, LEFT_HESSIAN = range(5)
"""Columns of ``splits``: the last bin that goes left, the side of missing values, the sums on the left.

Of categories: the place of the last one in their order, and from which end."""

TERMS, G_LEFT, G_RIGHT, H_LEFT, H_RIGHT, KEYS = (k * N_BINS for k in range(6))
FLOATS_SIZE = 6 * N_BINS
"""Where the columns of a table of candidates begin in the working memory of a thread, and the keys of categories."""

GRADIENTS, HESSIANS, PLACES, ORDER, TABLE = (k * N_BINS for k in range(5))
INTS_SIZE = 5 * N_BINS
"""The same for whole numbers: words of the left parts, what a candidate is, categories in order, a table of bins."""


@lean
def bounded_value(gradient, hessian, l2, lower, upper):
    """Return the Newton step of a node, inside the bounds of its monotonic constraints."""
    return min(max(-gradient / (hessian + l2 + STABILIZER), lower), upper)


@lean
def best_candidate(ints, floats, n, sums, limits, directed, direction, settings):
    """Return the number of the best candidate, the first of equal ones, and its gain.

    ``ints`` holds gradient, and hessian with count, of the left part of each; ``sums`` those of the node; ``limits``
    its lower and upper bound and its loss.
    """
    g_unit, h_unit, bits = settings[GRADIENT_UNIT], settings[HESSIAN_UNIT], np.int64(settings[COUNT_BITS])
    l2 = settings[L2] + STABILIZER
    for i in range(n):
        gradient, both = ints[GRADIENTS + i], ints[HESSIANS + i]
        floats[G_LEFT + i], floats[G_RIGHT + i] = gradient * g_unit, (sums[0] - gradient) * g_unit
        floats[H_LEFT + i] = (both >> bits) * h_unit + l2
        floats[H_RIGHT + i] = ((sums[1] - both) >> bits) * h_unit + l2
    for i in range(n):
        h_left, h_right = floats[H_LEFT + i], floats[H_RIGHT + i]
        left, right = floats[G_LEFT + i] * floats[G_LEFT + i], floats[G_RIGHT + i] * floats[G_RIGHT + i]
        floats[TERMS + i] = (left * h_right + right * h_left) / (h_left * h_right)
    if directed is not None and (direction != 0 or limits[0] != -np.inf or limits[1] != np.inf):
        bound_terms(floats, n, limits, direction)
    best, terms, mask = -1, -np.inf, (np.int64(1) << bits) - 1
    for i in range(n):
        if floats[TERMS + i] > terms:
            rows = ints[HESSIANS + i] & mask
            is_large = rows >= settings[LEAST_ROWS] and (sums[1] & mask) - rows >= settings[LEAST_ROWS]
            if is_large and min(floats[H_LEFT + i], floats[H_RIGHT + i]) - l2 >= LEAST_HESSIAN:
                best, terms = i, floats[TERMS + i]
    gain = terms + limits[2]
    return best, gain if gain > ROUNDING * abs(terms) else NO_GAIN


@lean
def bound_terms(floats, n, limits, direction):
    """Write the terms of the gain of candidates whose values stay within bounds and go in a direction."""
    for i in range(n):
        left = min(max(-floats[G_LEFT + i] / floats[H_LEFT + i], limits[0]), limits[1])
        right = min(max(-floats[G_RIGHT + i] / floats[H_RIGHT + i], limits[0]), limits[1])
        floats[TERMS + i] = -floats[G_LEFT + i] * left - floats[G_RIGHT + i] * right
        if (direction > 0 and left > right) or (direction < 0 and left < right):
            floats[TERMS + i] = -np.inf


@lean
def sort_categories(histogram, n_bins, sums, settings, ints, floats):
    """Write the supported categories, by gradient over hessian, into ``ints``; return how many there are."""
    n_used, bits = np.int64(0), np.int64(settings[COUNT_BITS])
    per_hessian = (sums[1] & ((np.int64(1) << bits) - 1)) / ((sums[1] >> bits) * settings[HESSIAN_UNIT])
    for i in range(n_bins + 1):
        b = i if i < n_bins else MISSING
        hessian = (histogram[2 * b + 1] >> bits) * settings[HESSIAN_UNIT]
        if histogram[2 * b + 1] > 0 and hessian * per_hessian >= LEAST_SUPPORT:
            key = histogram[2 * b] * settings[GRADIENT_UNIT] / (hessian + LEAST_SUPPORT)
            place = n_used
            while place > 0 and floats[KEYS + place - 1] > key:
                floats[KEYS + place], ints[ORDER + place] = floats[KEYS + place - 1], ints[ORDER + place - 1]
                place -= 1
            floats[KEYS + place], ints[ORDER + place] = key, b
            n_used += 1
    return n_used


@lean
def list_candidates(histogram, n_bins, has_missing, side, ints):
    """Write the sums on the left of each threshold, the missing values right or left (side 1); return how many.

    An empty bin parts nothing; but with an empty lowest bin missing values can go left alone, which is another split
    than alone to the right where the answer must rise or fall.
    """
    gradient, hessian, n = np.int64(0), np.int64(0), np.int64(0)
    if side:
        gradient, hessian = histogram[2 * MISSING], histogram[2 * MISSING + 1]
        if histogram[1] == 0:
            ints[GRADIENTS], ints[HESSIANS], ints[PLACES] = gradient, hessian, 0
            n += 1
    for b in range(n_bins - side if has_missing else n_bins - 1):
        if histogram[2 * b + 1]:
            gradient += histogram[2 * b]
            hessian += histogram[2 * b + 1]
            ints[GRADIENTS + n], ints[HESSIANS + n], ints[PLACES + n] = gradient, hessian, b
            n += 1
    return n


@lean
def list_sets(histogram, n_used, side, ints):
    """Write the sums of the first (side 0) or last sorted categories, of at most half of them; return how many."""
    gradient, hessian, n = np.int64(0), np.int64(0), (n_used + 1) // 2 - side if n_used > 1 else 0
    for i in range(n):
        b = ints[ORDER + n_used - 1 - i] if side else ints[ORDER + i]
        gradient += histogram[2 * b]
        hessian += histogram[2 * b + 1]
        ints[GRADIENTS + i], ints[HESSIANS + i], ints[PLACES + i] = gradient, hessian, i
    return n


@lean
def search_histogram(histogram, facts, sums, limits, by_set, directed, settings, split, ints, floats):
    """Write the best split by a feature into ``split`` and return its gain.

    ``facts`` are the number of bins, whether values are missing, whether it holds categories, and its direction. A
    threshold: missing values go right first, then left; of equal gains the lowest is taken. Categories: so many of the
    sorted ones go left, from the front (side 0), then from the back, and at most half of them.
    """
    n_bins, has_missing, is_categorical, direction = facts
    best, n_used = NO_GAIN, np.int64(0)
    if by_set is not None and is_categorical:
        n_used = sort_categories(histogram, n_bins, sums, settings, ints, floats)
    for side in range(2 if is_categorical or (has_missing and histogram[2 * MISSING + 1]) else 1):
        n = np.int64(0)
        if by_set is not None and is_categorical:
            n = list_sets(histogram, n_used, side, ints)
        else:
            n = list_candidates(histogram, n_bins, has_missing, side, ints)
        candidate, gain = best_candidate(ints, floats, n, sums, limits, directed, direction, settings)
        if gain > best:
            best = gain
            split[SPLIT_BIN], split[MISSING_LEFT] = ints[PLACES + candidate], side
            split[LEFT_GRADIENT], split[LEFT_HESSIAN] = ints[GRADIENTS + candidate], ints[HESSIANS + candidate]
    return best
