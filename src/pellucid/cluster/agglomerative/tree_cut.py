"""Which nodes of a tree are its clusters, and how they are numbered."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush, heappushpop


def cut_nodes(children: Sequence[Sequence[int]], n_leaves: int, n_clusters: int) -> list[int]:
    """Return the nodes that are clusters when the last merges are undone, in the order in which they are numbered.

    The order is scikit-learn's: that of a heap from which the node that merged last is taken, its two parts put back.
    """
    heap = [-(n_leaves + len(children) - 1)]
    for _ in range(n_clusters - 1):
        left, right = children[-heap[0] - n_leaves]
        heappush(heap, -int(left))
        heappushpop(heap, -int(right))
    return [-node for node in heap]
