"""Lines of ``benchmarks card`` about distances and densities: clusters, mixtures, neighbors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn import cluster, kernel_ridge, manifold, mixture, neighbors, svm

from benchmarks.card import CardRow, numbers
from benchmarks.linear_classifiers import DATA
from benchmarks.network_data import digits
from pellucid.cluster import KMeans
from pellucid.kernel_ridge import KernelRidge
from pellucid.manifold import MDS
from pellucid.mixture import GaussianMixture
from pellucid.neighbors import KNeighborsRegressor
from pellucid.svm import SVC

ROUNDS, STEPS = 20, 5


def card_rows(scale: float) -> list[CardRow]:
    """Return the lines."""
    return [
        _kmeans(scale),
        _start(scale),
        _mixture(scale),
        _neighbors(scale),
        _kernel_ridge(scale),
        _svc(scale),
        *([_svc_of_digits(scale)] if (DATA / "mnist").exists() else []),
        _mds(scale),
    ]


def _mixture(scale: float) -> CardRow:
    """Five steps of EM from given means; scikit-learn's time is linear in the rows."""
    n, d, k = max(12_000, int(1e6 * scale)), 32, max(4, min(64, int(640 * scale**0.5)))
    options: dict[str, Any] = {"max_iter": STEPS, "tol": 0.0, "init_params": "random_from_data"}
    options["weights_init"] = np.full(k, 1.0 / k)

    def fitted(kind: Any, data: Mapping[str, Any]) -> Any:
        given = {"means_init": numbers(data["X"][:k]), "precisions_init": np.tile(np.eye(d), (k, 1, 1))}
        return kind(k, **options, **given).fit(data["X"])

    features = d * (d + 1) // 2 + d + 1
    return CardRow(
        f"GaussianMixture full, {STEPS} steps, {k} components", _blobs(n, d, k),
        lambda data: fitted(GaussianMixture, data), lambda data: fitted(mixture.GaussianMixture, data), _likelihood,
        flops=4.0 * n * features * k * STEPS, bytes=4.0 * n * d * STEPS, part=0.05,
    )  # fmt: skip


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


def _kernel_ridge(scale: float) -> CardRow:
    """A Gaussian kernel of all rows; scikit-learn gets half of them: its time grows with their cube."""
    n, d = max(600, int(4e4 * scale ** (1 / 3))), 64
    options: dict[str, Any] = {"kernel": "rbf", "gamma": 1.0 / d, "alpha": 1.0}

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        X = torch.randn((n, d), generator=random, device=there)
        return {"X": X, "y": (X[:, 0] * X[:, 1]).sin() + 0.1 * torch.randn(n, generator=random, device=there)}

    return CardRow(
        f"KernelRidge rbf, {n:,} rows", make, lambda data: KernelRidge(**options).fit(data["X"], data["y"]),
        lambda data: kernel_ridge.KernelRidge(**options).fit(data["X"], data["y"]), _errors,
        flops=n**3 / 3.0, bytes=8.0 * n**2, part=0.5, power=3.0,
    )  # fmt: skip


def _svc(scale: float) -> CardRow:
    """Ten classes of 784 columns that overlap: scikit-learn gets all rows, as its time grows faster than they do."""
    n, d, k = max(900, int(2e4 * scale**0.5)), 784, 10

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        random = torch.Generator(there).manual_seed(0)
        labels = torch.randint(k, (n,), generator=random, device=there)
        latent = torch.randn((k, 20), generator=random, device=there)[labels]
        latent += torch.randn((n, 20), generator=random, device=there)
        X = (latent @ torch.randn((20, d), generator=random, device=there)).tanh()
        return {"X": X, "y": labels}

    return CardRow(
        f"SVC rbf, {n:,} rows, {k} classes", make, lambda data: SVC(cache_size=1000).fit(data["X"], data["y"]),
        lambda data: svm.SVC(cache_size=1000).fit(data["X"], data["y"]), _dual, flops=2.0 * n * n * d * (k - 1) / k,
    )  # fmt: skip


def _svc_of_digits(scale: float) -> CardRow:
    """The images of MNIST, where PELLUCID_DATA names a folder with them."""
    options: dict[str, Any] = {"C": 5.0, "cache_size": 1000}

    def make(there: Any) -> Mapping[str, Any]:
        import torch

        images = digits()
        count = max(900, int(len(images.X) * scale))
        X, y = images.X[:count].reshape(count, -1), images.y[:count]
        return {"X": torch.from_numpy(X).to(there), "y": torch.from_numpy(y).to(there)}

    return CardRow(
        "SVC rbf, MNIST", make, lambda data: SVC(**options).fit(data["X"], data["y"]),
        lambda data: svm.SVC(**options).fit(data["X"], data["y"]), _dual,
    )  # fmt: skip


def _mds(scale: float) -> CardRow:
    """Fifty steps of SMACOF from one random start: scikit-learn gets all rows, as its time grows with their square."""
    n, steps = max(200, int(1e4 * scale**0.5)), 50
    options: dict[str, Any] = {"n_init": 1, "max_iter": steps, "eps": 0.0, "random_state": 0, "init": "random"}
    return CardRow(
        f"MDS, {n:,} rows, {steps} steps", _blobs(n, 16, 5), lambda data: MDS(**options).fit(data["X"]),
        lambda data: manifold.MDS(**options).fit(data["X"].astype(np.float64)), _stress, bytes=24.0 * n * n * steps,
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


def _likelihood(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    theirs = float(np.mean(other.score_samples(numbers(data["X"]))))
    return (theirs - float(numbers(ours.score_samples(data["X"])).mean())) / abs(theirs)


def _errors(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    """Return how much larger our penalized squared error is: minus the dual objective, which both share at the end."""
    y = numbers(data["y"])
    mine, theirs = (float(numbers(model.dual_coef_) @ y) for model in (ours, other))
    return mine / theirs - 1.0


def _dual(ours: Any, other: Any, data: Mapping[str, Any]) -> float:
    """Return how much smaller our dual objective is, over all machines: the larger, the better."""
    X = numbers(data["X"])
    found = []
    for model in (ours, other):
        vectors, coefs = numbers(X[numbers(model.support_).astype(int)]), numbers(model.dual_coef_)
        squares = np.square(vectors).sum(axis=1)
        products = np.exp(-_gamma(X) * (squares[:, None] + squares - 2.0 * vectors @ vectors.T))
        ends = np.concatenate([[0], np.cumsum(numbers(model.n_support_).astype(int))])
        total = 0.0
        for i in range(len(ends) - 1):
            for j in range(i + 1, len(ends) - 1):
                beta = np.zeros(len(vectors))
                beta[ends[i] : ends[i + 1]] = coefs[j - 1, ends[i] : ends[i + 1]]
                beta[ends[j] : ends[j + 1]] = coefs[i, ends[j] : ends[j + 1]]
                total += np.abs(beta).sum() - 0.5 * beta @ products @ beta
        found.append(total)
    return 1.0 - found[0] / found[1]


def _gamma(X: Any) -> float:
    return 1.0 / (X.shape[1] * float(X.var()))


def _stress(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    return float(ours.stress_) / float(other.stress_) - 1.0


def _farther(ours: Any, other: Any, _data: Mapping[str, Any]) -> float:
    """Return how much farther our neighbors are, at most."""
    return float(np.max(numbers(ours[0]) / other[0].astype(np.float64))) - 1.0
