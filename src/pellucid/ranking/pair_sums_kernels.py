"""Sums over the rows that each row is compared with. Arguments are arrays and scalars that the caller has checked."""

from __future__ import annotations

from typing import Any

from pellucid.solvers.compiling_kernels import kept


@kept
def window_pass(
    order: Any,
    starts: Any,
    levels: Any,
    f: Any,
    rank: Any,
    weight: Any,
    V: Any,
    low: float,
    high: float,
    tree: Any,
    out: Any,
) -> None:
    """Write ``out[i] = sum weight[j] V[j]`` over rows of lower rank in its query with ``low <= f[i] - f[j] < high``.

    ``order`` sorts the rows by query, then by ``f``; query ``q`` is ``order[starts[q]:starts[q + 1]]`` and has
    ``levels[q]`` ranks. ``tree`` is room for sums by rank (Fenwick), of ``max(levels) + 1`` rows.
    O(n log(levels) k) for ``k`` columns of ``V``.
    """
    k = V.shape[1]
    for q in range(len(levels)):
        first, last, top = starts[q], starts[q + 1], levels[q]
        tree[: top + 1] = 0.0
        head = tail = last - 1
        for at in range(last - 1, first - 1, -1):
            i = order[at]
            while head >= first and f[order[head]] > f[i] - high:
                add_row(tree, top, rank[order[head]], weight[order[head]], V[order[head]])
                head -= 1
            while tail > head and f[order[tail]] > f[i] - low:
                add_row(tree, top, rank[order[tail]], -weight[order[tail]], V[order[tail]])
                tail -= 1
            for c in range(k):
                out[i, c] = 0.0
            node = rank[i]
            while node > 0:
                for c in range(k):
                    out[i, c] += tree[node, c]
                node -= node & -node


@kept
def add_row(tree: Any, top: int, rank: int, weight: float, row: Any) -> None:
    """Add ``weight * row`` to the sums that hold this rank. O(log(top) k)."""
    node = rank + 1
    while node <= top:
        for c in range(len(row)):
            tree[node, c] += weight * row[c]
        node += node & -node


@kept
def list_pairs(order: Any, starts: Any, rank: Any, listed: Any) -> int:
    """Write the better and the worse row of each pair, as far as there is room; return how many there are. O(n size).

    Query ``q`` is ``order[starts[q]:starts[q + 1]]``; the better row of a pair has the higher rank.
    """
    count = 0
    for q in range(len(starts) - 1):
        for a in range(starts[q], starts[q + 1]):
            for b in range(starts[q], starts[q + 1]):
                if rank[order[a]] > rank[order[b]]:
                    if count < len(listed):
                        listed[count, 0], listed[count, 1] = order[a], order[b]
                    count += 1
    return count


@kept
def listed_window_pass(
    listed: Any, f: Any, weight: Any, V: Any, low: float, high: float, worse: Any, better: Any
) -> None:
    """Add ``weight[j] V[j]`` to ``worse[i]`` and ``weight[i] V[i]`` to ``better[j]``. O(pairs k) for ``k`` columns.

    Only pairs ``(i, j)`` with ``low <= f[i] - f[j] < high`` count.
    """
    for t in range(len(listed)):
        i, j = listed[t, 0], listed[t, 1]
        if low <= f[i] - f[j] < high:
            for c in range(V.shape[1]):
                worse[i, c] += weight[j] * V[j, c]
                better[j, c] += weight[i] * V[i, c]
