"""From rough distances to exact nearest rows: what cannot be ruled out is measured, from differences."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept
from pellucid.numerics.minkowski_kernels import (
    distances_to_columns,
    squared_distance,
    squared_distance_in_any_order,
    squared_distance_of_sparse_rows,
)
from pellucid.numerics.top_k_kernels import keep_smallest

EPS = float(np.finfo(np.float64).eps)
UNDERFLOW = 1e-30
"""What underflowing products can add up to in float32, and more, for values that are near 1 where they are large."""
STRIP = 64
"""Rough distances looked at together: most strips hold nothing near and are passed over."""


@kept
def count_within(values, limit):
    """Return how many values are not above the limit; nan is not."""
    count = np.int32(0)  # as wide as a float32, so that a vector of one is a vector of the other
    for i in range(values.size):
        count = np.int32(count + np.int32(not values[i] > limit))
    return count


@kept
def ceiling(distance, shift, unit, grain):
    """Return the limit for rough values, ``unit distance - shift``, raised by more than rounding and underflow take."""
    limit = unit * distance - shift
    return limit + grain * abs(limit) + UNDERFLOW


@kept
def measure_dense(rough, X, first, queries, shifts, unit, grain, excluded, distances, indices):
    """Offer each row of ``X`` whose rough value is within reach of a query to its heap; return how many were not kept.

    ``rough[q, i]`` is at most ``unit`` times the squared distance of query q to row ``first + i``, less ``shifts[q]``.
    """
    wasted = 0
    loose = 1.0 + 4.0 * (X.shape[1] + 1) * EPS  # how far two orders of summation can differ, and more
    for q in range(rough.shape[0]):
        near, who, query = distances[q], indices[q], queries[q]
        limit = rough.dtype.type(ceiling(near[0], shifts[q], unit, grain))
        for start in range(0, rough.shape[1], STRIP):
            strip = rough[q, start : start + STRIP]
            if count_within(strip, limit) == 0:
                continue
            for i in range(strip.size):
                row = first + start + i
                if strip[i] > limit or row == excluded[q]:
                    continue
                if squared_distance_in_any_order(X[row], query) > loose * near[0]:
                    wasted += 1
                    continue
                keep_smallest(near, who, squared_distance(X[row], query), row)
                limit = rough.dtype.type(ceiling(near[0], shifts[q], unit, grain))
    return wasted


@kept
def measure_sparse(rough, x_ends, x_places, x_values, q_ends, q_places, q_values, excluded, distances, indices):
    """Offer each row whose rough value, at most its squared distance, is within reach of a query to the query's heap.

    Rows and queries are in compressed form (ends, places, values), with ascending places.
    """
    for q in range(rough.shape[0]):
        near, who = distances[q], indices[q]
        mine = slice(q_ends[q], q_ends[q + 1])
        for row in range(rough.shape[1]):
            if rough[q, row] > near[0] or row == excluded[q]:
                continue
            its = slice(x_ends[row], x_ends[row + 1])
            distance = squared_distance_of_sparse_rows(x_places[its], x_values[its], q_places[mine], q_values[mine])
            keep_smallest(near, who, distance, row)


@kept
def measure_columns(columns, first, queries, p, excluded, gaps, distances, indices):
    """Offer every point of ``columns`` (n_features, n_points) to the heap of each query; ``gaps`` is for scratch."""
    for q in range(queries.shape[0]):
        near, who = distances[q], indices[q]
        distances_to_columns(columns, 0, columns.shape[1], queries[q], p, gaps)
        for i in range(columns.shape[1]):
            if gaps[i] <= near[0] and first + i != excluded[q]:
                keep_smallest(near, who, gaps[i], first + i)
