"""Sums of the rows of clusters on a device, in float64: over rows sorted by their cluster, 256 at a time.

No two threads add to one number, so that the same rows have the same sums in every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.cluster.kmeans.card_loops import sums_of_segments
from pellucid.cluster.kmeans.center_answers import ClusterSums
from pellucid.core.types import Array
from pellucid.solvers.rough_products_on_device import room_for

if TYPE_CHECKING:
    from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice

PIECE = 256
"""Rows that are summed in one go."""


class SumsOnDevice(ClusterSums):
    """Sums of the rows of each cluster: taken on the device, kept on the host."""

    rows: Any

    def __init__(self, rows: MeasuredOnDevice, n_clusters: int) -> None:
        super().__init__(rows, None, n_clusters)  # type: ignore[arg-type]  # the table is not looked at

    @cached_property
    def scatter(self) -> float:
        """The sum of squared distances of all rows to the middle."""
        return self.rows.scatter

    def gather(self, labels: Any) -> None:
        """Sum all rows anew."""
        for total, found in zip((self.sums, self.totals, self.counts), self._of(None, labels), strict=True):
            total[:] = found

    def exchange(self, which: Any, before: Any, labels: Any) -> None:
        """Take rows out of the clusters they leave and add them to their new ones."""
        import torch

        k = len(self.counts)
        found = self._of(torch.cat([which, which]), torch.cat([before, labels + k]), 2)
        for total, part in zip((self.sums, self.totals, self.counts), found, strict=True):
            total += part[k:] - part[:k]

    def _of(self, which: Any, labels: Any, times: int = 1) -> tuple[Array, Array, Array]:
        """Return sums, weights and counts of the rows of each label, of which there may be more than clusters."""
        import torch

        rows = self.rows
        order, ends = by_label(labels, times * len(self.counts))
        which = order if which is None else which[order]
        sums = segment_sums(ListedRows(rows.X, rows.origin, rows.weight), which, ends, rows.shape[1])
        counts = ends.diff()[:, None].to(torch.float64)
        weights = counts
        if rows.weight is not None:
            weights = segment_sums(lambda some: rows.weight[some][..., None], which, ends, 1)
        found = torch.cat([sums, weights, counts], dim=1).cpu().numpy()  # the host waits once
        return found[:, :-2], found[:, -2], found[:, -1].astype(np.int64)


@dataclass(frozen=True)
class ListedRows:
    """Rows of a table less an origin, times their weights, which are asked for by lists of places."""

    table: Any
    origin: Any
    weight: Any = None

    def __call__(self, some: Any) -> Any:
        """Return some of them."""
        values = self.table[some] - self.origin
        return values if self.weight is None else values * self.weight[some][..., None]

    def sums(self, which: Any, ends: Any) -> Any:
        """Return the sums of segments of a list of rows; None where that cannot be done without copies of them."""
        return sums_of_segments(self.table, which, ends, self.origin) if self.weight is None else None


def by_label(labels: Any, n_labels: int) -> tuple[Any, Any]:
    """Return the positions of labels in their order, and where each label begins and the last one ends."""
    import torch

    shortest = torch.uint8 if n_labels < 256 else torch.int16 if n_labels < 32768 else torch.int64
    ranked, order = labels.to(shortest).sort(stable=True)
    borders = torch.arange(n_labels + 1, device=labels.device)
    return order, torch.searchsorted(ranked.to(torch.int64), borders)


def segment_sums(values_of: Any, which: Any, ends: Any, n_columns: int) -> Any:
    """Return the sums of ``values_of(rows)`` over segments of ``which``, that ``ends`` bound; in float64, in one order.

    In plain torch segments are cut into pieces of 256; the sums of pieces are values again, until no segment can have
    two.
    """
    import torch

    k, longest = len(ends) - 1, len(which)
    if not longest:
        return torch.zeros((k, n_columns), dtype=torch.float64, device=ends.device)
    found = values_of.sums(which, ends) if isinstance(values_of, ListedRows) else None
    if found is not None:
        return found
    while True:
        counts = -(-ends.diff() // PIECE)
        firsts = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        numbers = torch.arange(len(which) // PIECE + k, device=ends.device)  # at least as many as there are pieces
        owner = (torch.searchsorted(firsts, numbers, right=True) - 1).clamp(max=k - 1)
        starts = ends[owner] + (numbers - firsts[owner]) * PIECE
        found = _piece_sums(values_of, which, starts, ends[owner + 1], n_columns)
        longest = -(-longest // PIECE)
        if longest == 1:
            return found[firsts[:-1].clamp(max=len(found) - 1)] * (counts > 0)[:, None]
        values_of, which, ends = found.__getitem__, numbers, firsts


def _piece_sums(values_of: Any, which: Any, starts: Any, stops: Any, n_columns: int) -> Any:
    """Return the sum of each piece: of at most 256 rows from its start, none where that is at the stop or behind."""
    import torch

    found = torch.empty((len(starts), n_columns), dtype=torch.float64, device=starts.device)
    height = max(1, int(room_for(starts.device, most=2.0**30)) // (24 * PIECE * n_columns))
    steps = torch.arange(PIECE, device=starts.device)
    for first in range(0, len(starts), height):
        part = slice(first, first + height)
        places = starts[part, None] + steps
        is_inside = places < stops[part, None]
        values = values_of(which[places.clamp(max=len(which) - 1)])
        torch.sum(values.mul_(is_inside[..., None]), dim=1, out=found[part])
    return found
