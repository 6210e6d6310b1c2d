"""Building and searching a balanced kd-tree. Node ``i`` has the children ``2 i + 1`` and ``2 i + 2``."""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.numerics.compiling_kernels import kept
from pellucid.numerics.minkowski_kernels import distances_to_columns, term
from pellucid.numerics.top_k_kernels import comes_before, insert_in_order, keep_smallest, sort_heap

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
