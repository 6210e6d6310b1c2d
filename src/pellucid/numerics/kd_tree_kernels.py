"""Building and searching a balanced kd-tree. Node ``i`` has the children ``2 i + 1`` and ``2 i + 2``."""

# mypy: allow-untyped-defs

import numpy as np
from numba import njit

from pellucid.numerics.minkowski_kernels import distances_to_columns, term
from pellucid.numerics.top_k_kernels import comes_before, keep_smallest, sort_heap


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def build(columns, depth, order, ends, lower, upper, axes):
    """Fill the tree: rows in tree order, the ends of each node, the box around its rows, the feature it splits.

    ``columns`` is (n_features, n_rows) and ``ends[0]`` comes in as (0, n_rows). O(n_features n_rows depth).
    """
    n_features = columns.shape[0]
    n_inner = 2**depth - 1
    for node in range(ends.shape[0]):
        start, stop = ends[node, 0], ends[node, 1]
        widest = 0
        for j in range(n_features):
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
        if node < n_inner:
            axes[node] = widest
            middle = start + (stop - start) // 2
            split_at(columns[widest], order, start, stop, middle)
            ends[2 * node + 1, 0], ends[2 * node + 1, 1] = start, middle
            ends[2 * node + 2, 0], ends[2 * node + 2, 1] = middle, stop


@njit(cache=True, nogil=True, error_model="numpy")
def box_distance(lower, upper, query, p):
    """Return the distance of the query to the nearest point of a box.

    Each rounded operation is monotone, so for p = 1, 2 and infinity this never exceeds the distance, rounded too, of a
    point in the box.
    """
    total = 0.0
    for j in range(query.size):
        gap = max(lower[j] - query[j], query[j] - upper[j], 0.0)
        if p == np.inf:
            total = max(total, gap)
        elif gap > 0.0:
            total += term(gap, p)
    return total


@njit(cache=True, nogil=True, error_model="numpy")
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
    for row in turns:
        query, near, who = queries[row], distances[row], indices[row]
        nodes[0], bounds[0], waiting = 0, 0.0, 1
        while waiting:
            waiting -= 1
            node = nodes[waiting]
            if bounds[waiting] > near[0]:
                continue
            visited[row] += 1
            if node < n_inner:
                left, right = 2 * node + 1, 2 * node + 2
                to_left = slack * box_distance(lower[left], upper[left], query, p)
                to_right = slack * box_distance(lower[right], upper[right], query, p)
                if to_right < to_left:
                    left, right, to_left, to_right = right, left, to_right, to_left
                nodes[waiting], bounds[waiting] = right, to_right
                nodes[waiting + 1], bounds[waiting + 1] = left, to_left  # on top: it is next
                waiting += 2
                continue
            start, stop = ends[node, 0], ends[node, 1]
            distances_to_columns(columns, start, stop, query, p, gaps)
            for i in range(stop - start):
                if gaps[i] <= near[0] and order[start + i] != excluded[row]:
                    keep_smallest(near, who, gaps[i], order[start + i])
        sort_heap(near, who)
