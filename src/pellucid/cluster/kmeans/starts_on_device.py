"""Rows on a device drawn as the centers that k-means starts from: the same rows that are drawn in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.cluster.kmeans.measured_rows import MODEST_UNIT
from pellucid.cluster.kmeans.starts_triton import PART, ROWS, write_best, write_places, write_squares
from pellucid.core.types import Array
from pellucid.solvers.rough_products_on_device import room_for, sample_of

FAR, DIFFERENT = 0, 1
"""Kinds of chances: the squared distance to the nearest center, or 1 where that is not 0; times the weight."""


class RowsDrawnOnDevice:
    """Rows drawn as centers one by one, as ``DrawnRows`` draws them; the host is not asked until all are drawn.

    A copy of them stands in the order of the draws, column by column, filled up to a multiple of ``PART`` with rows
    that have no chance. Distances are sums of squared differences in float64, and so is every sum of chances.
    """

    def __init__(self, data: Any, n_clusters: int) -> None:
        import torch

        self.X, (n, d) = data.X, data.X.shape
        self.order = (content_hashes(self.X) ^ -(1 << 63)).argsort(stable=True)  # as numbers without a sign
        whole, there = n + -n % PART, {"dtype": torch.float64, "device": self.X.device}
        self.columns = torch.zeros((d, whole), dtype=self.X.dtype, device=self.X.device)
        self.weight, self.nearest = torch.zeros((2, whole), **there)
        height = max(1, (1 << 26) // d)
        for start in range(0, n, height):
            part = slice(start, min(start + height, n))
            self.columns[:, part] = self.X[self.order[part]].T
        self.weight[:n] = 1.0 if data.weight is None else data.weight[self.order]
        self.nearest[:n] = torch.inf
        self.heights = torch.zeros((2, whole // PART), **there)
        self._sum_chances()
        self._drawn, self._count = torch.zeros(n_clusters, dtype=torch.int64, device=self.X.device), 0

    @property
    def is_done(self) -> bool:
        """Whether all centers are drawn."""
        return self._count == len(self._drawn)

    @property
    def indices(self) -> list[int]:
        """The rows drawn so far."""
        return self.order[self._drawn[: self._count]].tolist()  # type: ignore[no-any-return]

    @property
    def centers(self) -> Array:
        """What these rows hold, in double precision."""
        found: Array = self.X[self.order[self._drawn]].cpu().numpy()
        return found.astype(np.float64)

    def draw_any(self, rng: np.random.RandomState) -> None:
        """Make a row a center that differs from all before, as likely as its weight."""
        self._draw(rng.uniform(size=1), DIFFERENT)

    def draw_far(self, rng: np.random.RandomState, n_trials: int) -> None:
        """Make a row a center, as likely as its weight times its squared distance to the others: the best of a few."""
        self._draw(rng.uniform(size=n_trials), FAR)

    def add_farthest(self) -> None:
        """Make the row farthest from all centers one, of equally far ones the first in the order of the draws."""
        self._add(self.nearest.argmax().view(1))

    def _draw(self, shares: Array, kind: int) -> None:
        """Make the best of the rows at these shares of the sum of the chances a center."""
        import torch

        missing = (1 << (len(shares) - 1).bit_length()) - len(shares)  # to a power of two, as loops want them
        shares = np.concatenate((shares, np.repeat(shares[-1:], missing)))
        there = torch.from_numpy(shares).to(self.X.device, non_blocking=True)
        places = torch.empty(len(shares), dtype=torch.int64, device=self.X.device)
        if not write_places(there, self.heights, kind, self.nearest, self.weight, len(self.X), places):
            places.copy_(torch.from_numpy(self._places(shares, kind)))
        self._add(places)

    def _places(self, shares: Array, kind: int) -> Array:
        import torch

        chances, heights = self._chances(kind), self.heights[kind].cpu().numpy()
        if not heights.any():  # fewer different rows than centers: one comes twice
            chances = (torch.arange(len(chances), device=chances.device) < len(self.X)).to(torch.float64)
            heights = chances.view(-1, PART).sum(dim=1).cpu().numpy()
        ends: Array = heights.cumsum()  # here: sums up to each number are made in any order on some devices
        parts = np.array([_first_past(heights, ends, share * ends[-1]) for share in shares])
        inside, rests = chances.view(-1, PART)[parts].cpu().numpy(), shares * ends[-1] - (ends - heights)[parts]
        found = [_first_past(own, own.cumsum(), rest) for own, rest in zip(inside, rests, strict=True)]
        return parts * PART + np.array(found)

    def _add(self, places: Any) -> None:
        """Make that candidate a center that takes most off the sum of squared distances, of equal ones the first."""
        import torch

        centers, count = self.columns.index_select(1, places).to(torch.float64), len(places)
        squares = self.nearest.new_empty((count, len(self.nearest)))
        gains = self.nearest.new_empty((len(self.nearest) // ROWS, count))
        if write_squares(self.columns, centers, self.nearest, self.weight, squares, gains):
            gains = gains.sum(dim=0)
        else:
            self._measure(centers, squares)
            gains = (torch.where(squares < self.nearest, self.nearest - squares, 0.0) * self.weight).sum(dim=1)
        state = (squares, self.nearest, self.weight, self.heights)
        if not write_best(gains, places, self._drawn, self._count, *state):
            best = int(gains.argmax())
            self._drawn[self._count] = places[best]
            torch.minimum(self.nearest, squares[best], out=self.nearest)
            self._sum_chances()
        self._count += 1

    def _measure(self, centers: Any, squares: Any) -> None:
        height = max(1, room_for(self.X.device, most=2.0**30, on_host=2.0**21) // (32 * len(squares)))
        for start in range(0, squares.shape[1], height):
            found = squares[:, start : start + height].zero_()
            for values, middle in zip(self.columns[:, start : start + height], centers, strict=True):
                apart = values - middle[:, None]
                found.addcmul_(apart, apart)

    def _sum_chances(self) -> None:
        for kind in (FAR, DIFFERENT):
            self.heights[kind] = self._chances(kind).view(-1, PART).sum(dim=1)

    def _chances(self, kind: int) -> Any:
        return self.nearest * self.weight if kind == FAR else (self.nearest > 0.0) * self.weight


def _first_past(chances: Array, ends: Array, target: float) -> int:
    """Return the first chance whose end lies past a target, or the last one; never one of 0."""
    possible = np.flatnonzero(chances)
    reached = int(np.searchsorted(ends[possible], target, side="right"))
    return int(possible[min(reached, len(possible) - 1)])


def content_hashes(X: Any) -> Any:
    """Return the numbers for the content of rows that ``hashes_of`` has for rows in memory, as int64.

    What ``presented_rows_kernels.dense_hashes`` does for rows of one code: whole numbers wrap around here, too.
    """
    import torch

    from pellucid.solvers.presented_rows_kernels import FIRST, ODD, SECOND

    odd, first, second = (int(np.int64(np.uint64(number).view(np.int64))) for number in (ODD, FIRST, SECOND))

    def mixed(key: Any) -> Any:
        for factor in (first, second):
            key = (key ^ ((key >> 33) & 0x7FFFFFFF)) * factor
        return key ^ ((key >> 33) & 0x7FFFFFFF)

    unit, d = sample_of(X).unit, X.shape[1]
    columns, found = torch.arange(1, d + 1, device=X.device) * odd, []
    for part in X.split(max(1, (1 << 24) // d)):
        rows = part if MODEST_UNIT < unit < 1.0 / MODEST_UNIT else part * unit
        rows = rows.to(torch.float32).to(torch.float64).contiguous()
        found.append((mixed(rows.view(torch.int64) ^ columns) * (rows != 0.0)).sum(dim=1))
    return torch.cat(found) + mixed(torch.full((1,), odd, device=X.device))
