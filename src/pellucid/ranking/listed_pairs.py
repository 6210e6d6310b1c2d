"""Sums over pairs of rows in the same query, all pairs listed: quicker than sorting where queries are small."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.core.types import Array
from pellucid.ranking.listed_pairs_kernels import list_pairs, listed_window_pass
from pellucid.ranking.pair_sums import Pairs, SortedRows

MOST_ROWS_EACH = 64
"""Mean size of the query of a row up to which the pairs are listed."""

NO_PAIRS = np.empty((0, 2), dtype=np.uint32)


class ListablePairs:
    """Pairs that are listed if there are few of them, and otherwise found by sorting."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        order, sizes = np.argsort(pairs.query, kind="stable"), np.diff(pairs.starts)
        self.is_listed = int(np.sum(sizes**2)) <= MOST_ROWS_EACH * len(order)
        self.listed = NO_PAIRS
        if self.is_listed:
            self.listed = np.empty((list_pairs(order, pairs.starts, pairs.rank, NO_PAIRS), 2), dtype=np.uint32)
            list_pairs(order, pairs.starts, pairs.rank, self.listed)

    def at(self, f: Array) -> ListedRows | SortedRows:
        """Return the rows at these scores."""
        return ListedRows(self.pairs, f, self.listed) if self.is_listed else self.pairs.sorted_by(f)


@dataclass(frozen=True)
class ListedRows:
    """Rows and their scores, with the numbers of the better and the worse row of each pair."""

    pairs: Pairs
    f: Array
    listed: Array  # (n_pairs, 2)

    def only(self, _chosen: Array) -> ListedRows:
        """Return all rows: leaving some out would cost more than it saves."""
        return self

    def sums(self, V: Array, low: float, high: float) -> tuple[Array, Array]:
        """Return the weighted sums of ``V`` over the worse and the better rows of each with margins in a window."""
        worse, better = np.zeros_like(V), np.zeros_like(V)
        listed_window_pass(self.listed, self.f, self.pairs.weight, V, low, high, worse, better)
        return worse, better
