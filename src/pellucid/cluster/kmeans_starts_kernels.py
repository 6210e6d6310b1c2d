"""Passes over all rows for the starts of k-means. O(n p) for each candidate."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.nearest_centers_kernels import squared_distance
from pellucid.cluster.sparse_centers_kernels import sparse_squared_distance
from pellucid.numerics.compiling_kernels import kept, lean_in_any_order

AT_ONCE = 4
"""Candidates that are measured together: a row is read once for all."""


@lean_in_any_order
def four_squared_distances(X, i, candidates, k):
    """Return the squared distances of a row to four candidates in a row."""
    a = b = c = d = 0.0
    for j in range(X.shape[1]):
        value = X[i, j]
        to_a, to_b = value - candidates[k, j], value - candidates[k + 1, j]
        to_c, to_d = value - candidates[k + 2, j], value - candidates[k + 3, j]
        a += to_a * to_a
        b += to_b * to_b
        c += to_c * to_c
        d += to_d * to_d
    return a, b, c, d


@kept
def objectives_with(X, first, stop, weight, candidates, nearest):
    """Return, for each candidate, the sum of squared distances to the nearest center if it becomes one."""
    found = np.zeros(candidates.shape[0])
    for i in range(first, stop):
        w = weight[i] if weight.size > 0 else 1.0
        for k in range(0, candidates.shape[0], AT_ONCE):
            for s, distance in enumerate(four_squared_distances(X, i, candidates, k)):
                found[k + s] += w * min(distance, nearest[i])
    return found


@kept
def add_center(X, first, stop, center, nearest):
    """Lower the squared distances to the nearest center where the new one, the only row of ``center``, is nearer."""
    for i in range(first, stop):
        nearest[i] = min(squared_distance(X, i, center, 0), nearest[i])


@kept
def sparse_objectives_with(values, columns, ends, first, stop, weight, candidates, sizes, nearest):
    """Do what ``objectives_with`` does for dense rows."""
    found = np.zeros(candidates.shape[0])
    for i in range(first, stop):
        w = weight[i] if weight.size > 0 else 1.0
        for k in range(candidates.shape[0]):
            distance = sparse_squared_distance(values, columns, ends, i, candidates, k, sizes)
            found[k] += w * min(distance, nearest[i])
    return found


@kept
def add_sparse_center(values, columns, ends, first, stop, center, sizes, nearest):
    """Do what ``add_center`` does for dense rows."""
    for i in range(first, stop):
        nearest[i] = min(sparse_squared_distance(values, columns, ends, i, center, 0, sizes), nearest[i])
