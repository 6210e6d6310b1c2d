"""The minimum spanning tree of rows, by Prim's method, without a matrix of distances.

Distances are bounded from below in float32; what could be shorter is measured again in float64. Edges are ordered by
length, then by their first row, then by their second, so that the tree is one and the same whoever looks for it.
"""

# mypy: allow-untyped-defs

import numpy as np

from pellucid.cluster.agglomerative.chain_kernels import add_products
from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_in_any_order

STRIP = 512
"""Rows whose bounds are computed in one go: they stay in the nearest cache."""
FLOAT32_UNIT = 2.0**-24
LOOSE = 1.0 + 1e-6
UNDERFLOW = 1e-36


@lean
def squared_gap(X, a, b):
    """Return the squared distance of two rows, summed in order. O(p)."""
    total = 0.0
    for j in range(X.shape[1]):
        gap = X[a, j] - X[b, j]
        total += gap * gap
    return total


@lean
def comes_first(length, a, b, other, c, d):
    """Return whether edge (a, b) comes before edge (c, d) in the order of all edges."""
    if length != other:
        return length < other
    low, high = min(a, b), max(a, b)
    others_low, others_high = min(c, d), max(c, d)
    return low < others_low or (low == others_low and high < others_high)


@lean_in_any_order
def count_within(codes, norms, limits, query, own, bounds):
    """Write lower bounds of the squared distances of a strip of rows; return how many are within their limits. O(p)."""
    add_products(codes, norms, query, own, bounds)
    count = np.int32(0)
    for i in range(codes.shape[1]):
        count += np.int32(1) if bounds[i] <= limits[i] else np.int32(0)
    return count


@lean
def first_of_strip(lengths, ends, names, n):
    """Return the place of the row whose edge to the tree comes first in a strip. O(n)."""
    best = 0
    for i in range(1, n):
        if lengths[i] < lengths[best] or (
            lengths[i] == lengths[best]
            and comes_first(lengths[i], ends[i], names[i], lengths[best], ends[best], names[best])
        ):
            best = i
    return best


def grow_tree(X, centered, first_pool, second_pool, edges, lengths):
    """Write the edges of the minimum spanning tree and their squared lengths.

    With rows in one pool, edges are between any two of them; with rows in two, between one of each. ``centered`` is X
    with its middle near 0. O(n^2 p), or O(n m p) for pools of n and m rows; memory O(n p).
    """
    p, split = X.shape[1], (first_pool.size + STRIP - 1) // STRIP
    n_strips = split + (second_pool.size + STRIP - 1) // STRIP
    names, ends, best = (np.full((n_strips, STRIP), value) for value in (-1, -1, np.inf))
    codes, norms = np.zeros((n_strips, p, STRIP), np.float32), np.full((n_strips, STRIP), np.float32(np.inf))
    limits, bounds = np.full((n_strips, STRIP), np.float32(np.inf)), np.empty(STRIP, np.float32)
    strips = (names, codes, norms, limits, best, ends, np.zeros(n_strips, np.int64), np.zeros(n_strips, np.int64))
    follow_edges(X, centered, first_pool, second_pool, split, *strips, bounds, np.empty(p, np.float32), edges, lengths)


@lean_and_kept
def follow_edges(
    X, centered, first_pool, second_pool, split,
    names, codes, norms, limits, best, ends, filled, firsts, bounds, query, edges, lengths,
):  # fmt: skip
    """Add the row nearest to the tree until all are in it; ``split`` is the first strip of the second pool. O(n^2 p).

    A strip holds rows that are not in the tree: ``filled`` of them, their edges to it in ``best`` and ``ends``, and
    in ``firsts`` the place of the first of these edges.
    """
    p, n_strips = X.shape[1], names.shape[0]
    error = (2.0 * p + 32.0) * FLOAT32_UNIT
    for side in range(2):
        pool, start = (first_pool, 0) if side == 0 else (second_pool, split)
        for r in range(pool.size):
            k, i, norm = start + r // STRIP, r % STRIP, 0.0
            for j in range(p):
                codes[k, j, i] = centered[pool[r], j]
                norm += centered[pool[r], j] * centered[pool[r], j]
            names[k, i], norms[k, i], filled[k] = pool[r], (1.0 - error) * norm - UNDERFLOW, i + 1
    two_pools = second_pool.size > 0
    here, inside = 0, np.int64(0)
    for done in range(first_pool.size + second_pool.size):
        row, own = names[here, inside], norms[here, inside]
        if done > 0:
            edges[done - 1, 0], edges[done - 1, 1] = ends[here, inside], row
            lengths[done - 1] = best[here, inside]
        for j in range(p):
            query[j] = np.float32(-2.0) * codes[here, j, inside]
        last = filled[here] - 1  # the last row of the strip takes the place of the one that leaves
        for j in range(p):
            codes[here, j, inside] = codes[here, j, last]
        names[here, inside], norms[here, inside] = names[here, last], norms[here, last]
        limits[here, inside], best[here, inside] = limits[here, last], best[here, last]
        ends[here, inside] = ends[here, last]
        norms[here, last], filled[here] = np.inf, last
        limits[here, last], best[here, last] = -1.0, np.inf
        firsts[here] = first_of_strip(best[here], ends[here], names[here], last)
        begin, end = (split, n_strips) if two_pools and here < split else (0, split)
        for k in range(begin, end):
            if filled[k] == 0 or count_within(codes[k], norms[k], limits[k], query, own, bounds) == 0:
                continue
            for i in range(filled[k]):
                if bounds[i] <= limits[k, i]:
                    length = squared_gap(X, row, names[k, i])
                    if comes_first(length, row, names[k, i], best[k, i], ends[k, i], names[k, i]):
                        best[k, i], ends[k, i], limits[k, i] = length, row, LOOSE * length
            firsts[k] = first_of_strip(best[k], ends[k], names[k], filled[k])
        here = -1
        for k in range(n_strips):
            if filled[k] > 0 and (here < 0 or is_before(best, ends, names, firsts, k, here)):
                here = k
        inside = firsts[here]


@lean
def is_before(best, ends, names, firsts, k, other):
    """Return whether the first edge of one strip comes before that of another."""
    i, j = firsts[k], firsts[other]
    return best[k, i] < best[other, j] or (
        best[k, i] == best[other, j]
        and comes_first(best[k, i], ends[k, i], names[k, i], best[other, j], ends[other, j], names[other, j])
    )


def grow_tree_of_matrix(D, edges, lengths):
    """Write the edges of the minimum spanning tree of a matrix of distances, and their lengths. O(n^2)."""
    n = D.shape[0]
    follow_matrix_edges(D, np.arange(1, n), D[0, 1:].copy(), np.zeros(n - 1, np.int64), edges, lengths)


@lean_and_kept
def follow_matrix_edges(D, left, best, ends, edges, lengths):
    """Add the row nearest to the tree until none is ``left``; ``best`` and ``ends`` are their edges to it. O(n^2)."""
    n = D.shape[0]
    for done in range(n - 1):
        count, first = n - 1 - done, 0
        for i in range(1, count):
            if comes_first(best[i], ends[i], left[i], best[first], ends[first], left[first]):
                first = i
        row = left[first]
        edges[done, 0], edges[done, 1], lengths[done] = ends[first], row, best[first]
        left[first], best[first], ends[first] = left[count - 1], best[count - 1], ends[count - 1]
        for i in range(count - 1):
            if comes_first(D[row, left[i]], row, left[i], best[i], ends[i], left[i]):
                best[i], ends[i] = D[row, left[i]], row


@lean_and_kept
def lift_heights(merges, latest, heights, prior):
    """Find the merges that made the two clusters of each; rounding must not leave one below them. O(n).

    ``merges`` are names of clusters in an order in which each exists; ``latest`` is -1 everywhere at first.
    """
    for k in range(merges.shape[0]):
        for side in range(2):
            prior[k, side] = latest[merges[k, side]]
            if prior[k, side] >= 0:
                heights[k] = max(heights[k], heights[prior[k, side]])
        latest[merges[k, 1]] = k


@lean_and_kept
def join_nodes(merges, parents, nodes, children):
    """Write the nodes that each merge joins, the lower one first. O(n log n).

    ``parents`` and ``nodes`` are 0, 1, ..., n - 1 at first: a forest of rows, and the node of each root.
    """
    n = parents.size
    for k in range(merges.shape[0]):
        a, b = merges[k, 0], merges[k, 1]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        children[k, 0], children[k, 1] = min(nodes[a], nodes[b]), max(nodes[a], nodes[b])
        parents[a], nodes[b] = b, n + k


@lean_and_kept
def hand_down(children, labels):
    """Give every node below a labelled one its label; the others have -1. O(n)."""
    n_rows = labels.size - children.shape[0]
    for k in range(children.shape[0] - 1, -1, -1):
        if labels[n_rows + k] >= 0:
            labels[children[k, 0]] = labels[n_rows + k]
            labels[children[k, 1]] = labels[n_rows + k]


@lean_and_kept
def keep_tree_edges(edges, order, parents, is_kept):
    """Mark the edges that join two trees, taken in this order; ``parents`` are 0, 1, ... at first. O(n log n)."""
    for e in order:
        a, b = edges[e, 0], edges[e, 1]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        if a != b:
            parents[a] = b
            is_kept[e] = True
