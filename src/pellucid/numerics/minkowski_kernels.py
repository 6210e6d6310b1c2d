r"""Minkowski distances before their root, from differences, with the features in order.

The sum :math:`\sum_j |q_j - x_j|^p` (the largest term for :math:`p = \infty`) is taken in float64, in the order of the
features and without fused operations, so every caller gets the same bits for the same pair of rows, and equal distances
are equal. Loops run over rows for each feature: that keeps the order of the sums, and several rows are taken at once.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept

REORDER = {"reassoc", "contract", "nsz"}
"""Lets a sum be vectorized; on 784 features that takes a fifth of the time (``make bench FAMILY=neighbors``, MNIST)."""


@kept
def term(difference, p):
    """Return ``|difference|^p`` for finite ``p``."""
    if p == 2.0:
        return difference * difference
    if p == 1.0:
        return abs(difference)
    return abs(difference) ** p


@kept
def distances_to_columns(columns, start, stop, query, p, out):
    """Write to ``out`` the distances of the query to the points ``start:stop`` of ``columns``, features first."""
    count, done = stop - start, 0
    if p == 2.0 and query.size >= 4:  # four features in one go: out is written once, and not after each
        a, b, c, d = query[0], query[1], query[2], query[3]
        first, second = columns[0, start:stop], columns[1, start:stop]
        third, fourth = columns[2, start:stop], columns[3, start:stop]
        for i in range(count):
            s, t, u, v = a - first[i], b - second[i], c - third[i], d - fourth[i]
            out[i] = ((s * s + t * t) + u * u) + v * v
        done = 4
    else:
        out[:count] = 0.0
    for j in range(done, query.size):
        column, value = columns[j, start:stop], query[j]
        if p == 2.0:
            for i in range(count):
                difference = value - column[i]
                out[i] += difference * difference
        elif p == 1.0:
            for i in range(count):
                out[i] += abs(value - column[i])
        elif p == np.inf:
            for i in range(count):
                out[i] = max(out[i], abs(value - column[i]))
        else:
            for i in range(count):
                out[i] += abs(value - column[i]) ** p


@kept(fastmath=REORDER)
def squared_distance_in_any_order(x, query):
    """Return the squared distance of two rows, summed in whatever order is fastest."""
    total = 0.0
    for j in range(query.size):
        difference = query[j] - x[j]
        total += difference * difference
    return total


@kept
def squared_distance(x, query):
    """Return the squared distance of two rows."""
    total = 0.0
    for j in range(query.size):
        difference = query[j] - x[j]
        total += difference * difference
    return total


@kept
def squared_distance_of_sparse_rows(x_places, x_values, q_places, q_values):
    """Return the squared distance of two sparse rows with ascending places: the dense sum without its zeros."""
    total, a, b = 0.0, 0, 0
    while a < x_places.size or b < q_places.size:
        if b == q_places.size or (a < x_places.size and x_places[a] < q_places[b]):
            difference = x_values[a]
            a += 1
        elif a == x_places.size or q_places[b] < x_places[a]:
            difference = np.float64(q_values[b])
            b += 1
        else:
            difference = q_values[b] - x_values[a]
            a += 1
            b += 1
        total += difference * difference
    return total
