"""Histograms of whole numbers: the sums of gradients, hessians and rows in every bin of a feature.

Gradients and hessians are rounded to multiples of a power of two, so that their sums are exact: the same in every
order, on any number of threads, and a sibling's histogram is the parent's minus the other's without rounding. A bin has
two words: the sum of gradients; and the sum of hessians, shifted by as many bits as the number of rows needs, plus that
number.

Bins of ``GROUP`` neighboring features lie in one word of 32 bits, the first feature lowest, and the histograms of a
group lie side by side. ``MISSING`` is the bin of missing values.
"""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit

GROUP = 4
N_BINS = 256
MISSING = 255
FEATURE_SIZE = 2 * N_BINS
GROUP_SIZE = GROUP * FEATURE_SIZE

ONE, BYTE = np.uint64(1), np.uint64(255)
SHIFT1, SHIFT2, SHIFT3 = np.uint64(8), np.uint64(16), np.uint64(24)
SECOND, THIRD, FOURTH = np.uint64(FEATURE_SIZE), np.uint64(2 * FEATURE_SIZE), np.uint64(3 * FEATURE_SIZE)


@njit(nogil=True, error_model="numpy")
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


@njit(nogil=True, error_model="numpy")
def count_rows(column, rows, start, stop, pairs, histograms):
    """Add the words of ``rows[start:stop]`` to the histograms of the four features of a column."""
    for i in range(stop - start):
        word = np.uint64(column[rows[start + i]])
        gradient, hessian = pairs[2 * i], pairs[2 * i + 1]
        first = (word & BYTE) << ONE
        second = SECOND + (((word >> SHIFT1) & BYTE) << ONE)
        third = THIRD + (((word >> SHIFT2) & BYTE) << ONE)
        fourth = FOURTH + ((word >> SHIFT3) << ONE)
        histograms[first] += gradient
        histograms[first + ONE] += hessian
        histograms[second] += gradient
        histograms[second + ONE] += hessian
        histograms[third] += gradient
        histograms[third + ONE] += hessian
        histograms[fourth] += gradient
        histograms[fourth + ONE] += hessian
