"""Speed of kernel ridge regression: the same penalized squared error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.kernel_ridge import KernelRidge as PeerKernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.metrics.pairwise import rbf_kernel

from benchmarks.harness import OURS, Row
from pellucid.kernel_ridge import KernelRidge, KernelRidgeCV

ALPHAS = tuple(np.logspace(-3, 2, 10))


class Problem(NamedTuple):
    """Rows and targets, and the width of the kernel."""

    X: np.ndarray
    y: np.ndarray
    gamma: float


def waves(n: int, p: int) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p))
    return Problem(X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n), 1.0 / p)


def by(kind: Any, alpha: float) -> Callable[[Problem], np.ndarray]:
    return lambda data: kind(alpha, kernel="rbf", gamma=data.gamma).fit(data.X, data.y).dual_coef_


def objective(alpha: float) -> Callable[[Problem, np.ndarray], float]:
    """Return the squared errors plus the penalty, of dual coefficients."""

    def of(data: Problem, dual: np.ndarray) -> float:
        fitted = rbf_kernel(data.X, gamma=data.gamma) @ dual
        return float(np.sum((data.y - fitted) ** 2) + alpha * dual @ fitted)

    return of


def wide(n: int, p: int) -> Problem:
    """Return more columns than rows, where the products of rows are the smaller problem for a line as well."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p)) / np.sqrt(p)
    return Problem(X, X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(n), 1.0)


def rows() -> list[Row]:
    """Return the rows of the table."""
    found = [
        Row(
            f"KernelRidge rbf {n:,} x {p}, alpha = {alpha:g}",
            lambda n=n, p=p: waves(n, p),
            {OURS: by(KernelRidge, alpha), "sklearn": by(PeerKernelRidge, alpha)},
            objective(alpha),
            slack=1e-6,
        )
        for n, p, alpha in ((5_000, 20, 1.0), (5_000, 20, 0.01), (1_000, 10, 1.0), (300, 10, 1.0))
    ]
    cv = {
        OURS: lambda data: KernelRidgeCV(ALPHAS).fit(data.X, data.y),
        "sklearn RidgeCV": lambda data: RidgeCV(ALPHAS, fit_intercept=False).fit(data.X, data.y),
    }
    name = "KernelRidgeCV linear 1,000 x 2,000, ten alphas, left-out errors"
    return [*found, Row(name, lambda: wide(1_000, 2_000), cv, lambda _data, model: -model.best_score_)]
