r"""Rows on a device as k-means asks for them: who is nearest to which center.

A product of short numbers (TF32) gives :math:`\|\mu\|^2 - 2x'\mu` of all rows and centers with an error that is bounded
row by row. Rows whose two best centers are closer than that are multiplied again in float64, and those that even this
does not tell apart are measured from differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from pellucid.cluster.kmeans.card_loops import (
    COLUMNS,
    NAMES,
    write_decided,
    write_nearest,
    write_own_squares,
    write_short,
)
from pellucid.cluster.kmeans.center_answers import (
    FEW_COLUMNS,
    bound_from_scatter,
    labels_claim,
    rows_to_look_at,
)
from pellucid.cluster.kmeans.cluster_sums_on_device import SumsOnDevice
from pellucid.cluster.kmeans.kmeans_solvers import Clusters, best_line_centers, best_lloyd, lloyd
from pellucid.core.arrays import on_host
from pellucid.core.device.device_moments import moments_of
from pellucid.core.fit import Effort, Fit
from pellucid.core.types import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.proofs.training_data import TrainingData
from pellucid.solvers.rough_products_on_device import (
    FARTHEST,
    LARGEST_SQUARE,
    NEXT_TO_NOTHING,
    WIDTH,
    ShortRows,
    room_for,
    sample_of,
    short,
    sum_error,
    tensor_cores,
)

TABLE_BYTES = 2.0**27
"""Of rough distances made at once: most of them are read again before they have left the cache."""


REFUSED = ("random-partition",)
"""Starts that read the rows in a way that only memory has."""


class MeasuredOnDevice:
    """A table on a device, and the same in short numbers: centered, in a unit in which it is near 1."""

    def __init__(self, X: Any, weight: Any = None) -> None:
        import torch

        self.X, self.weight, self.shape = X, weight, tuple(X.shape)
        sample = sample_of(X)
        self.unit, self.middle = sample.unit, sample.center + np.median(sample.rows, axis=0)
        self.origin = torch.from_numpy(self.middle).to(X.device)
        n, d = self.shape
        wide = COLUMNS if X.device.type == "cuda" else WIDTH
        self.table = torch.zeros((n, d + -d % wide), dtype=torch.float32, device=X.device)
        self.squares, self.lost = (torch.empty(n, dtype=torch.float64, device=X.device) for _ in range(2))
        if write_short(X, self.origin, self.unit, self.table, self.squares, self.lost, LARGEST_SQUARE):
            return
        for part in self.parts(8 * d):
            rows = ShortRows.of(X[part], self.origin, self.unit, torch.float32)
            is_safe = rows.squares <= LARGEST_SQUARE
            self.table[part, :d] = torch.where(is_safe[:, None], rows.short, 0.0)
            self.squares[part], self.lost[part] = rows.squares, torch.where(is_safe, rows.lost, torch.inf)

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
        if write_own_squares(self.X, labels, there, found):
            return found
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

        labels = torch.empty(self.shape[0], dtype=torch.int64, device=self.X.device)
        unsure = torch.ones(self.shape[0], dtype=torch.bool, device=self.X.device)
        moved = (centers - self.middle) * self.unit
        if float(_squares(moved).max()) < LARGEST_SQUARE:
            self._by_short_products(moved, labels, unsure)
        for decide, given in ((self._by_products, moved), (self._by_differences, centers)):
            left = unsure.nonzero()[:, 0]
            if not len(left):
                break
            labels[left], unsure[left] = decide(left, given)
        return labels

    def _by_short_products(self, moved: Array, labels: Any, unsure: Any) -> None:
        """Write the nearest centers, and which rows have another one within the error."""
        import torch

        factors, starts, terms = self._factors(moved)
        gaps = torch.tensor(terms.of_gaps, dtype=torch.float64).to(self.X.device)
        if write_nearest(self.table, factors, starts, (self.squares, self.lost, gaps), labels, unsure):
            return
        errors = (2.0 * terms.of(self.squares, self.lost)).to(torch.float32) * (1.0 + 2.0**-20)  # rounded up
        height = max(64, int(TABLE_BYTES) // (4 * len(moved)))
        with tensor_cores():
            for start in range(0, self.shape[0], height):
                part = slice(start, min(start + height, self.shape[0]))
                # (k, rows): the least of a column is found without a shuffle
                rough = torch.addmm(starts[:, None], factors, self.table[part].T)
                best, labels[part] = rough.min(dim=0)
                rough.scatter_(0, labels[None, part], FARTHEST)
                unsure[part] = ~(rough.amin(dim=0) - best > errors[part])

    def _factors(self, moved: Array) -> tuple[Any, Any, ErrorTerms]:
        """Return what the table is multiplied with, where its sums start, and by how much those of each row can err.

        All is made on the host: centers are few, and a card takes as long to be told of a product as to make it.
        """
        import torch

        (k, d), sizes, twice = moved.shape, _squares(moved), torch.from_numpy(-2.0 * moved)
        factors = torch.zeros((k, self.table.shape[1]), dtype=torch.float32)
        factors[:, :d] = short(twice)
        lost = float((twice - factors[:, :d]).square().sum(dim=1).sqrt().max())
        # the start of a sum is rounded, and is one of its terms
        terms = ErrorTerms.of_centers(d, float(sizes.max()), lost, sum_error(d + 2, torch.float32))
        starts = torch.from_numpy(sizes.astype(np.float32))
        return factors.to(self.X.device), starts.to(self.X.device), terms

    def _by_products(self, rows: Any, moved: Array) -> tuple[Any, Any]:
        """Return the nearest centers of some rows by products in float64, and which are still not told apart."""
        import torch

        labels, unsure = torch.zeros_like(rows), torch.zeros_like(rows, dtype=torch.bool)
        (k, d), squares = moved.shape, _squares(moved)
        if k == 1:
            return labels, unsure
        factors = torch.from_numpy(np.pad(-2.0 * moved, ((0, 0), (0, -d % COLUMNS)))).to(self.X.device)
        sizes = torch.from_numpy(squares).to(self.X.device)
        terms = ErrorTerms.of_centers(d, float(squares.max()), 0.0, sum_error(d + 3, torch.float64))
        height = max(1, int(room_for(rows.device, most=2.0**30)) // (24 * (k + factors.shape[1])))
        for start in range(0, len(rows), height):
            part, some = slice(start, start + height), rows[start : start + height]
            own = torch.zeros((len(some), factors.shape[1]), dtype=torch.float64, device=rows.device)
            torch.sub(self.X[some], self.origin, out=own[:, :d]).mul_(self.unit)
            errors = 2.0 * terms.of(self.squares[some])
            if write_decided(own, factors, sizes, errors, labels[part], unsure[part]):
                continue
            products = torch.addmm(sizes, own, factors.T)
            best, labels[part] = products.min(dim=1)
            second = products.scatter_(1, labels[part, None], torch.inf).amin(dim=1)
            unsure[part] = ~(second - best > errors)
        return labels, unsure

    def _by_differences(self, rows: Any, centers: Array) -> tuple[Any, Any]:
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


def _squares(moved: Array) -> Array:
    """Return squared lengths; what overflows is decided from differences."""
    with np.errstate(over="ignore"):
        return np.asarray(np.square(moved).sum(axis=1))


@dataclass(frozen=True)
class ErrorTerms:
    """By how much a rough distance of a row can differ from the sum of squared differences: what each of these adds."""

    fixed: float
    length: float
    lost: float
    square: float

    @classmethod
    def of_centers(cls, d: int, largest: float, lost: float, rounding: float) -> ErrorTerms:
        """Return the terms for centers of at most this square.

        ``lost`` is the length of what rounding took from twice a center, ``rounding`` what sums lose.
        """
        longest, in_float64 = 2.0 * math.sqrt(largest), 4 * (d + 8) * EPSILON
        nothing, sums = NEXT_TO_NOTHING * 2.0**-10, 1.01 * rounding
        by_length, by_loss = lost + sums * longest + nothing, longest
        return cls(1.1 * ((sums + in_float64) * largest + nothing), 1.1 * by_length, 1.1 * by_loss, 1.1 * in_float64)

    def of(self, squares: Any, lost: Any = 0.0) -> Any:
        """Return the errors of rows of these squared lengths, which have lost so much."""
        return self.fixed + self.length * squares.sqrt() + self.lost * lost + self.square * squares

    @property
    def of_gaps(self) -> list[float]:
        """The terms for differences of two distances, and what names of centers in their last bits add."""
        return [*(2.0 * term for term in (self.fixed, self.length, self.lost, self.square)), NAMES]


class ClustersOnDevice(Clusters):
    """The rows of a fit with their nearest centers, and the sums of the clusters, where the rows are."""

    few_rows = 0  # a proof as ``verify`` makes it would bring the rows to the host

    def __init__(self, data: Any, centers: Array) -> None:
        import torch

        self.data, self.rows = data, MeasuredOnDevice(data.X, data.weight)
        self.dtype = np.dtype(np.float32 if data.X.dtype == torch.float32 else np.float64)
        self.sums: SumsOnDevice = SumsOnDevice(self.rows, len(centers))
        self.labels: Any = None

    @property
    def names(self) -> Any:
        """The nearest center of each row."""
        return self.labels.cpu().numpy()

    def assign(self, centers: Array) -> int:
        """Give each row its nearest center; return how many rows changed their cluster."""
        self.centers, before, self.labels = centers, self.labels, self.rows.nearest(centers)
        n = len(self.labels)
        which = None if before is None else (before != self.labels).nonzero()[:, 0]
        if which is None or 2 * len(which) > n:
            self.gather()
        elif len(which):
            self.sums.exchange(which, before[which], self.labels[which])
        return n if which is None else len(which)

    def gather(self) -> None:
        """Sum all rows anew."""
        self.sums.gather(self.labels)

    def means(self) -> Array:
        """Return the means of the clusters."""
        return self.sums.means(self.centers)

    def objective(self) -> float:
        """Return the sum of squared distances to the centers."""
        return self.sums.objective(self.centers)

    def empty(self) -> list[int]:
        """Return the clusters without rows."""
        return np.flatnonzero(self.sums.counts == 0).tolist()

    def farthest(self) -> Iterator[tuple[int, int, float]]:
        """Yield rows with their clusters and squared distances to their centers, the farthest first."""
        distances, rows = self.rows.own_distances(self.centers, self.labels).sort(descending=True, stable=True)
        labels = self.labels[rows]
        for some in self.rows.parts(1 << 17):
            yield from zip(rows[some].tolist(), labels[some].tolist(), distances[some].tolist(), strict=True)

    def put(self, row: int, cluster: int) -> None:
        """Put a row into another cluster."""
        which = self.labels.new_tensor([row])
        before = self.labels[which]
        self.labels[row] = cluster
        self.sums.exchange(which, before, self.labels[which])

    def finish(self, centers: Array) -> tuple[Any, float]:
        """Return the labels and the objective."""
        return self.labels.int(), self.rows.objective(centers, self.labels)

    def spread(self, labels: Any) -> Any:
        """Return the labels of all given rows; those of weight 0 have none."""
        if self.data.kept is None:
            return labels
        full = labels.new_full((len(self.data.given[0]),), -1)
        full[self.data.kept] = labels
        return full

    def labels_claim(self, centers: Array, labels: Any) -> Claim:
        """Return the claim that rows are with their nearest centers."""
        some = rows_to_look_at(len(labels), centers)
        return labels_claim(self.data.X[some].cpu().numpy(), centers, labels[some].cpu().numpy())

    @property
    def largest(self) -> float:
        """The largest absolute value of the rows."""
        return float(max(self.data.X.max(), -self.data.X.min()))

    def least_objective(self, n_clusters: int) -> float:
        """Return what no clustering can beat, 0 if unknown."""
        n, d = self.rows.shape
        if d > FEW_COLUMNS:
            return 0.0
        return bound_from_scatter(moments_of((self.data.X,), self.data.weight).scatter, n, n_clusters)


# the fit, and what the model answers


def fit_on_device(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the best of all starts."""
    estimator._check_count(len(data.X))
    if isinstance(estimator.init, str) and estimator.init in REFUSED:
        raise ValueError(f"init must not be {estimator.init!r} for arrays on a device, got it. Take 'random'.")
    rng = check_random_state(estimator.random_state)
    effort = Effort(estimator.tol, estimator.max_iter, lambda centers: watch({"cluster_centers_": centers}))
    best = None
    if isinstance(estimator.init, str) and data.X.shape[1] == 1:  # by a table of the different values, on the host
        weight = None if data.weight is None else on_host(data.weight)
        best = best_line_centers(TrainingData(on_host(data.X), weight=weight), estimator.n_clusters)
    if best is None:
        found = best_lloyd(data, lambda: estimator._start(data, rng), estimator._start_count(), effort)
    else:
        found = lloyd(data, best[0], effort, least=best[1])
    labels = found.attributes["labels_"]
    estimator._warn_of_empty_clusters(len(labels[labels >= 0].unique()))
    return found


fit_on_device.way = "rough distances in TF32, decided in float64 there; centers on the host"  # type: ignore[attr-defined]


def predict(model: Any, X: Any) -> Any:
    """Return the nearest center of each row."""
    return MeasuredOnDevice(X).nearest(_centers(model)).int()


def transform(model: Any, X: Any) -> Any:
    """Return the distance of each row to each center, from differences."""
    import torch

    centers, rows = torch.from_numpy(_centers(model)).to(X.device), X.to(torch.float64)
    height = max(1, int(room_for(X.device, most=2.0**30)) // (16 * centers.numel()))
    found = [(part[:, None, :] - centers).square_().sum(dim=2).sqrt_().to(X.dtype) for part in rows.split(height)]
    return torch.cat(found)


def score(model: Any, X: Any, _y: Any = None, sample_weight: Any = None) -> float:
    """Return minus the objective of the rows."""
    import torch

    weight = None if sample_weight is None else torch.as_tensor(sample_weight, dtype=torch.float64, device=X.device)
    rows, centers = MeasuredOnDevice(X, weight), _centers(model)
    return -rows.objective(centers, rows.nearest(centers))


def _centers(model: Any) -> Array:
    return on_host(model.cluster_centers_).astype(np.float64)
