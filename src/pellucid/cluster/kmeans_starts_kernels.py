"""Passes over all rows for the starts of k-means.

``nearest[i]`` is the squared distance of row i to the nearest center so far, ``owner[i]`` which one that is, and
``gaps[l, k]`` the squared distance of candidate l to center k. A candidate at least twice as far from the owner as the
row is cannot be nearer to the row, so the row is not read.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.nearest_centers_kernels import squared_distance
from pellucid.cluster.sparse_centers_kernels import sparse_squared_distance
from pellucid.numerics.compiling_kernels import kept, lean_in_any_order

AT_ONCE = 4
"""Candidates that are measured together: a row is read once for all."""


@lean_in_any_order
def four_squared_distances(X, i, candidates, k, found):
    """Write the squared distances of a row to four candidates in a row."""
    a = b = c = d = 0.0
    for j in range(X.shape[1]):
        value = X[i, j]
        to_a, to_b = value - candidates[k, j], value - candidates[k + 1, j]
        to_c, to_d = value - candidates[k + 2, j], value - candidates[k + 3, j]
        a += to_a * to_a
        b += to_b * to_b
        c += to_c * to_c
        d += to_d * to_d
    found[k], found[k + 1], found[k + 2], found[k + 3] = a, b, c, d


@kept
def gains_of(X, first, stop, weight, candidates, gaps, owner, nearest):
    """Return how much each candidate would take off the sum of squared distances to the nearest center."""
    n_candidates = candidates.shape[0]
    gains, distances = np.zeros(n_candidates), np.empty(n_candidates)
    for i in range(first, stop):
        reach, who, near = 4.0 * nearest[i], owner[i], 0
        for k in range(n_candidates):
            near += gaps[k, who] < reach
        if near == 0:
            continue
        done = 0
        if near > 2:
            done = n_candidates - n_candidates % AT_ONCE
            for k in range(0, done, AT_ONCE):
                four_squared_distances(X, i, candidates, k, distances)
        for k in range(done, n_candidates):
            distances[k] = squared_distance(X, i, candidates, k) if gaps[k, who] < reach else np.inf
        w = weight[i] if weight.size > 0 else 1.0
        for k in range(n_candidates):
            gains[k] += w * max(nearest[i] - distances[k], 0.0)
    return gains


@kept
def add_center(X, first, stop, weight, center, gaps, number, owner, nearest, bucket, heights):
    """Lower the distances to the nearest center where a new one, the only row of ``center``, is nearer.

    Adds to ``heights``, for each bucket of rows, the weighted sum of the distances.
    """
    for i in range(first, stop):
        if gaps[0, owner[i]] < 4.0 * nearest[i]:
            distance = squared_distance(X, i, center, 0)
            if distance < nearest[i]:
                nearest[i], owner[i] = distance, number
        heights[bucket[i]] += nearest[i] * (weight[i] if weight.size > 0 else 1.0)


@kept
def sparse_gains_of(values, columns, ends, first, stop, weight, candidates, sizes, gaps, owner, nearest):
    """Do what ``gains_of`` does for dense rows."""
    gains = np.zeros(candidates.shape[0])
    for i in range(first, stop):
        w = weight[i] if weight.size > 0 else 1.0
        for k in range(candidates.shape[0]):
            if gaps[k, owner[i]] < 4.0 * nearest[i]:
                distance = sparse_squared_distance(values, columns, ends, i, candidates, k, sizes)
                gains[k] += w * max(nearest[i] - distance, 0.0)
    return gains


@kept
def add_sparse_center(
    values, columns, ends, first, stop, weight, center, sizes, gaps, number, owner, nearest, bucket, heights
):
    """Do what ``add_center`` does for dense rows."""
    for i in range(first, stop):
        if gaps[0, owner[i]] < 4.0 * nearest[i]:
            distance = sparse_squared_distance(values, columns, ends, i, center, 0, sizes)
            if distance < nearest[i]:
                nearest[i], owner[i] = distance, number
        heights[bucket[i]] += nearest[i] * (weight[i] if weight.size > 0 else 1.0)
