"""Log densities as ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from pellucid.core.onnx.graph import WORDS, NotExportableError, Value
from pellucid.core.types import Array


def log_density(density: Any, x: Value) -> Value:
    """Return the log density at each row, of shape (rows, 1)."""
    match type(density).__name__:
        case "Gaussian":
            z = (x - density.mean) / float(np.sqrt(density.variance))
            return -0.5 * (z * z) - float(0.5 * np.log(2 * np.pi) + 0.5 * np.log(density.variance))
        case "MultivariateGaussian":
            whitener, log_det = _whitener(density)
            centered = x - density.mean
            z = centered @ whitener if whitener.ndim == 2 else centered * whitener
            return float(-0.5 * (len(density.mean) * np.log(2 * np.pi) + log_det)) - 0.5 * (z * z).sum()
        case "Logistic":
            z = (x - density.location).abs() / density.scale
            return -z - 2.0 * (1.0 + (-z).exp()).log() - float(np.log(density.scale))
        case "Bernoulli":
            return _looked_up(x, np.array([0.0, 1.0]), np.array([1.0 - density.p, density.p]))
        case "Categorical" if (density.categories.dtype.kind in "OU") == (x.dtype == WORDS):
            return _looked_up(x, density.categories, density.probabilities)
    raise NotExportableError(
        f"densities must be Gaussian, logistic, Bernoulli or categories of one kind to be exported, "
        f"got {density!r:.80}."
    )


def _whitener(density: Any) -> tuple[Array, float]:
    """Return what makes centered rows uncorrelated, of variance 1, and the log determinant of the covariance."""
    if density.kind != "full":
        deviation = np.broadcast_to(np.sqrt(density.covariance), density.mean.shape)
        return 1.0 / deviation, float(2.0 * np.log(deviation).sum())
    factor = np.linalg.cholesky(density.covariance)
    inverse = solve_triangular(factor, np.eye(len(density.mean)), lower=True).T
    return np.ascontiguousarray(inverse), float(2.0 * np.log(factor.diagonal()).sum())


def _looked_up(x: Value, categories: Array, probabilities: Array) -> Value:
    """Return the log probability of each value; minus infinity of one that has none."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.append(probabilities, 0.0))
    return x.places_in(categories, len(categories)).entries_of(logs)
