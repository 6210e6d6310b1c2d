"""The k nearest rows of each of several queries, while they are being found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.core.threads import WORTH_SHARING, run_blocks, split_evenly, thread_count
from pellucid.core.types import Array


@dataclass(frozen=True)
class Nearest:
    """Distances and indices of shape (n_queries, k), and for each query an index that must not be found, or -1.

    A search fills the rows as the heaps of :mod:`pellucid.solvers.nearest_kernels` and ends with :meth:`sort`.
    """

    distances: Array
    indices: Array
    excluded: Array

    @classmethod
    def none_yet(cls, n_queries: int, k: int, excluded: Array | None = None) -> Self:
        """Return places for ``k`` rows per query that nothing has been found for."""
        from pellucid.solvers.nearest_kernels import EMPTY

        excluded = np.full(n_queries, -1, np.int64) if excluded is None else np.asarray(excluded, np.int64)
        return cls(np.full((n_queries, k), np.inf), np.full((n_queries, k), EMPTY, np.int64), excluded)

    def part(self, queries: slice) -> Nearest:
        """Return a view of some of the queries."""
        return Nearest(self.distances[queries], self.indices[queries], self.excluded[queries])

    def sort(self) -> None:
        """Put every row in order: smaller distance first, of equal ones the lower index."""
        from pellucid.solvers.nearest_kernels import sort_heaps

        sort_heaps(self.distances, self.indices)


QUERIES_AT_ONCE = 1024
"""Queries of one block of work: enough blocks keep all threads busy to the end."""

ORDER_BITS = 16
"""Bits of a place in the order of queries."""

ROUNDING_OF_POWERS = 1e-12
"""Relative error left to the library's power function, which need not be monotone; p = 1, 2 and infinity need none."""


@dataclass(frozen=True, eq=False)
class KDTree:
    """A balanced binary tree in which node ``i`` has the children ``2 i + 1`` and ``2 i + 2``.

    Every node halves its rows along the widest side of their box (of equal sides the first): ordered by that feature,
    and by row number where values are equal, the first ``size // 2`` rows go left.

    Examples
    --------
    >>> tree = KDTree.of(np.array([[0.0], [9.0], [1.0], [5.0]]), leaf_size=1)
    >>> tree.order.tolist(), tree.ends.tolist()
    ([0, 2, 3, 1], [[0, 4], [0, 2], [2, 4], [0, 1], [1, 2], [2, 3], [3, 4]])
    >>> tree.lower[1], tree.upper[1]
    (array([0.]), array([1.]))
    """

    columns: Array
    """The data in tree order, features first: (n_features, n_rows)."""
    order: Array
    """Number of the row at each place of the tree order."""
    ends: Array
    """First place of each node and the place after its last: (n_nodes, 2)."""
    lower: Array
    upper: Array
    """The smallest box around the rows of each node: (n_nodes, n_features)."""
    axes: Array
    """Feature that a node splits, -1 for a leaf."""

    @classmethod
    def of(cls, X: Array, leaf_size: int) -> Self:
        """Build the tree; leaves have at most ``leaf_size`` rows (a leaf size of 1 leaves some with 2)."""
        from pellucid.solvers.nearest_kernels import build

        n, n_features = X.shape
        depth = min(max(0, math.ceil(math.log2(n / leaf_size))), int(math.log2(n)))
        n_nodes = 2 ** (depth + 1) - 1
        columns, order = np.array(X.T, dtype=np.float64, order="C"), np.arange(n)
        ends, axes = np.zeros((n_nodes, 2), np.int64), np.empty(n_nodes, np.int64)
        lower, upper = np.empty((n_nodes, n_features)), np.empty((n_nodes, n_features))
        ends[0] = 0, n
        shared = thread_count().bit_length() if columns.size >= WORTH_SHARING else depth + 1
        top = min(shared, depth + 1)  # levels for one thread; then a thread for each node of the next level
        build(columns, 0, top, order, ends, lower, upper, axes)

        def work(root: int) -> None:
            build(columns, root, depth + 1 - top, order, ends, lower, upper, axes)

        run_blocks(work, range(2**top - 1, 2 ** (top + 1) - 1) if top <= depth else ())
        return cls(np.ascontiguousarray(columns[:, order]), order, ends, lower, upper, axes)

    @property
    def depth(self) -> int:
        """Number of splits from the root to a leaf."""
        return len(self.ends).bit_length() - 1

    def query(self, queries: Array, k: int, *, p: float = 2.0, excluded: Array | None = None) -> tuple[Nearest, Array]:
        """Return the nearest rows, with distances before their root, and how many nodes each query visited."""
        from pellucid.solvers.nearest_kernels import search

        queries = np.ascontiguousarray(queries, dtype=np.float64)
        found, visited = Nearest.none_yet(len(queries), k, excluded), np.zeros(len(queries), np.int64)
        slack = 1.0 if p in (1.0, 2.0, math.inf) else 1.0 - ROUNDING_OF_POWERS
        turns = near_together(queries) if len(queries) > QUERIES_AT_ONCE else np.arange(len(queries))

        def work(part: slice) -> None:
            tree = self.columns, self.order, self.ends, self.lower, self.upper
            heaps = found.distances, found.indices
            search(*tree, queries, turns[part], found.excluded, float(p), slack, *heaps, visited)

        run_blocks(work, split_evenly(len(queries), max(thread_count(), len(queries) // QUERIES_AT_ONCE)))
        return found, visited

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KDTree):
            return NotImplemented
        return all(np.array_equal(mine, vars(other)[name]) for name, mine in vars(self).items())

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash


def near_together(rows: Array) -> Array:
    """Return the rows' numbers in an order that puts near ones together: they need the same nodes, still in the cache.

    Cells of a grid over the first few features are taken in Morton's order: the bits of their numbers, interleaved.
    """
    columns = np.ascontiguousarray(rows[:, :ORDER_BITS].T)
    bits = ORDER_BITS // len(columns)
    with np.errstate(invalid="ignore", over="ignore"):
        columns -= columns.mean(axis=1, keepdims=True)
        spread = columns.std(axis=1, keepdims=True)
        columns *= 2 ** (bits - 2) / np.where(spread > 0.0, spread, 1.0)  # rows farther out share the outermost cells
        columns += 2 ** (bits - 1)
        cells = np.clip(columns, 0, 2**bits - 1, out=columns).astype(np.uint16)
    key = np.zeros(len(rows), np.uint16)
    for bit in range(bits - 1, -1, -1):
        for cell in cells:
            key = key << 1 | cell >> bit & 1
    return np.argsort(key, kind="stable")  # of 16 bits: a radix sort, in linear time
