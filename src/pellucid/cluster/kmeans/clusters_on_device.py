r"""Rows on a device as k-means asks for them: who is nearest to which center, and the sums of clusters.

A product of short numbers (TF32) gives :math:`\|\mu\|^2 - 2x'\mu` of all rows and centers with an error that is bounded
row by row. Rows whose two best centers are closer than that are multiplied again in float64, and those that even this
does not tell apart are measured from differences. Sums are taken in float64 over rows sorted by their cluster, 256 at a
time: no two threads add to one number, so that the same rows have the same sums in every run.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from pellucid.cluster.kmeans.center_answers import ClusterSums
from pellucid.core.types import Array
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.rough_products_on_device import (
    FARTHEST,
    LARGEST_SQUARE,
    NEXT_TO_NOTHING,
    WIDTH,
    ShortRows,
    in_three,
    room_for,
    sample_of,
    short,
    sum_error,
    tensor_cores,
)

PIECE = 256
"""Rows that are summed in one go."""
TABLE_BYTES = 2.0**27
"""Of rough distances made at once: most of them are read again before they have left the cache."""


class DeviceRows:
    """A table on a device, and the same in short numbers: centered, in a unit in which it is near 1."""

    def __init__(self, X: Any, weight: Any = None) -> None:
        import torch

        self.X, self.weight, self.shape = X, weight, tuple(X.shape)
        sample = sample_of(X)
        self.unit, self.middle = sample.unit, sample.center + np.median(sample.rows, axis=0)
        self.origin = torch.from_numpy(self.middle).to(X.device)
        n, d = self.shape
        self.table = torch.zeros((n, d + 3 + -(d + 3) % WIDTH), dtype=torch.float32, device=X.device)
        self.squares, self.lost = (torch.empty(n, dtype=torch.float64, device=X.device) for _ in range(2))
        for part in self.parts(8 * d):
            rows = ShortRows.of(X[part], self.origin, self.unit, torch.float32)
            is_safe = rows.squares <= LARGEST_SQUARE
            self.table[part, :d] = torch.where(is_safe[:, None], rows.short, 0.0)
            self.squares[part], self.lost[part] = rows.squares, torch.where(is_safe, rows.lost, torch.inf)
        self.table[:, d : d + 3] = 1.0

    def parts(self, row_bytes: int) -> list[slice]:
        """Return parts of the rows whose tables, of so many bytes a row, have room."""
        height = max(1, int(room_for(self.X.device, most=2.0**30) // max(1, row_bytes)))
        return [slice(start, min(start + height, self.shape[0])) for start in range(0, self.shape[0], height)]

    def weights(self, rows: Any) -> Any:
        """Return the weights of some rows, 1.0 where all count once."""
        return 1.0 if self.weight is None else self.weight[rows]

    @cached_property
    def scatter(self) -> float:
        """The sum of squared distances of all rows to the middle."""
        return float((self.squares * self.weights(slice(None))).sum()) / self.unit / self.unit

    def own_distances(self, centers: Array, labels: Any) -> Any:
        """Return the squared distances of rows to their own centers."""
        import torch

        there = torch.from_numpy(centers).to(self.X.device)
        found = torch.empty(self.shape[0], dtype=torch.float64, device=self.X.device)
        for part in self.parts(16 * self.shape[1]):
            apart = there[labels[part]]
            apart -= self.X[part]
            torch.sum(apart.square_(), dim=1, out=found[part])
        return found

    def objective(self, centers: Array, labels: Any) -> float:
        """Return the weighted sum of these."""
        return float((self.own_distances(centers, labels) * self.weights(slice(None))).sum())

    def nearest(self, centers: Array) -> Any:
        """Return the nearest center of each row, of equally near ones the first."""
        import torch

        there = torch.from_numpy((centers - self.middle) * self.unit).to(self.X.device)
        sizes = (there * there).sum(dim=1)
        labels = torch.empty(self.shape[0], dtype=torch.int64, device=self.X.device)
        unsure = torch.ones(self.shape[0], dtype=torch.bool, device=self.X.device)
        if float(sizes.max()) < LARGEST_SQUARE:
            self._by_short_products(there, sizes, labels, unsure)
        for decide in (self._by_products, self._by_differences):
            left = unsure.nonzero()[:, 0]
            if not len(left):
                break
            labels[left], unsure[left] = decide(left, centers, there, sizes)
        return labels

    def _by_short_products(self, centers: Any, sizes: Any, labels: Any, unsure: Any) -> None:
        """Write the nearest centers, and which rows have another one within the error."""
        import torch

        k, d = centers.shape
        factors = torch.zeros((k, self.table.shape[1]), dtype=torch.float32, device=centers.device)
        factors[:, :d] = short(-2.0 * centers)
        for place, part in enumerate(in_three(sizes)):
            factors[:, d + place] = part
        lost = (-2.0 * centers - factors[:, :d]).square().sum(dim=1).sqrt().max()
        errors = self._errors(2.0 * sizes.max().sqrt(), lost, sizes.max(), sum_error(d + 3, torch.float32))
        height = max(64, int(TABLE_BYTES) // (4 * k))
        with tensor_cores():
            for start in range(0, self.shape[0], height):
                part = slice(start, min(start + height, self.shape[0]))
                rough = factors @ self.table[part].T  # (k, rows): the least of a column is found without a shuffle
                best, labels[part] = rough.min(dim=0)
                rough.scatter_(0, labels[None, part], FARTHEST)
                torch.le(rough.amin(dim=0) - best, errors[part], out=unsure[part])

    def _errors(self, longest: Any, lost: Any, largest: Any, rounding: float, rows: Any = slice(None)) -> Any:
        """Return by how much two rough distances of each row can be nearer to each other than they seem.

        ``longest`` is the length of the longest factor, ``lost`` of what rounding took from one, ``largest`` the
        largest square. Twice the error of one, and what differences in float64 lose.
        """
        squares = self.squares[rows]
        lengths = squares.sqrt()
        product = lengths * lost + self.lost[rows] * longest + rounding * (1.01 * lengths * longest + 1.01 * largest)
        exact = 4 * (self.shape[1] + 8) * EPSILON * (squares + largest)
        return 2.2 * (product + exact + NEXT_TO_NOTHING * 2.0**-10 * (1.0 + lengths))

    def _by_products(self, rows: Any, _given: Array, centers: Any, sizes: Any) -> tuple[Any, Any]:
        """Return the nearest centers of some rows by products in float64, and which are still not told apart."""
        import torch

        rounding = sum_error(centers.shape[1] + 3, torch.float64)
        longest, largest = 2.0 * sizes.max().sqrt(), sizes.max()
        labels, unsure = torch.empty_like(rows), torch.ones(len(rows), dtype=torch.bool, device=rows.device)
        if len(centers) == 1:
            return labels.zero_(), ~unsure
        height = max(1, int(room_for(rows.device, most=2.0**30)) // (24 * sum(centers.shape)))
        for start in range(0, len(rows), height):
            part, some = slice(start, start + height), rows[start : start + height]
            moved = (self.X[some].to(torch.float64) - self.origin) * self.unit
            exact = torch.addmm(sizes, moved, centers.T, alpha=-2.0)
            lowest, places = exact.topk(2, dim=1, largest=False)
            nothing_lost = torch.zeros((), dtype=torch.float64, device=rows.device)
            errors = self._errors(longest, nothing_lost, largest, rounding, some)
            errors = torch.where(self.squares[some] <= LARGEST_SQUARE, errors, torch.inf)
            labels[part], unsure[part] = places[:, 0], ~(lowest[:, 1] - lowest[:, 0] > errors)
        return labels, unsure

    def _by_differences(self, rows: Any, centers: Array, *_coded: Any) -> tuple[Any, Any]:
        """Return the nearest centers of some rows by the sums of squared differences."""
        import torch

        there = torch.from_numpy(centers).to(rows.device)
        numbers, found = torch.arange(len(there), device=rows.device), []
        height = max(1, int(room_for(rows.device, most=2.0**30)) // (24 * len(there) * self.shape[1]))
        for some in rows.split(height):
            squares = (self.X[some].to(torch.float64)[:, None, :] - there).square_().sum(dim=2)
            is_least = squares == squares.amin(dim=1, keepdim=True)
            found.append(torch.where(is_least, numbers, len(there)).amin(dim=1))
        labels = torch.cat(found)
        return labels, torch.zeros_like(labels, dtype=torch.bool)


class DeviceSums(ClusterSums):
    """Sums of the rows of each cluster: taken on the device, kept on the host."""

    rows: Any

    def __init__(self, rows: DeviceRows, n_clusters: int) -> None:
        super().__init__(rows, None, n_clusters)  # type: ignore[arg-type]  # the table is not looked at

    @cached_property
    def scatter(self) -> float:
        """The sum of squared distances of all rows to the middle."""
        return self.rows.scatter

    def gather(self, labels: Any) -> None:
        """Sum all rows anew."""
        for total in (self.sums, self.totals, self.counts):
            total[:] = 0
        self._add(None, labels, 1)

    def exchange(self, which: Any, before: Any, labels: Any) -> None:
        """Take rows out of the clusters they leave and add them to their new ones."""
        self._add(which, before, -1)
        self._add(which, labels, 1)

    def _add(self, which: Any, labels: Any, sign: int) -> None:
        rows, k = self.rows, len(self.counts)
        order, ends = _by_label(labels, k)
        which = order if which is None else which[order]

        def centered(some: Any) -> Any:
            values = rows.X[some] - rows.origin
            return values if rows.weight is None else values * rows.weight[some][..., None]

        self.sums += sign * segment_sums(centered, which, ends, rows.shape[1]).cpu().numpy()
        counts = ends.diff().cpu().numpy()
        self.counts += sign * counts
        if rows.weight is None:
            self.totals += sign * counts
        else:
            weights = segment_sums(lambda some: rows.weight[some][..., None], which, ends, 1)
            self.totals += sign * weights.cpu().numpy()[:, 0]


def _by_label(labels: Any, n_labels: int) -> tuple[Any, Any]:
    """Return the positions of labels in their order, and where each label begins and the last one ends."""
    import torch

    shortest = torch.uint8 if n_labels < 256 else torch.int16 if n_labels < 32768 else torch.int64
    ranked, order = labels.to(shortest).sort(stable=True)
    borders = torch.arange(n_labels + 1, device=labels.device)
    return order, torch.searchsorted(ranked.to(torch.int64), borders)


def segment_sums(values_of: Any, which: Any, ends: Any, n_columns: int) -> Any:
    """Return the sums of ``values_of(rows)`` over segments of ``which``, that ``ends`` bound; in float64, in one order.

    Segments are cut into pieces of 256; the sums of pieces are values again, until no segment can have two.
    """
    import torch

    k, longest = len(ends) - 1, len(which)
    if not longest:
        return torch.zeros((k, n_columns), dtype=torch.float64, device=ends.device)
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
