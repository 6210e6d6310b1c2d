"""Merges of neighbors: a heap of the edges between clusters. Arguments are arrays that the caller has checked.

Edges are numbered in the order in which they come up, and never removed: one is dead when one of its ends has merged.
The edges of a node are a linked list: entry 2 e is edge e in the list of its first end, 2 e + 1 in that of its second.
"""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import lean, lean_and_kept

COMPLETE, AVERAGE, WARD = 0, 1, 2
N_EDGES, HEAP_SIZE, DONE = 0, 1, 2
"""Places of the counters."""


@lean
def comes_before(a, b, gaps, ends, names):
    """Return whether an edge is shorter than another, or as long with lower names of its clusters."""
    if gaps[a] != gaps[b]:
        return gaps[a] < gaps[b]
    one, other = names[ends[a, 0]], names[ends[a, 1]]
    third, fourth = names[ends[b, 0]], names[ends[b, 1]]
    low, high = min(one, other), max(one, other)
    return low < min(third, fourth) or (low == min(third, fourth) and high < max(third, fourth))


@lean
def add_edge(first, second, gap, gaps, ends, names, following, heads, heap, counters):
    """Add an edge to the lists of its ends and to the heap. O(log n)."""
    e = counters[N_EDGES]
    counters[N_EDGES] += 1
    gaps[e], ends[e, 0], ends[e, 1] = gap, first, second
    following[2 * e], heads[first] = heads[first], 2 * e
    following[2 * e + 1], heads[second] = heads[second], 2 * e + 1
    k = counters[HEAP_SIZE]
    counters[HEAP_SIZE] += 1
    while k > 0 and comes_before(e, heap[(k - 1) // 2], gaps, ends, names):
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = e


@lean
def drop_first(gaps, ends, names, heap, counters):
    """Take the first edge off the heap. O(log n)."""
    counters[HEAP_SIZE] -= 1
    size = counters[HEAP_SIZE]
    e, k = heap[size], 0
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and comes_before(heap[child + 1], heap[child], gaps, ends, names):
            child += 1
        if not comes_before(heap[child], e, gaps, ends, names):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = e


@lean
def half_ward(sums, sizes, a, b):
    """Return half the squared height at which two clusters would merge. O(p)."""
    total = 0.0
    for j in range(sums.shape[1]):
        gap = sizes[b] * sums[a, j] - sizes[a] * sums[b, j]
        total += gap * gap
    return total / ((sizes[a] * sizes[b]) * (sizes[a] + sizes[b]))


@lean
def find_neighbors(i, j, new, linkage, sizes, gaps, ends, following, heads, marks, values, around):
    """Write who is a neighbor of either of two clusters and how far from both together; return how many there are."""
    count = 0
    for side in range(2):
        entry = heads[j if side else i]
        while entry >= 0:
            e = entry // 2
            other = ends[e, 1 - entry % 2]
            entry = following[entry]
            if sizes[other] <= 0.0 or other in (i, j):
                continue
            if marks[other] != new:
                marks[other], values[other], around[count] = new, gaps[e], other
                count += 1
            elif linkage == AVERAGE:
                values[other] = (sizes[i] * values[other] + sizes[j] * gaps[e]) / (sizes[i] + sizes[j])
            else:
                values[other] = max(values[other], gaps[e])
    return count


@lean_and_kept
def merge_neighbors(
    edges, lengths, linkage, sums, sizes, names, gaps, ends, following, heads, marks, values, around, heap,
    counters, children, heights,
):  # fmt: skip
    """Merge until all merges are done, or the arrays of edges might be too short for the next. O(m log m) for m edges.

    Sizes of clusters that have merged are negative. The counters say how far it is; the first call adds ``edges``.
    """
    n = sizes.size - (sizes.size - 1) // 2
    if counters[N_EDGES] == 0:
        for e in range(lengths.size):
            gap = half_ward(sums, sizes, edges[e, 0], edges[e, 1]) if linkage == WARD else lengths[e]
            add_edge(edges[e, 0], edges[e, 1], gap, gaps, ends, names, following, heads, heap, counters)
    while counters[DONE] < heights.size and counters[N_EDGES] + n <= gaps.size:
        e = heap[0]
        i, j = ends[e, 0], ends[e, 1]
        drop_first(gaps, ends, names, heap, counters)
        if sizes[i] <= 0.0 or sizes[j] <= 0.0:
            continue
        done = counters[DONE]
        new = n + done
        children[done, 0], children[done, 1], heights[done] = min(i, j), max(i, j), gaps[e]
        count = find_neighbors(i, j, new, linkage, sizes, gaps, ends, following, heads, marks, values, around)
        names[new], sizes[new] = max(names[i], names[j]), sizes[i] + sizes[j]
        for k in range(sums.shape[1]):
            sums[new, k] = sums[i, k] + sums[j, k]
        sizes[i], sizes[j] = -sizes[i], -sizes[j]
        for k in range(count):
            other = around[k]
            gap = half_ward(sums, sizes, new, other) if linkage == WARD else values[other]
            add_edge(new, other, gap, gaps, ends, names, following, heads, heap, counters)
        counters[DONE] += 1
