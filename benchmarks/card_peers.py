"""Fits on a card against other libraries of tensors: ``python -m benchmarks card_peers``, where they are installed.

k-means runs the same rounds from the same centers. What counts beside the time: the distances of all rows to their
centers, summed in double precision, and how many rows have a label that is not their nearest center.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.card import SCALE, _timed
from pellucid.cluster import KMeans

ROUNDS, COLUMNS = 20, 64


def report(console: Console, only: str) -> None:
    """Print the table."""
    import torch

    there = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n, k = max(2000, int(1e7 * SCALE)), max(8, min(256, int(2560 * SCALE**0.5)))
    random = torch.Generator(there).manual_seed(0)
    middles = torch.randn((4 * k, COLUMNS), generator=random, device=there) * 3.0
    X = torch.randn((n, COLUMNS), generator=random, device=there)
    X += middles[torch.randint(4 * k, (n,), generator=random, device=there)]
    table = Table(title=f"k-means, {n:,} x {COLUMNS}, {k} clusters, {ROUNDS} rounds")
    for heading in ("library", "seconds", "sum of squares", "rows not with their nearest center"):
        table.add_column(heading, justify="left" if heading == "library" else "right")
    for name, fit in _libraries(k).items():
        if only not in name:
            continue
        (labels, centers), seconds = _timed(lambda fit=fit: fit(X, X[:k].clone()), there)  # type: ignore[misc]
        squares, strays = _judged(X, labels, centers)
        table.add_row(name, f"{seconds:.3f}", f"{squares:.9g}", f"{strays:,}")
        console.print(f"{name}: {seconds:.3f} s, {squares:.9g}, {strays:,}", highlight=False)
    console.print(table)


def _libraries(k: int) -> dict[str, Callable[[Any, Any], tuple[Any, Any]]]:
    """Return, by the name of a library, what clusters rows from given centers.

    The labels of the others are those of their last round, before it moved the centers; ours are of the last centers.
    """
    found: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {"pellucid": _ours}
    if find_spec("flash_kmeans"):
        found["flash-kmeans"] = lambda X, start: _flash(X, start, k)
    if find_spec("fast_pytorch_kmeans"):
        found["fast-pytorch-kmeans"] = lambda X, start: _fast(X, start, k)
    return found


def _ours(X: Any, start: Any) -> tuple[Any, Any]:
    import torch

    model = KMeans(len(start), init=start.cpu().numpy(), n_init=1, max_iter=ROUNDS, tol=0.0).fit(X)
    return torch.as_tensor(model.labels_), torch.as_tensor(model.cluster_centers_)


def _flash(X: Any, start: Any, k: int) -> tuple[Any, Any]:
    from flash_kmeans import batch_kmeans_Euclid

    labels, centers, *_ = batch_kmeans_Euclid(X[None], k, max_iters=ROUNDS, tol=0.0, init_centroids=start[None])
    return labels[0], centers[0]


def _fast(X: Any, start: Any, k: int) -> tuple[Any, Any]:
    from fast_pytorch_kmeans import KMeans as FastKMeans

    model = FastKMeans(k, max_iter=ROUNDS, tol=0.0)
    return model.fit_predict(X, start), model.centroids


def _judged(X: Any, labels: Any, centers: Any) -> tuple[float, int]:
    """Return the sum of squared distances, and of how many rows another center is nearer, both in double precision."""
    import torch

    squares, strays, middles = 0.0, 0, centers.to(torch.float64)
    for start in range(0, len(X), 1 << 18):
        rows, own = X[start : start + (1 << 18)].to(torch.float64), labels[start : start + (1 << 18)].long()
        distances = torch.cdist(rows, middles, compute_mode="donot_use_mm_for_euclid_dist")
        mine = distances.gather(1, own[:, None])[:, 0]
        squares += float((mine**2).sum())
        strays += int((mine > distances.min(dim=1).values).sum())
    return squares, strays
