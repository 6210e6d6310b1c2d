"""Lines of ``benchmarks card`` about factors: nonnegative ones, components in the space of a kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import decomposition

from benchmarks.card import CardRow, numbers
from pellucid.decomposition import NMF, KernelPCA


def card_rows(scale: float) -> list[CardRow]:
    """Return the lines."""
    return [_nmf(scale), _kernel_pca(scale)]


def _nmf(scale: float) -> CardRow:
    """Scikit-learn's 200 rounds, and as many of ours as reach its error: ours sweep more often for a product."""
    n, d, q = max(600, int(1e5 * scale)), max(40, min(1000, int(1e4 * scale**0.5))), 32 if scale > 0.01 else 5
    options: dict[str, Any] = {"tol": 0.0, "random_state": 0}

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        weights, parts, noise = (
            torch.rand(shape, generator=random, device=there) for shape in ((n, q), (q, d), (n, d))
        )
        return {"X": (weights * (weights > 0.5)) @ parts + 0.1 * noise}

    return CardRow(
        f"NMF, {n:,} x {d}, {q} parts, 40 rounds", make, lambda data: NMF(q, max_iter=40, **options).fit(data["X"]),
        lambda data: decomposition.NMF(q, max_iter=200, **options).fit(data["X"]), _error,
        bytes=8.0 * n * d * 40, part=0.1,
    )  # fmt: skip


def _kernel_pca(scale: float) -> CardRow:
    """Ten components of a Gaussian kernel: scikit-learn gets half of the rows, its time grows with their square."""
    n, d = max(600, int(2e4 * scale**0.5)), 64
    options: dict[str, Any] = {"n_components": 10, "kernel": "rbf", "gamma": 0.1 / d, "random_state": 0}

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        centers = 2.0 * torch.randn((20, d), generator=random, device=there)
        X = torch.randn((n, d), generator=random, device=there)
        return {"X": X + centers[torch.randint(20, (n,), generator=random, device=there)]}

    return CardRow(
        f"KernelPCA rbf, {n:,} rows, 10 components", make, lambda data: KernelPCA(**options).fit(data["X"]),
        lambda data: decomposition.KernelPCA(eigen_solver="arpack", **options).fit(data["X"]), _captured,
        bytes=8.0 * n * n * 20, flops=2.0 * n * n * d, part=0.5, power=2.0,
    )  # fmt: skip


def _captured(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    """Return how much less of the spread our components have."""
    mine, theirs = (float(numbers(model.eigenvalues_).sum()) for model in (ours, other))
    return 1.0 - mine / theirs


def _error(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    return float(numbers(ours.reconstruction_err_)) / float(other.reconstruction_err_) - 1.0
