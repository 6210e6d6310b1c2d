"""Lines of ``benchmarks card`` about distances and densities: clusters, mixtures, neighbors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn import cluster, neighbors

from benchmarks.card import CardRow, numbers
from pellucid.cluster import KMeans
from pellucid.neighbors import KNeighborsRegressor

ROUNDS = 20


def card_rows(scale: float) -> list[CardRow]:
    """Return the lines."""
    return [_kmeans(scale), _start(scale), _neighbors(scale)]


def _kmeans(scale: float) -> CardRow:
    """K-means from given rows, always so many rounds: scikit-learn's time is linear in the rows."""
    n, d, k = max(2000, int(1e7 * scale)), 64, max(8, min(256, int(2560 * scale**0.5)))
    options: dict[str, Any] = {"n_init": 1, "max_iter": ROUNDS, "tol": 0.0}

    def ours(data: Mapping[str, Any]) -> Any:
        return KMeans(k, init=data["X"][:k].cpu().numpy(), **options).fit(data["X"])

    def peer(data: Mapping[str, Any]) -> Any:
        return cluster.KMeans(k, init=data["X"][:k], **options).fit(data["X"])

    return CardRow(
        f"KMeans, {ROUNDS} rounds, {k} clusters", _blobs(n, d, 4 * k), ours, peer, _inertia,
        flops=2.0 * n * d * k * ROUNDS, bytes=4.0 * n * d * ROUNDS, part=0.1,
    )  # fmt: skip


def _start(scale: float) -> CardRow:
    """The start k-means++ with one round: the draws need a pass each."""
    n, d, k = max(2000, int(1e6 * scale)), 64, max(8, min(256, int(2560 * scale**0.5)))
    options: dict[str, Any] = {"n_init": 1, "max_iter": 1, "random_state": 0}
    return CardRow(
        f"KMeans, the start k-means++ of {k}", _blobs(n, d, 4 * k), lambda data: KMeans(k, **options).fit(data["X"]),
        lambda data: cluster.KMeans(k, **options).fit(data["X"]), _inertia, bytes=4.0 * n * d * k,
    )  # fmt: skip


def _neighbors(scale: float) -> CardRow:
    """Ten neighbors of other rows; scikit-learn's time is linear in the queries, and it gets a twentieth of them."""
    n, asked, d = max(2000, int(1e6 * scale)), max(150, int(1e5 * scale)), 128

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        rows, queries = (torch.randn((count, d), generator=random, device=there) for count in (n, asked))
        return {"X": rows, "y": rows[:, 0].contiguous(), "queries": queries}

    def answer(model: Any, data: Mapping[str, Any]) -> Any:
        return model.fit(data["X"], data["y"]).kneighbors(data["queries"])

    return CardRow(
        f"10 neighbors of {asked:,} among {n:,}", make, lambda data: answer(KNeighborsRegressor(10), data),
        lambda data: answer(neighbors.KNeighborsRegressor(10, algorithm="brute", n_jobs=-1), data), _farther,
        flops=2.0 * n * asked * d, part=0.05, cut="queries",
    )  # fmt: skip


def _blobs(n: int, d: int, k: int) -> Callable[[Any], Mapping[str, Any]]:
    """Return what makes rows around so many centers on a device, overlapping."""

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        centers = torch.randn((k, d), generator=random, device=there)
        X = torch.randn((n, d), generator=random, device=there)
        X += centers[torch.randint(k, (n,), generator=random, device=there)]
        return {"X": X}

    return make


def _inertia(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    return float(ours.inertia_) / float(other.inertia_) - 1.0


def _farther(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    """Return how much farther our neighbors are, at most."""
    return float(np.max(numbers(ours[0]) / other[0].astype(np.float64))) - 1.0
