"""Sums over listed pairs. Arguments are arrays and scalars that the caller has checked."""

from __future__ import annotations

from typing import Any

from pellucid.numerics.compiling_kernels import kept


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
