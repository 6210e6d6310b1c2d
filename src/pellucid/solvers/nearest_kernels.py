"""The k smallest of a stream of numbers; of equal ones those with the lower index.

They are kept in a heap: entry 0 is the last in the order "smaller distance first, then lower index", and no entry comes
before its children ``2 i + 1`` and ``2 i + 2``. An empty place holds infinity and ``EMPTY`` and comes after everything.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.solvers.compiling_kernels import kept

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


# Minkowski distances before their root, from differences, with the features in order.
#
# The sum :math:`\sum_j |q_j - x_j|^p` (the largest term for :math:`p = \infty`) is taken in float64, in the order of
# the features and without fused operations, so every caller gets the same bits for the same pair of rows, and equal
# distances are equal. Loops run over rows for each feature: that keeps the order of the sums, and several rows are
# taken at once.


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


SHORT = 24
"""Neighbors up to which they are kept in order, not in a heap."""


@kept
def split_at(values, order, start, stop, middle):
    """Reorder ``order[start:stop]`` until no row before ``middle`` comes after one behind it. O(stop - start) expected.

    Rows are compared by their value and, where values are equal, by their number.
    """
    low, high = start, stop - 1
    while low < high:
        pivot = order[(low + high) // 2]
        pivot_value = values[pivot]
        i, j = low, high
        while i <= j:
            while comes_before(values[order[i]], order[i], pivot_value, pivot):
                i += 1
            while comes_before(pivot_value, pivot, values[order[j]], order[j]):
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kept
def build(columns, root, levels, order, ends, lower, upper, axes):
    """Fill ``levels`` levels below and with ``root``: rows in tree order, ends of each node, its box, what it splits.

    ``columns`` is (n_features, n_rows) and ``ends[root]`` is there before. O(n_features n_rows levels).
    """
    for level in range(levels):
        for node in range((root + 1) * 2**level - 1, (root + 2) * 2**level - 1):
            build_node(columns, node, order, ends, lower, upper, axes)


@kept
def build_node(columns, node, order, ends, lower, upper, axes):
    """Find the box of a node and, unless it is a leaf, halve its rows. O(n_features) per row."""
    start, stop = ends[node, 0], ends[node, 1]
    widest = 0
    for j in range(columns.shape[0]):
        column = columns[j]
        least = most = column[order[start]]
        for place in range(start + 1, stop):
            value = column[order[place]]
            least = min(least, value)
            most = max(most, value)
        lower[node, j], upper[node, j] = least, most
        if most - least > upper[node, widest] - lower[node, widest]:
            widest = j
    axes[node] = -1
    if node < ends.shape[0] // 2:
        axes[node] = widest
        middle = start + (stop - start) // 2
        split_at(columns[widest], order, start, stop, middle)
        ends[2 * node + 1, 0], ends[2 * node + 1, 1] = start, middle
        ends[2 * node + 2, 0], ends[2 * node + 2, 1] = middle, stop


@kept
def box_distance(lower, upper, query, p):
    """Return the distance of the query to the nearest point of a box.

    Each rounded operation is monotone, so for p = 1, 2 and infinity this never exceeds the distance, rounded too, of a
    point in the box.
    """
    total = 0.0
    if p == 2.0:  # by far the most frequent, and without a branch that nobody can predict
        for j in range(query.size):
            below, above = lower[j] - query[j], query[j] - upper[j]
            gap = below if below > above else above
            gap = gap if gap > 0.0 else 0.0
            total += gap * gap
        return total
    for j in range(query.size):
        gap = max(lower[j] - query[j], query[j] - upper[j], 0.0)
        if p == np.inf:
            total = max(total, gap)
        elif gap > 0.0:
            total += term(gap, p)
    return total


@kept
def search(columns, order, ends, lower, upper, queries, turns, excluded, p, slack, distances, indices, visited):
    """Find the nearest rows of the queries in ``turns``; count in ``visited`` the nodes that were looked into.

    Rows of ``distances`` and ``indices`` come in as empty heaps and go out in ascending order. A node is passed over
    if ``slack`` times the distance of its box is above that of the k-th row found so far; at equality it may hold a row
    with a lower index. The nearer child is searched first.
    """
    n_nodes = ends.shape[0]
    n_inner = n_nodes // 2
    nodes, bounds = np.empty(64, np.int64), np.empty(64)
    widest = 0
    for node in range(n_inner, n_nodes):
        widest = max(widest, ends[node, 1] - ends[node, 0])
    gaps = np.empty(widest)
    last = distances.shape[1] - 1
    place = last if last < SHORT else 0  # of the k-th row found so far: a few are kept in order, many in a heap
    for row in turns:
        query, near, who = queries[row], distances[row], indices[row]
        nodes[0], bounds[0], waiting, looked_into = 0, 0.0, 1, 0
        worst, left_out = near[place], excluded[row]
        while waiting:
            waiting -= 1
            node, bound = nodes[waiting], bounds[waiting]
            while bound <= worst:
                looked_into += 1
                if node >= n_inner:
                    start, stop = ends[node, 0], ends[node, 1]
                    distances_to_columns(columns, start, stop, query, p, gaps)
                    for i in range(stop - start):
                        if gaps[i] <= worst and order[start + i] != left_out:
                            index = order[start + i]
                            if place < last:
                                keep_smallest(near, who, gaps[i], index)
                            elif comes_before(gaps[i], index, worst, who[place]):
                                insert_in_order(near, who, gaps[i], index)
                            worst = near[place]
                    break
                node, other = 2 * node + 1, 2 * node + 2
                bound = slack * box_distance(lower[node], upper[node], query, p)
                further = slack * box_distance(lower[other], upper[other], query, p)
                if further < bound:
                    node, other, bound, further = other, node, further, bound
                if further <= worst:
                    nodes[waiting], bounds[waiting] = other, further
                    waiting += 1
        visited[row] = looked_into
        if place < last:
            sort_heap(near, who)


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
