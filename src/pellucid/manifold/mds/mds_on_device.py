"""Maps of least stress from distances on a device: the steps of SMACOF in memory, their sums over pairs made there."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.arrays import on_host
from pellucid.core.fit import Fit
from pellucid.core.types import Array
from pellucid.manifold.mds.mds import is_metric, metric_of, warn_of_old_names

NUMBERS_AT_ONCE = 1 << 26


def fit_on_device(estimator: Any, data: Any, watch: Any) -> Fit:
    """Return the map of the rows' Euclidean distances."""
    warn_of_old_names(estimator)
    name = metric_of(estimator).name
    for wrong, said in (
        (not isinstance(name, str) or name not in ("euclidean", "l2"), f"metric must be 'euclidean', got {name!r}"),
        (not is_metric(estimator), "metric_mds must be True, got False"),
        (estimator.init != "random", f"init must be 'random', got {estimator.init!r}"),
    ):
        if wrong:
            raise ValueError(f"{said}: MDS has no other form for arrays on a device. Copy the data to the host.")
    distances = _distances(data.X.double(), data.X.double())
    return estimator._map_of(data.here, distances, None, lambda places: watch({"embedding_": places}))  # type: ignore[no-any-return]


fit_on_device.way = "sums over pairs in float64 there, those of the proof too, places on the host"  # type: ignore[attr-defined]


def stress_there(places: Array, wanted: Any) -> tuple[float, float, Array]:
    """Return the stress of places, the sum of their squared distances, and what each is pulled to."""
    import torch

    there = torch.as_tensor(np.ascontiguousarray(places), device=wanted.device)
    sums, pulled = torch.zeros(2, dtype=torch.float64, device=wanted.device), torch.empty_like(there)
    height = max(1, NUMBERS_AT_ONCE // len(there))
    for start in range(0, len(there), height):
        rows = slice(start, start + height)
        apart = _distances(there[rows], there)
        sums[1] += _squares(apart)
        pulls = (wanted[rows] / apart).masked_fill_(apart == 0.0, 0.0)
        pulled[rows] = there[rows] * pulls.sum(dim=1, keepdim=True) - pulls @ there
        sums[0] += _squares(apart.sub_(wanted[rows]))
    stress, spread = (0.5 * sums).tolist()  # every pair was seen twice
    return stress, spread, on_host(pulled)


def _squares(table: Any) -> Any:
    """Return the sum of squares, in one reading of the numbers."""
    flat = table.reshape(-1)
    return flat @ flat


def _distances(X: Any, Z: Any) -> Any:
    """Return the distances of rows from differences, a column at a time: torch.cdist starts a block for each pair."""
    import torch

    squares, apart = X.new_zeros((len(X), len(Z))), X.new_empty((len(X), len(Z)))
    for x, z in zip(X.T, Z.T, strict=True):
        torch.sub(x[:, None], z, out=apart)
        squares.addcmul_(apart, apart)
    return squares.sqrt_()
