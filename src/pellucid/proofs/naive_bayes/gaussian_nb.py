r"""Proof of a Gaussian naive Bayes model: its parameters are the weighted moments of the classes, up to rounding.

Means are stored rounded, by :math:`\epsilon|\mu|`. The variance of all rows and the variances of a fit in parts are
made from differences of means, which are at most some deviations, so they may be wrong by some
:math:`\epsilon|\mu|\sigma`: that much is allowed on top of the rounding of sums. Both sizes are those of the data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pellucid.core.labels import rows_by_class
from pellucid.naive_bayes.spot_check import few_columns, parts_remark, spot_moments, spot_remark
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, TINY, sum_error
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 4096


def prove_gaussian_nb(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed class by class in two passes."""
    X, weight, n = data.X, data.weights, data.X.shape[0]
    total, bound = float(weight.sum()), 2.0 * sum_error(n)  # of the stored sums and of these
    rows_of = rows_by_class(data.y, len(data.classes))
    counts = np.array([weight[rows].sum() for rows in rows_of])
    center, overall = weighted_moments(X, np.arange(n), weight)
    epsilon = parameters.var_smoothing * overall.max()
    lost = parameters.var_smoothing * rounded_means(np.abs(center) + np.sqrt(overall), overall).max()
    mean, variance = (np.array(part) for part in zip(*(weighted_moments(X, r, weight) for r in rows_of), strict=True))
    size = variance + epsilon + (rounded_means(mean, variance) + lost) / bound
    kept = fitted.scatter_ / np.maximum(counts, TINY)[:, None]  # what a later part would go on from
    return _certificate(
        bound,
        "",
        counts=float(np.abs(fitted.class_count_ - counts).max()) / total,
        prior=_prior_distance(fitted, parameters, counts / total),
        means=relative_distance(fitted.theta_, mean, np.abs(mean) + np.sqrt(variance)),
        variances=max(
            relative_distance(fitted.var_, variance + epsilon, size), relative_distance(kept, variance, size)
        ),
        smoothing=relative_distance(fitted.epsilon_, epsilon, epsilon + lost / bound),
    )


def spot_check_gaussian_nb(fitted: Any, parameters: Any, part: Any, data: TrainingData, n_parts: int) -> Certificate:
    """Return the certificate of a fit: the moments of its last part measured on a few columns, the rest from these."""
    n, p = data.X.shape
    bound, columns = 2.0 * sum_error(n), few_columns(p)
    counts, mean, variance = spot_moments(data.X, columns, data.y, data.weight, len(data.classes))
    total = np.where(fitted.class_count_ > 0, fitted.class_count_, 1.0)[:, None]
    share = fitted.class_count_ / fitted.class_count_.sum()
    gap = fitted.theta_ - fitted.theta_[0]
    overall = fitted.scatter_.sum(axis=0) / fitted.class_count_.sum() + share @ (gap - share @ gap) ** 2
    epsilon = parameters.var_smoothing * overall.max()
    lost = parameters.var_smoothing * rounded_means(np.abs(fitted.theta_).max(axis=0), overall).max()
    kept = part.scatter[:, columns] / np.where(counts > 0, counts, 1.0)[:, None]
    right = fitted.scatter_ / total + fitted.epsilon_
    return _certificate(
        bound,
        " ".join(filter(None, (parts_remark(n_parts), spot_remark(p)))),
        counts=float(np.abs(part.total - counts).max()) / float(counts.sum()),
        prior=_prior_distance(fitted, parameters, share),
        means=relative_distance(part.mean[:, columns], mean, np.abs(mean) + np.sqrt(variance)),
        variances=max(
            relative_distance(kept, variance, variance + fitted.epsilon_ + rounded_means(mean, variance) / bound),
            relative_distance(fitted.var_, right, right),
        ),
        smoothing=relative_distance(fitted.epsilon_, epsilon, epsilon + lost / bound),
    )


def _certificate(
    bound: float, remark: str, *, counts: float, prior: float, means: float, variances: float, smoothing: float
) -> Certificate:
    """Return the certificate of measured relative errors."""
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", counts, bound),
        Claim("class prior", "distance from the stated prior", prior, bound),
        Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
        Claim("variances", "relative distance from class variance plus smoothing", variances, bound),
        Claim("smoothing", "relative distance from var_smoothing times the largest variance", smoothing, bound),
    )
    return Certificate("exact", claims, remark)


def _prior_distance(fitted: Any, parameters: Any, shares: Array) -> float:
    stated = shares if parameters.priors is None else np.asarray(parameters.priors, dtype=np.float64)
    return float(np.abs(fitted.class_prior_ - stated).max())


def rounded_means(mean: Array, variance: Array) -> Array:
    """Return how far variances that are made from differences of rounded means may be off."""
    return np.asarray(4 * EPSILON * np.abs(mean) * np.sqrt(variance))


def weighted_moments(X: Array, rows: Array, weight: Array) -> tuple[Array, Array]:
    """Return the weighted mean and variance of some rows; 0 if they weigh nothing."""
    total = float(weight[rows].sum())
    if total == 0:
        return np.zeros(X.shape[1]), np.zeros(X.shape[1])
    guess = sum(w @ block for block, w in _blocks(X, rows, weight)) / total
    shift, square = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for block, w in _blocks(X, rows, weight):
        centered = block - guess
        shift += w @ centered
        square += w @ centered**2
    # the guess is rounded: what that adds to mean and scatter is taken off again
    return guess + shift / total, np.maximum(square / total - (shift / total) ** 2, 0.0)


def _blocks(X: Array, rows: Array, weight: Array) -> Iterator[tuple[Array, Array]]:
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        yield X[some].astype(np.float64), weight[some]


def relative_distance(found: Any, right: Any, size: Any) -> float:
    """Return the largest distance relative to the sizes; where a size is 0, or for NaN, it is infinite."""
    gap, size = np.broadcast_arrays(np.abs(np.subtract(found, right)), size)
    relative = np.divide(gap, size, out=np.where(gap > 0, np.inf, 0.0), where=size > 0)
    return float(np.where(np.isnan(gap) | np.isnan(relative), np.inf, relative).max(initial=0.0))
