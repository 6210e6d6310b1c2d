"""Rows on a device drawn as the centers that k-means starts from: the same rows that are drawn in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.cluster.kmeans.cluster_sums_on_device import by_label, segment_sums
from pellucid.cluster.kmeans.clusters_on_device import MeasuredOnDevice
from pellucid.cluster.kmeans.kmeans_starts import ALL, BUCKET_BITS, FEW_ROWS, DrawnRows, _one
from pellucid.cluster.kmeans.measured_rows import MODEST_UNIT
from pellucid.core.types import Array


class RowsDrawnOnDevice(DrawnRows):
    """Rows drawn as centers one by one; distances, and sums of chances, stay on the device."""

    rows: Any
    nearest: Any

    def __init__(self, data: Any, n_clusters: int) -> None:
        import torch

        self.rows = MeasuredOnDevice(data.X, data.weight)
        n, d = self.rows.shape
        self.nearest = torch.full((n,), torch.inf, dtype=torch.float64, device=data.X.device)
        self.indices, self.centers = [], np.zeros((n_clusters, d))
        hashes = self._hashes(slice(None))
        self._order = self._ranked(hashes) if n <= FEW_ROWS else None
        self._heights = np.zeros(1 if n <= FEW_ROWS else 1 << BUCKET_BITS)
        self._bucket: Any = (hashes >> (64 - BUCKET_BITS)) & ((1 << BUCKET_BITS) - 1 if n > FEW_ROWS else 0)
        self._near: tuple[Any, Any, Any] = ()  # type: ignore[assignment]  # candidates, rows, squared distances

    def add_farthest(self) -> None:
        """Make the row farthest from all centers one, of equally far ones the first in the order of the draws."""
        ties = (self.nearest == self.nearest.max()).nonzero()[:, 0]
        self.add(int(ties[self._ranked(self._hashes(ties))[0]]))

    def add(self, row: int, bit: int = ALL) -> None:
        """Make a row a center; ``bit`` says which candidate of the last ones it was."""
        number = len(self.indices)
        self.indices.append(int(row))
        self.centers[number] = self._taken(np.array([row]))[0]
        if bit == ALL:
            _, rows, squares = self.rows.pairs_in_reach(self.centers[number : number + 1], self.nearest)
        else:
            candidates, rows, squares = self._near
            own = candidates == bit.bit_length() - 1
            rows, squares = rows[own], squares[own]
        before = self.nearest[rows]
        is_nearer = squares < before
        rows, squares, before = rows[is_nearer], squares[is_nearer], before[is_nearer]
        self.nearest[rows] = squares
        lowered = (squares - (0.0 if number == 0 else before)) * self.rows.weights(rows)
        self._heights = np.maximum(self._heights + self._in_buckets(rows, lowered), 0.0)

    def _gains(self, candidates: Array) -> Array:
        which, rows, squares = self._near = self.rows.pairs_in_reach(candidates, self.nearest)
        gains = (self.nearest[rows] - squares).clamp(min=0.0) * self.rows.weights(rows)
        order, ends = by_label(which, len(candidates))
        return segment_sums(lambda some: gains[some][..., None], order, ends, 1).cpu().numpy()[:, 0]

    def _in_buckets(self, rows: Any, values: Any) -> Array:
        order, ends = by_label(self._bucket[rows], len(self._heights))
        return segment_sums(lambda some: values[some][..., None], order, ends, 1).cpu().numpy()[:, 0]

    def _sums(self, chance_of: Callable[[Any], Array]) -> Array:
        import torch

        chances = torch.ones_like(self.nearest)
        if chance_of is not _one:  # different from all centers, the only other chance that is summed anew
            chances = (self.nearest > 0.0) * self.rows.weights(slice(None)) * chances
        return self._in_buckets(slice(None), chances)

    def _if_different(self, rows: Any) -> Array:
        return np.where(self._at(self.nearest, rows) > 0.0, self._weights(rows), 0.0)

    def _if_far(self, rows: Any) -> Array:
        return self._at(self.nearest, rows) * self._weights(rows)

    def _weights(self, rows: Any) -> Any:
        return 1.0 if self.rows.weight is None else self._at(self.rows.weight, rows)

    def _members(self, bucket: int) -> Array:
        members = (self._bucket == int(bucket)).nonzero()[:, 0]
        return members.cpu().numpy()[self._ranked(self._hashes(members))]

    def _taken(self, rows: Array) -> Array:
        return self._at(self.rows.X, rows).astype(np.float64)

    def _at(self, values: Any, rows: Array) -> Array:
        import torch

        return values[torch.from_numpy(np.ascontiguousarray(rows)).to(values.device)].cpu().numpy()

    def _ranked(self, hashes: Any) -> Array:
        return np.argsort(hashes.cpu().numpy().view(np.uint64), kind="stable")

    def _hashes(self, which: Any) -> Any:
        """Return the numbers for the content of rows that rows in memory have, the 64 bits of each as int64."""
        import torch

        X, unit = self.rows.X, self.rows.unit
        rows = X[which]
        rows = (rows if MODEST_UNIT < unit < 1.0 / MODEST_UNIT else rows * unit).to(torch.float32)
        height = max(1, (1 << 24) // X.shape[1])
        found = [_content_hashes(part.to(torch.float64)) for part in rows.split(height)]
        return torch.cat(found) if found else torch.empty(0, dtype=torch.int64)


def _content_hashes(rows: Any) -> Any:
    """Do what ``presented_rows_kernels.dense_hashes`` does for rows of one code; whole numbers wrap around, too."""
    import torch

    from pellucid.solvers.presented_rows_kernels import FIRST, ODD, SECOND

    odd, first, second = (int(np.int64(np.uint64(number).view(np.int64))) for number in (ODD, FIRST, SECOND))

    def mixed(key: Any) -> Any:
        for factor in (first, second):
            key = (key ^ ((key >> 33) & 0x7FFFFFFF)) * factor
        return key ^ ((key >> 33) & 0x7FFFFFFF)

    columns = torch.arange(1, rows.shape[1] + 1, device=rows.device) * odd
    keys = mixed(rows.contiguous().view(torch.int64) ^ columns) * (rows != 0.0)
    return keys.sum(dim=1) + mixed(torch.full((1,), odd, device=rows.device))
