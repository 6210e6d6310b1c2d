"""Speed of the densities: fits and log densities of many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.covariance import EmpiricalCovariance
from sklearn.mixture import GaussianMixture

from benchmarks.harness import OURS, Row
from pellucid.probability import Gaussian, Logistic, MultivariateGaussian

ROUNDING = 1e-9
"""Errors below this are all the same: nobody wins by a last digit."""


class Rows(NamedTuple):
    """Data and a density that was fitted to them."""

    X: np.ndarray
    density: Any


def correlated(n: int, p: int, mean: float = 1.0, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p)) + mean
    return Rows(X, MultivariateGaussian.fit(X))


def numbers(n: int, seed: int = 0) -> Rows:
    x = np.random.default_rng(seed).logistic(3.0, 2.0, n)
    return Rows(x, Gaussian.fit(x))


def negative_log_likelihood(data: Rows, fitted: tuple[np.ndarray, np.ndarray]) -> float:
    """Return the mean over all rows, from a covariance that is computed in one piece."""
    mean, covariance = fitted
    centered = data.X - data.X.mean(axis=0)
    scatter = centered.T @ centered / len(centered) + np.outer(mean - data.X.mean(axis=0), mean - data.X.mean(axis=0))
    return float(np.linalg.slogdet(covariance)[1] + np.trace(np.linalg.solve(covariance, scatter))) / 2


def numpy_fit(data: Rows) -> tuple[np.ndarray, np.ndarray]:
    return data.X.mean(axis=0), np.cov(data.X, rowvar=False, bias=True)


def only_numpy_cov(data: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance alone: what the mean costs is not counted against NumPy."""
    return data.density.mean, np.cov(data.X, rowvar=False, bias=True)


def scikit_learn_fit(data: Rows) -> tuple[np.ndarray, np.ndarray]:
    model = EmpiricalCovariance(store_precision=False).fit(data.X)
    return model.location_, model.covariance_


def our_fit(data: Rows) -> tuple[np.ndarray, np.ndarray]:
    density = MultivariateGaussian.fit(data.X)
    return density.mean, density.covariance


def fit_row(name: str, n: int, p: int, mean: float = 1.0) -> Row:
    contenders: dict[str, Callable[[Rows], Any]] = {
        OURS: our_fit,
        "numpy.cov alone": only_numpy_cov,
        "numpy mean and cov": numpy_fit,
        "scikit-learn": scikit_learn_fit,
    }
    return Row(name, lambda: correlated(n, p, mean), contenders, negative_log_likelihood, rounds=5)


def log_density_error(data: Rows, logs: np.ndarray) -> float:
    """Return the largest relative error on some rows, against a solve in extended precision."""
    rows = data.X[:: max(1, len(data.X) // 500)]
    mean, covariance = (
        np.atleast_1d(data.density.mean),
        np.atleast_2d(getattr(data.density, "covariance", data.density.variance)),
    )
    factor = np.linalg.cholesky(covariance).astype(np.longdouble)
    z = (rows.reshape(len(rows), -1) - mean).astype(np.longdouble).T
    for i in range(len(factor)):
        z[i] = (z[i] - factor[i, :i] @ z[:i]) / factor[i, i]
    exact = (
        -0.5 * (z**2).sum(axis=0)
        - np.log(factor.diagonal()).sum()
        - 0.5 * len(factor) * np.log(2 * np.longdouble(np.pi))
    )
    return max(ROUNDING, float(np.max(np.abs(logs[:: max(1, len(data.X) // 500)] / exact - 1))))


def scikit_learn_log_density(data: Rows) -> np.ndarray:
    model = GaussianMixture(1, covariance_type="full")
    model.weights_, model.means_ = np.ones(1), data.density.mean[None]
    factor = np.linalg.cholesky(data.density.covariance)
    model.precisions_cholesky_ = np.linalg.inv(factor).T[None]
    return model.score_samples(data.X)


def log_density_row(name: str, n: int, p: int) -> Row:
    return Row(
        name,
        lambda: correlated(n, p),
        {
            OURS: lambda data: data.density.log_prob(data.X),
            "scipy.stats": lambda data: stats.multivariate_normal(data.density.mean, data.density.covariance).logpdf(
                data.X
            ),
            "scikit-learn": scikit_learn_log_density,
        },
        log_density_error,
        rounds=5,
    )


def logistic_loss(data: Rows, parameters: tuple[float, float]) -> float:
    return -float(stats.logistic(*parameters).logpdf(data.X).mean())


def our_logistic(data: Rows) -> tuple[float, float]:
    density = Logistic.fit(data.X)
    return density.location, density.scale


def rows() -> list[Row]:
    """Return the rows of the table."""
    return [
        fit_row("MultivariateGaussian.fit 1,000,000 x 20", 1_000_000, 20),
        fit_row("MultivariateGaussian.fit 1,000,000 x 20, mean 1e6", 1_000_000, 20, mean=1e6),
        fit_row("MultivariateGaussian.fit 100,000 x 200", 100_000, 200),
        fit_row("MultivariateGaussian.fit 1,000 x 5", 1_000, 5),
        log_density_row("MultivariateGaussian.log_prob 200,000 x 20", 200_000, 20),
        log_density_row("MultivariateGaussian.log_prob 20,000 x 200", 20_000, 200),
        Row(
            "Gaussian.fit 1,000,000",
            lambda: numbers(1_000_000),
            {
                OURS: lambda data: Gaussian.fit(data.X),
                "scipy.stats": lambda data: Gaussian(
                    *(float(v) ** k for v, k in zip(stats.norm.fit(data.X), (1, 2), strict=True))
                ),
            },
            lambda data, density: -float(density.log_prob(data.X).mean()),
        ),
        Row(
            "Gaussian.log_prob 1,000,000",
            lambda: numbers(1_000_000),
            {
                OURS: lambda data: data.density.log_prob(data.X),
                "scipy.stats": lambda data: stats.norm.logpdf(
                    data.X, data.density.mean, np.sqrt(data.density.variance)
                ),
            },
            log_density_error,
        ),
        Row(
            "Logistic.fit 100,000",
            lambda: numbers(100_000),
            {OURS: our_logistic, "scipy.stats": lambda data: stats.logistic.fit(data.X)},
            logistic_loss,
            rounds=3,
        ),
    ]
