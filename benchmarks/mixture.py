"""Speed of mixtures: 20 steps of EM from the same start, and how time grows with rows, components and columns.

``python -m benchmarks mixture`` also prints the memory that a fit needs beyond X.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import sklearn.mixture as peer
from rich.console import Console

import pellucid.mixture as ours
from benchmarks.growth import print_growth
from benchmarks.harness import OURS, Row

STEPS = 20


class Problem(NamedTuple):
    """Rows, and the settings with which everybody starts from the same components."""

    X: np.ndarray
    settings: dict[str, Any]


def blobs(n: int, d: int, k: int, covariance_type: str, apart: float = 1.0) -> Problem:
    """Return rows around k centers; with ``apart=1`` about three components share a row in 20 columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)) + apart * rng.standard_normal((k, d))[rng.integers(k, size=n)]
    precisions = {
        "full": np.tile(np.eye(d), (k, 1, 1)),
        "tied": np.eye(d),
        "diag": np.ones((k, d)),
        "spherical": np.ones(k),
    }[covariance_type]
    start = {"weights_init": np.full(k, 1 / k), "means_init": X[:k].copy(), "precisions_init": precisions}
    return Problem(X, {"n_components": k, "covariance_type": covariance_type, **start})


def by(kind: Any) -> Callable[[Problem], Any]:
    return lambda data: kind(**data.settings, max_iter=STEPS, tol=0.0).fit(data.X)


def loss(_data: Problem, model: Any) -> float:
    """Return minus the lower bound of the last step."""
    return -float(model.lower_bound_)


def rows() -> list[Row]:
    """Return the rows of the table."""
    contenders = {OURS: by(ours.GaussianMixture), "sklearn": by(peer.GaussianMixture)}
    shapes = (
        (100_000, 20, 10, "full", 1.0),
        (200_000, 50, 16, "diag", 1.0),
        (200_000, 50, 16, "diag", 3.0),
        (100_000, 20, 10, "tied", 1.0),
        (200_000, 20, 10, "spherical", 1.0),
    )
    return [
        Row(
            f"GaussianMixture {kind} {n:,} x {d}, K = {k}{', far apart' if apart > 1 else ''}",
            lambda n=n, d=d, k=k, kind=kind, apart=apart: blobs(n, d, k, kind, apart),
            contenders,
            loss,
            rounds=3,
            slack=1e-9,
        )
        for n, d, k, kind, apart in shapes
    ]


def report(console: Console, only: str) -> None:
    """Print how time and memory grow, unless other rows are asked for."""
    if only:
        return
    sizes = (
        (20_000, 10, 5), (40_000, 10, 5), (80_000, 10, 5), (20_000, 20, 5), (20_000, 40, 5), (20_000, 10, 10),
        (20_000, 10, 20),
    )  # fmt: skip
    title = f"GaussianMixture full, {STEPS} steps: growth from 20,000 x 10, K = 5"
    print_growth(console, title, sizes, lambda n, d, k: blobs(n, d, k, "full"), by(ours.GaussianMixture))
