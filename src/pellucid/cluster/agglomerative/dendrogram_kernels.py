"""From merges of named clusters to the nodes of a tree. Arguments are arrays that the caller has checked."""

# mypy: allow-untyped-defs

from pellucid.numerics.compiling_kernels import lean_and_kept


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
