"""The k smallest of a stream of numbers; of equal ones those with the lower index.

They are kept in a heap: entry 0 is the last in the order "smaller distance first, then lower index", and no entry comes
before its children ``2 i + 1`` and ``2 i + 2``. An empty place holds infinity and ``EMPTY`` and comes after everything.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept

EMPTY = np.iinfo(np.int64).max


@kept
def comes_before(a, i, b, j):
    """Return whether distance ``a`` of index ``i`` comes before ``b`` of ``j``."""
    return a < b or (a == b and i < j)


@kept
def sink(distances, indices, size, distance, index):
    """Put an entry at the top of the first ``size`` places and let it sink to where it belongs. O(log size)."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and comes_before(distances[child], indices[child], distances[right], indices[right]):
            child = right
        if comes_before(distances[child], indices[child], distance, index):
            break
        distances[place] = distances[child]
        indices[place] = indices[child]
        place = child
    distances[place] = distance
    indices[place] = index


@kept
def keep_smallest(distances, indices, distance, index):
    """Replace the last entry of a full heap if the new one comes before it. O(log k)."""
    if comes_before(distance, index, distances[0], indices[0]):
        sink(distances, indices, distances.size, distance, index)


@kept
def insert_in_order(distances, indices, distance, index):
    """Put an entry in its place among ascending ones; the last goes. O(k), and quicker than a heap for small k."""
    place = distances.size - 1
    while place > 0 and comes_before(distance, index, distances[place - 1], indices[place - 1]):
        distances[place] = distances[place - 1]
        indices[place] = indices[place - 1]
        place -= 1
    distances[place] = distance
    indices[place] = index


@kept
def sort_heap(distances, indices):
    """Turn a heap into ascending order, in place. O(k log k)."""
    for last in range(distances.size - 1, 0, -1):
        top_distance, top_index = distances[0], indices[0]
        sink(distances, indices, last, distances[last], indices[last])
        distances[last], indices[last] = top_distance, top_index


@kept
def sort_heaps(distances, indices):
    """Sort each row, in place. O(n k log k)."""
    for row in range(distances.shape[0]):
        sort_heap(distances[row], indices[row])


@kept
def keep_smallest_of_rows(table, first, excluded, distances, indices):
    """Offer column ``j`` of each row of ``table`` to the row's heap as index ``first + j``; nan counts as infinity.

    ``excluded[row]`` is an index not to be kept, or -1. O(n m) for n rows of m columns, and O(log k) per entry kept.
    """
    for row in range(table.shape[0]):
        d, i = distances[row], indices[row]
        for j in range(table.shape[1]):
            value = table[row, j]
            if value > d[0] or first + j == excluded[row]:
                continue
            keep_smallest(d, i, value if value == value else np.inf, first + j)
