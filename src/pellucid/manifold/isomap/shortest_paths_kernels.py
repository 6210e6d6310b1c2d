"""Lengths of shortest paths from several sources at once, by correcting them until none can be shortened.

The sources of one call stand next to each other, so that an order of the nodes that is right for one is nearly right
for all, and the loop over them is vectorized. The graph is in compressed rows, every link there in both directions.
"""

# mypy: allow-untyped-defs

from pellucid.solvers.compiling_kernels import lean, lean_and_kept, lean_in_any_order


@lean
def links_first(ends, linked, start, order, is_seen):
    """Write the nodes into ``order`` by the number of links from ``start``; stop when ``order`` is full.

    ``is_seen`` is 0 for the nodes that count, and 1 again where they were found. Returns how many were.
    """
    order[0] = start
    is_seen[start] = 1
    n_found, k = 1, 0
    while k < n_found and n_found < order.shape[0]:
        node = order[k]
        for e in range(ends[node], ends[node + 1]):
            other = linked[e]
            if is_seen[other] == 0 and n_found < order.shape[0]:
                is_seen[other] = 1
                order[n_found] = other
                n_found += 1
        k += 1
    return n_found


@lean_and_kept
def group_neighbors(ends, linked, turns, groups, sizes, is_seen):
    """Write the nodes into ``groups`` (n_groups, size), near ones together, and return how many groups there are.

    A group is the first node of ``turns`` that is in none yet, and those that the fewest links lead to.
    """
    n_groups = 0
    for t in range(turns.shape[0]):
        if is_seen[turns[t]] == 0:
            sizes[n_groups] = links_first(ends, linked, turns[t], groups[n_groups], is_seen)
            n_groups += 1
    return n_groups


@lean_in_any_order
def shorten(paths, node, other, length):
    """Shorten the paths to ``other`` by way of ``node``; return whether one was."""
    gain = 0.0
    for s in range(paths.shape[1]):
        longer, known = paths[node, s] + length, paths[other, s]
        gain = 1.0 if longer < known else gain
        paths[other, s] = longer if longer < known else known
    return gain > 0.0


@lean_and_kept
def correct_paths(ends, linked, lengths, order, paths, is_waiting):
    """Shorten ``paths`` (n_nodes, n_sources) until no link can shorten one, going through the nodes in this order.

    A node waits from when a path to it was shortened until the links from it were tried; at the start the sources wait.
    """
    n_waiting = 0
    for k in range(order.shape[0]):
        n_waiting += is_waiting[order[k]]
    while n_waiting > 0:
        for k in range(order.shape[0]):
            node = order[k]
            if is_waiting[node] == 0:
                continue
            is_waiting[node] = 0
            n_waiting -= 1
            for e in range(ends[node], ends[node + 1]):
                other = linked[e]
                if shorten(paths, node, other, lengths[e]) and is_waiting[other] == 0:
                    is_waiting[other] = 1
                    n_waiting += 1
