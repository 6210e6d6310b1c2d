"""The k nearest rows of each of several queries, while they are being found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from pellucid.core.types import Array


@dataclass(frozen=True)
class Nearest:
    """Distances and indices of shape (n_queries, k), and for each query an index that must not be found, or -1.

    A search fills the rows as the heaps of :mod:`pellucid.numerics.top_k_kernels` and ends with :meth:`sort`.
    """

    distances: Array
    indices: Array
    excluded: Array

    @classmethod
    def none_yet(cls, n_queries: int, k: int, excluded: Array | None = None) -> Self:
        """Return places for ``k`` rows per query that nothing has been found for."""
        from pellucid.numerics.top_k_kernels import EMPTY

        excluded = np.full(n_queries, -1, np.int64) if excluded is None else np.asarray(excluded, np.int64)
        return cls(np.full((n_queries, k), np.inf), np.full((n_queries, k), EMPTY, np.int64), excluded)

    def part(self, queries: slice) -> Nearest:
        """Return a view of some of the queries."""
        return Nearest(self.distances[queries], self.indices[queries], self.excluded[queries])

    def sort(self) -> None:
        """Put every row in order: smaller distance first, of equal ones the lower index."""
        from pellucid.numerics.top_k_kernels import sort_heaps

        sort_heaps(self.distances, self.indices)
