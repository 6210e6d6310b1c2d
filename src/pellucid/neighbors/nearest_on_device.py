r"""Nearest stored rows of queries, on the device that holds them: Euclidean, exact, to the bit as in memory.

A product in low precision gives a lower bound of every squared distance. Of each group of 64 rows the least bound is
kept; the k nearest rows lie in the few groups whose least bounds are smallest, as long as the next group's is above the
k-th distance, and that is checked. Among the rows of these groups the candidates with the smallest bounds are measured
in float64 from differences, in the order of the features: equal distances are equal, and the lower row wins. Where the
next bound does not exclude a row, the query is done again in float64, and at last by measuring every row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.multiclass import check_classification_targets

from pellucid.core.arrays import on_host
from pellucid.core.device.class_answers import labels_of
from pellucid.core.device.device_rows import label_codes, refuse_device
from pellucid.core.device.places import Place
from pellucid.core.fit import Fit
from pellucid.neighbors.metric import Metric, unit_of, vote_weights
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON
from pellucid.solvers.pairwise_blocks import SAMPLED_ROWS
from pellucid.solvers.rough_products_on_device import (
    FARTHEST,
    LARGEST_SQUARE,
    NEXT_TO_NOTHING,
    WIDTH,
    ShortRows,
    in_three,
    room_for,
    sample_of,
    sum_error,
    tensor_cores,
)

GROUP = 64
SPARE = {"float32": 16, "float64": 240}
"""Candidates beyond twice the neighbors asked for."""


def store_rows(estimator: Any, data: Any, _watch: Any) -> Fit:
    """Return the fit: rows and targets stay where they are."""
    metric = Metric.resolve(estimator.metric, estimator.p, estimator.metric_params)
    if metric.power != 2.0:
        raise ValueError(
            f"metric must be Euclidean for arrays on a device, got {metric.name!r}. "
            "Copy the data to the host for other metrics."
        )
    targets = {"_y": data.y}
    if is_classifier(estimator):
        if data.y.ndim == 2 and data.y.shape[1] > 1:
            refuse_device(f"{type(estimator).__name__} with several outputs")
        classes, codes = label_codes(data.y.reshape(-1), Place.of(data.X))
        check_classification_targets(np.repeat(classes, 2))  # twice: many labels of one row each would be warned of
        targets = {"classes_": classes, "outputs_2d_": False, "_y": codes}
    elif not data.y.is_floating_point():
        targets = {"_y": data.y.double()}
    attributes = {
        **targets,
        "effective_metric_": metric.name,
        "effective_metric_params_": dict(metric.params),
        "n_samples_fit_": len(data.X),
        "_fit_X": data.X,
        "_fit_method": "brute",
        "_tree": None,
    }
    differ = (attributes["_fit_X"] != data.X).any(dim=1).sum()
    said = "rows that differ from the training data, in features or target"
    return Fit(attributes, certificate=Certificate("exact", (Claim("stored data", said, float(differ), 0.0),)))


store_rows.way = "bounds in TF32, distances in float64 there"  # type: ignore[attr-defined]


def kneighbors(model: Any, X: Any, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
    """Return distances and indices of the nearest training rows."""
    k = model._check_count(n_neighbors, model.n_samples_fit_)
    found = model._search(X, k)
    return (found.distances, found.indices) if return_distance else found.indices


def predict(model: Any, X: Any) -> Any:
    """Return the labels with most votes, or the weighted mean of the neighbors' targets."""
    if is_classifier(model):
        return labels_of(_votes(model, X), model.classes_)
    distances, indices = kneighbors(model, X)
    weights = vote_weights(distances, model.weights, model.rate)
    targets = model._y[indices]
    if weights is None:
        return targets.mean(dim=1)
    weights = weights if targets.ndim == 2 else weights[:, :, None]
    return (targets * weights).sum(dim=1) / weights.sum(dim=1)


def predict_proba(model: Any, X: Any) -> Any:
    """Return each class's share of the votes."""
    votes = _votes(model, X)
    return votes / votes.sum(dim=1, keepdim=True)


def _votes(model: Any, X: Any) -> Any:
    """Return the sum of the neighbors' weights for each query and class: the nearest is added first, as in memory."""
    import torch

    distances, indices = kneighbors(model, X)
    weights = vote_weights(distances, model.weights, model.rate)
    weights = torch.ones_like(distances) if weights is None else weights
    votes = torch.zeros((len(indices), len(model.classes_)), dtype=torch.float64, device=X.device)
    codes = model._y[indices]
    for place in range(codes.shape[1]):
        votes.scatter_add_(1, codes[:, place : place + 1], weights[:, place : place + 1])
    return votes


def nearest_on_device(X: Any, queries: Any, k: int, metric: Metric, *, own: bool) -> tuple[Any, Any]:
    """Return distances and indices of shape (n_queries, k); with ``own`` no row is its own neighbor."""
    import torch

    unit = unit_of(X[:: max(1, len(X) // SAMPLED_ROWS)].cpu().numpy(), 2.0)
    rows, asked = (X, queries) if unit == 1.0 else (X * unit, queries * unit)
    wanted = min(k + own, len(X))
    squares, indices = _nearest(rows, asked, wanted)
    if own:  # the row itself is left out, or, behind equal ones, the last of all
        numbers = torch.arange(len(X), device=X.device)
        is_other = indices != numbers[:, None]
        is_other[:, -1] &= ~is_other.all(dim=1)
        squares, indices = squares[is_other].reshape(-1, k), indices[is_other].reshape(-1, k)
    distances = squares / unit / unit if metric.name == "sqeuclidean" else _roots(squares) / unit
    return distances, indices


def _roots(squares: Any) -> Any:
    """Return square roots to the last bit, as in memory: those of torch 2.13 on some processors are a bit off."""
    import torch

    return torch.as_tensor(np.sqrt(on_host(squares))) if squares.device.type == "cpu" else squares.sqrt()


def _nearest(X: Any, queries: Any, k: int) -> tuple[Any, Any]:
    """Return squared distances and indices, by the roughest bounds that decide about a query."""
    import torch

    squares = torch.empty((len(queries), k), dtype=torch.float64, device=X.device)
    indices = torch.empty((len(queries), k), dtype=torch.int64, device=X.device)
    left = torch.arange(len(queries), device=X.device)
    for dtype in (torch.float32, torch.float64):
        if len(left):
            found = GroupedRows(X, queries[left], dtype)
            squares[left], indices[left], is_sure = found.nearest(k)
            left = left[~is_sure]
    if len(left):
        squares[left], indices[left] = _measure_all(X, queries[left], k)
    return squares, indices


class GroupedRows:
    """Lower bounds of the distances of queries to rows, in groups: row r is in group ``r % n_groups``."""

    def __init__(self, X: Any, queries: Any, dtype: Any) -> None:
        import torch

        self.X, self.queries, self.dtype = X, queries, dtype
        sample = sample_of(X)
        center, self.unit = torch.from_numpy(sample.center).to(X.device), sample.unit
        rows, asked = (ShortRows.of(part, center, self.unit, dtype) for part in (X, queries))
        self.share = self._share(rows, asked)
        self.n_groups = -(-len(X) // (GROUP * WIDTH)) * WIDTH
        self.rows = self._padded(rows.short * -2.0, self._lowered(rows), self.n_groups * GROUP)
        self.asked = self._padded(asked.short, None, len(queries))
        is_safe = asked.squares <= LARGEST_SQUARE
        self.shifts = torch.where(is_safe, self._lowered(asked) - NEXT_TO_NOTHING, -torch.inf)

    def _share(self, rows: ShortRows, asked: ShortRows) -> float:
        """Return the part of the squares of row and query by which a product is lowered: more than it can err."""
        lost = sum(float((part.lost / (part.squares.sqrt() + 1e-18)).max()) for part in (rows, asked))
        d = self.X.shape[1]
        error = 1.1 * (lost + 2.2 * sum_error(d + 3, self.dtype) + 4 * (d + 8) * EPSILON)
        return error if error < 0.5 else float("inf")

    def _lowered(self, rows: ShortRows) -> Any:
        """Return what the squares of rows contribute to the bounds: nothing is ruled out for the largest ones."""
        import torch

        is_safe = (rows.squares <= LARGEST_SQUARE) & (self.share < 0.5)
        return torch.where(is_safe, (1.0 - self.share) * rows.squares, -FARTHEST)

    def _padded(self, values: Any, lowered: Any, height: int) -> Any:
        """Return values beside the parts of their squares, or of ones, with rows and columns that change no bound."""
        import torch

        n, d = values.shape
        table = torch.zeros((height, d + 3 + -(d + 3) % WIDTH), dtype=self.dtype, device=values.device)
        table[:n, :d] = values
        if lowered is None:
            table[:, d : d + 3] = 1.0
            return table
        is_safe = lowered > -FARTHEST
        table[:n, :d] *= is_safe[:, None]
        table[n:, d] = FARTHEST
        parts = [lowered] if self.dtype == torch.float64 else in_three(torch.where(is_safe, lowered, 0.0))
        for place, part in enumerate(parts):
            table[:n, d + place] = part
        table[:n, d] = torch.where(is_safe, table[:n, d], -FARTHEST)
        return table

    def nearest(self, k: int) -> tuple[Any, Any, Any]:
        """Return squared distances and indices of the nearest candidates, and whether no other row can be nearer."""
        import torch

        count = min(2 * k + SPARE[str(self.dtype).rpartition(".")[2]], self.n_groups)
        height = max(1, room_for(self.X.device) // (len(self.rows) * self.rows.element_size()))
        with tensor_cores():
            found = [self._candidates(part, max(count, -(-k // GROUP)), k) for part in self.asked.split(height)]
        candidates, excluded = (torch.cat(parts) for parts in zip(*found, strict=True))
        squares, indices = _measured(self.X, self.queries, candidates, k)
        return squares, indices, excluded.to(torch.float64) + self.shifts > squares[:, -1] * self.unit**2

    def _candidates(self, asked: Any, n_chosen: int, k: int) -> tuple[Any, Any]:
        """Return the rows with the smallest bounds of some queries, and the least bound of all others."""
        import torch

        bounds = (asked @ self.rows.T).view(len(asked), GROUP, self.n_groups)
        has_more = n_chosen < self.n_groups
        least, groups = bounds.amin(dim=1).topk(n_chosen + has_more, dim=1, largest=False)
        groups = groups[:, :n_chosen]
        members = bounds.gather(2, groups[:, None, :].expand(-1, GROUP, -1)).flatten(1)
        count, width = max(n_chosen, k), members.shape[1]
        lowest, places = members.topk(min(count + 1, width), dim=1, largest=False)
        rows = places // n_chosen * self.n_groups + groups.gather(1, places % n_chosen)
        next_bound = lowest[:, count] if count < width else torch.full_like(lowest[:, 0], FARTHEST)
        if has_more:
            next_bound = torch.minimum(next_bound, least[:, n_chosen])
        return rows[:, :count], next_bound


def _measured(X: Any, queries: Any, candidates: Any, k: int) -> tuple[Any, Any]:
    """Return the k nearest of the candidates of each query: by squares from differences, of equal ones the lower."""
    import torch

    candidates = candidates.sort(dim=1)[0]
    height = max(1, room_for(X.device, most=2.0**31) // (16 * X.shape[1] * candidates.shape[1]))
    squares = []
    for part, asked in zip(candidates.split(height), queries.split(height), strict=True):
        apart = X[part.clamp(max=len(X) - 1)].to(torch.float64)
        apart -= asked.to(torch.float64)[:, None, :]
        squares.append(_sums_in_order(apart.square_().movedim(2, 0)))
    measured = torch.where(candidates < len(X), torch.cat(squares), torch.inf)
    lengths, places = measured.sort(dim=1, stable=True)
    return lengths[:, :k], candidates.gather(1, places[:, :k])


def _measure_all(X: Any, queries: Any, k: int) -> tuple[Any, Any]:
    """Return the same from the differences to every row."""
    import torch

    found = []
    for asked in queries.to(torch.float64).split(max(1, room_for(X.device) // (64 * len(X)))):
        squares = _sums_in_order((X[:, j].to(torch.float64) - asked[:, j, None]).square_() for j in range(X.shape[1]))
        lengths, rows = squares.sort(dim=1, stable=True)
        found.append((lengths[:, :k], rows[:, :k]))
    lengths, rows = (torch.cat(parts) for parts in zip(*found, strict=True))
    return lengths, rows


def _sums_in_order(terms: Any) -> Any:
    """Return the sum of terms one after the other, each addition rounded by itself, as in memory."""
    total = None
    for term in terms:
        total = term.clone() if total is None else total.add_(term)
    return total
