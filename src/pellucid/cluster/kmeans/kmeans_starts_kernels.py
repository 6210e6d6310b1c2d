"""Passes over all rows for the starts of k-means.

``nearest[i]`` is the squared distance of row i to the nearest center so far and ``owner[i]`` which one that is. A
candidate at least twice as far from the owner as the row is cannot be nearer to the row, so the row is not read:
``gaps[c, k]`` is the squared distance of center k to the nearest of the candidates 4 c to 4 c + 3.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.kmeans.nearest_centers_kernels import sparse_squared_distance, squared_distance
from pellucid.solvers.compiling_kernels import kept, lean, lean_and_kept, lean_in_any_order

AT_ONCE = 4
"""Candidates that are measured together: a row is read once for all."""
BLOCK_ROWS = 512
"""Rows that stay in the cache for the next candidates."""


@lean_in_any_order
def four_gains(X, first, stop, weight, candidates, c, gaps, owner, nearest, helps, gains):
    """Do what ``gains_of`` does for four candidates and rows that no other thread has."""
    gain_a = gain_b = gain_c = gain_d = 0.0
    for i in range(first, stop):
        now = nearest[i]
        if gaps[c // AT_ONCE, owner[i]] >= 4.0 * now:
            continue
        a = b = c2 = d = 0.0
        for j in range(X.shape[1]):
            value = X[i, j]
            to_a, to_b = value - candidates[c, j], value - candidates[c + 1, j]
            to_c, to_d = value - candidates[c + 2, j], value - candidates[c + 3, j]
            a += to_a * to_a
            b += to_b * to_b
            c2 += to_c * to_c
            d += to_d * to_d
        w = weight[i] if weight.size > 0 else 1.0
        gain_a += w * (now - a if a < now else 0.0)
        gain_b += w * (now - b if b < now else 0.0)
        gain_c += w * (now - c2 if c2 < now else 0.0)
        gain_d += w * (now - d if d < now else 0.0)
        helps[i] |= ((a < now) | ((b < now) << 1) | ((c2 < now) << 2) | ((d < now) << 3)) << c
    gains[c] += gain_a
    gains[c + 1] += gain_b
    gains[c + 2] += gain_c
    gains[c + 3] += gain_d


@lean_and_kept
def gains_of(X, first, stop, weight, candidates, gaps, owner, nearest, helps, gains):
    """Add how much each candidate would take off the sum of squared distances to the nearest center. O(n p l).

    Bit l of ``helps[i]`` says whether candidate l would be nearer to row i than any center is.
    """
    for start in range(first, stop, BLOCK_ROWS):
        end = min(start + BLOCK_ROWS, stop)
        for i in range(start, end):
            helps[i] = 0
        for c in range(0, candidates.shape[0], AT_ONCE):
            four_gains(X, start, end, weight, candidates, c, gaps, owner, nearest, helps, gains)


@lean_and_kept
def add_center(X, first, stop, weight, centers, number, bit, owner, nearest, helps, bucket, heights):
    """Lower the distances of the rows with this bit of ``helps`` to the nearest center: center ``number`` is new.

    ``heights`` get the weighted sums of the distances in each bucket of rows. They are summed anew each time: what
    rounding leaves of a row far away, once it is a center, would outweigh all others.
    """
    for i in range(first, stop):
        if helps[i] & bit:
            distance = squared_distance(X, i, centers, number)
            if distance < nearest[i]:
                nearest[i], owner[i] = distance, number
        heights[bucket[i]] += nearest[i] * (weight[i] if weight.size > 0 else 1.0)


@lean_and_kept
def sparse_gains_of(values, columns, ends, first, stop, weight, candidates, sizes, gaps, owner, nearest, helps, gains):
    """Do what ``gains_of`` does for dense rows."""
    for i in range(first, stop):
        helps[i] = 0
        w = weight[i] if weight.size > 0 else 1.0
        for c in range(candidates.shape[0]):
            if gaps[c // AT_ONCE, owner[i]] < 4.0 * nearest[i]:
                distance = sparse_squared_distance(values, columns, ends, i, candidates, c, sizes)
                if distance < nearest[i]:
                    gains[c] += w * (nearest[i] - distance)
                    helps[i] |= 1 << c


@lean_and_kept
def add_sparse_center(
    values, columns, ends, first, stop, weight, centers, sizes, number, bit, owner, nearest, helps, bucket, heights
):
    """Do what ``add_center`` does for dense rows."""
    for i in range(first, stop):
        if helps[i] & bit:
            distance = sparse_squared_distance(values, columns, ends, i, centers, number, sizes)
            if distance < nearest[i]:
                nearest[i], owner[i] = distance, number
        heights[bucket[i]] += nearest[i] * (weight[i] if weight.size > 0 else 1.0)


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
