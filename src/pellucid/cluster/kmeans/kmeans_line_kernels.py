"""One layer of the dynamic program for clusters on a line."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept, lean


@lean
def scatter(weights, sums, squares, i, j):
    """Return the sum of squared distances to their mean of the points i to j - 1, from sums over the first ones."""
    weight, total = weights[j] - weights[i], sums[j] - sums[i]
    return max(squares[j] - squares[i] - total * total / weight, 0.0)


@kept
def add_cluster(weights, sums, squares, before, after, cuts):
    """Write the least objective of the first j points with one cluster more, and where its last cluster begins.

    The best beginning never falls as j grows, so it is found for the middle j first, and the halves are left with the
    beginnings on their side. O(n log n).
    """
    n = before.size - 1
    stack = np.empty((128, 4), np.int64)
    stack[0] = (1, n, 0, n - 1)
    depth = 1
    while depth > 0:
        depth -= 1
        low, high, first, last = stack[depth]
        if low > high:
            continue
        middle = (low + high) // 2
        best, cut = np.inf, first
        for i in range(first, min(last, middle - 1) + 1):
            value = before[i] + scatter(weights, sums, squares, i, middle)
            if value < best:
                best, cut = value, i
        after[middle], cuts[middle] = best, cut
        stack[depth] = (low, middle - 1, first, cut)
        stack[depth + 1] = (middle + 1, high, cut, last)
        depth += 2
