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

from pellucid.ensemble.hist_gradient_boosting.claim_kernels import add_pair, fetch_ahead
from pellucid.solvers.compiling_kernels import lean

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
