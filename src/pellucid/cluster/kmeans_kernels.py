"""Passes of Lloyd's method over blocks of rows. Arguments are float64 arrays that the caller has checked."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept


@kept
def nearest_pass(products, sizes, own, slack, labels, distances, close):
    """Find the least of ``sizes[k] - 2 products[i, k]`` in each row, the first of equal ones.

    Writes its place to ``labels``, with ``own`` added to ``distances``, and to ``close`` whether another is less than
    ``slack * (own[i] + max sizes)`` above it: rounding could have swapped the two. O(n k).
    """
    largest = sizes.max()
    for i in range(products.shape[0]):
        best, second, place = np.inf, np.inf, 0
        for k in range(products.shape[1]):
            value = sizes[k] - 2.0 * products[i, k]
            if value < best:
                second, best, place = best, value, k
            elif value < second:
                second = value
        labels[i] = place
        distances[i] = max(own[i] + best, 0.0)
        close[i] = second - best <= slack * (own[i] + largest)


@kept
def add_rows(rows, weight, labels, sums):
    """Add each row, times its weight, to the sum of its cluster, in place. O(n p)."""
    for i in range(rows.shape[0]):
        k, w = labels[i], weight[i]
        for j in range(rows.shape[1]):
            sums[k, j] += w * rows[i, j]
