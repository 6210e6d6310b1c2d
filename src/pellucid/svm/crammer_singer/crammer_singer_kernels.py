"""The loss of one machine for all classes. Arguments are float64 arrays and scalars that the caller has checked."""

# mypy: allow-untyped-defs

import math

from pellucid.numerics.compiling_kernels import kept


@kept
def shares_level(v, k):
    """Return the level ``t`` at which ``max(v - t, 0)`` of the first ``k`` numbers adds up to 1. O(k), a few times."""
    top = -math.inf
    for a in range(k):
        top = max(top, v[a])
    level = top - 1.0
    while True:  # the numbers above the level decide the next, higher one
        above, count = 0.0, 0
        for a in range(k):
            if v[a] > level:
                above += v[a] - top
                count += 1
        higher = top + (above - 1.0) / count
        if higher <= level:
            return level
        level = higher


@kept
def largest_excess_pass(f, labels, cost, center, smoothing, shares):
    """Write the shares of the smoothed loss; return the loss, and by how much their excess falls short. O(n k).

    The excess of class ``k`` is ``r[k] = [k != y] + f[k] - f[y]``, and the shares are nearest to
    ``center + r / smoothing``.
    """
    value = missing = 0.0
    for i in range(f.shape[0]):
        y, row = labels[i], shares[i]
        largest = 0.0
        for k in range(f.shape[1]):
            row[k] = 1.0 + f[i, k] - f[i, y] if k != y else 0.0
            largest = max(largest, row[k])
        for k in range(f.shape[1]):  # less the largest, so that the shares keep their digits
            row[k] = center[i, k] + (row[k] - largest) / smoothing
        level = shares_level(row, f.shape[1])
        reached = 0.0
        for k in range(f.shape[1]):
            row[k] = max(row[k] - level, 0.0)
            if k != y and row[k] > 0.0:
                reached += row[k] * (1.0 + f[i, k] - f[i, y])
        value += cost[i] * largest
        missing += cost[i] * (largest - reached)
    return value, missing


@kept
def bend_pass(shares, curvature, slopes):
    """Return ``sum_i curvature_i |s_i - mean s_i|^2`` over the classes whose share is not 0. O(n k)."""
    total = 0.0
    for i in range(shares.shape[0]):
        count, mean, squares = 0, 0.0, 0.0
        for k in range(shares.shape[1]):
            if shares[i, k] > 0.0:
                count += 1
                mean += slopes[i, k]
        mean /= count
        for k in range(shares.shape[1]):
            if shares[i, k] > 0.0:
                squares += (slopes[i, k] - mean) ** 2
        total += curvature[i] * squares
    return total
