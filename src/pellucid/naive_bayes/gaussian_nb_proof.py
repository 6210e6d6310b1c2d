"""Proof of a Gaussian naive Bayes model: its parameters are the weighted moments of the classes, up to rounding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON, sum_error
from pellucid.core.types import Array
from pellucid.naive_bayes.partial_fits import parts_remark
from pellucid.naive_bayes.spot_check import few_columns, spot_moments, spot_remark

ROWS_AT_ONCE = 4096
TINY = float(np.finfo(np.float64).tiny)


def gaussian_certificate(
    model: Any,
    remark: str,
    *,
    counts: float,
    prior: float,
    means: float,
    variances: float,
    smoothing: float,
) -> Certificate:
    """Return the certificate of a fitted model from measured relative errors.

    Means are stored rounded. Differences between them, from which the overall variance and the variances of a fit in
    parts are made, feel that: the bounds there grow with the size of the means in deviations.
    """
    n_parts = len(model.trace_)
    bound = sum_error(int(model.class_count_.sum()))
    rounded = 4 * EPSILON * float(np.max(np.abs(model.theta_) / np.sqrt(np.maximum(model.var_, TINY))))
    claims = (
        Claim("class counts", "relative distance from the weights of the classes", counts, bound),
        Claim("class prior", "distance from the stated prior", prior, bound),
        Claim("means", "distance from the class means, relative to their size and deviation", means, bound),
        Claim(
            "variances",
            "relative distance from class variance plus smoothing",
            variances,
            bound + (rounded if n_parts > 1 else 0.0),
        ),
        Claim(
            "smoothing",
            "relative distance from var_smoothing times the largest variance",
            smoothing,
            bound + rounded,
        ),
    )
    return Certificate("exact", claims, " ".join(filter(None, (parts_remark(n_parts), remark))))


def spot_check_gaussian_nb(model: Any, part: Any, X: Array, codes: Array, weight: Array | None) -> Certificate:
    """Return the certificate of a fit: the moments of its last part measured on a few columns, the rest from these."""
    columns = few_columns(X.shape[1])
    counts, mean, variance = spot_moments(X, columns, codes, weight, len(model.classes_))
    total = np.where(model.class_count_ > 0, model.class_count_, 1.0)[:, None]
    share = model.class_count_ / model.class_count_.sum()
    center = share @ model.theta_
    overall = model.scatter_.sum(axis=0) / model.class_count_.sum() + share @ (model.theta_ - center) ** 2
    epsilon = model.var_smoothing * overall.max()
    spread = variance + model.epsilon_
    kept = part.scatter[:, columns] / np.where(counts > 0, counts, 1.0)[:, None]
    right = model.scatter_ / total + model.epsilon_
    return gaussian_certificate(
        model,
        spot_remark(X.shape[1]),
        counts=float(np.abs(part.total - counts).max()) / float(counts.sum()),
        prior=float(np.abs(model.class_prior_ - (share if model.priors is None else np.asarray(model.priors))).max()),
        means=relative_distance(part.mean[:, columns], mean, np.abs(mean) + np.sqrt(variance)),
        variances=max(relative_distance(kept, variance, spread), relative_distance(model.var_, right, right)),
        smoothing=relative_distance(np.array(model.epsilon_), np.array(epsilon), np.array(epsilon)),
    )


def prove_gaussian_nb(model: Any, X: Array, y: Array, weight: Array | None) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed class by class in two passes."""
    weight = np.ones(len(X)) if weight is None else weight
    total = float(weight.sum())
    of_class = [np.flatnonzero(y == label) for label in model.classes_]
    counts = np.array([weight[rows].sum() for rows in of_class])
    strangers = total - counts.sum()
    prior = counts / total if model.priors is None else np.asarray(model.priors, dtype=np.float64)
    _, overall = weighted_moments(X, np.arange(len(X)), weight)
    epsilon = model.var_smoothing * overall.max()
    means = variances = 0.0
    for k, rows in enumerate(of_class):
        mean, variance = weighted_moments(X, rows, weight)
        size = np.abs(mean) + np.sqrt(variance)
        means = max(means, relative_distance(model.theta_[k], mean, size))
        kept = model.scatter_[k] / max(counts[k], TINY)  # what a later part would go on from
        variances = max(
            variances,
            relative_distance(model.var_[k], variance + epsilon, variance + epsilon),
            relative_distance(kept, variance, variance + epsilon),
        )
    return gaussian_certificate(
        model,
        "",
        counts=float(np.abs(model.class_count_ - counts).max() + abs(strangers)) / total,
        prior=float(np.abs(model.class_prior_ - prior).max()),
        means=means,
        variances=variances,
        smoothing=relative_distance(np.array(model.epsilon_), np.array(epsilon), np.array(epsilon)),
    )


def weighted_moments(X: Array, rows: Array, weight: Array) -> tuple[Array, Array]:
    """Return the weighted moments of some rows; 0 if they weigh nothing."""
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


def relative_distance(found: Array, right: Array, size: Array) -> float:
    """Return the largest distance relative to the sizes; where a size is 0, any distance is infinitely far."""
    gap = np.abs(found - right)
    relative = np.divide(gap, size, out=np.where(gap > 0, np.inf, 0.0), where=size > 0)
    return float(np.where(np.isnan(gap), np.inf, relative).max(initial=0.0))
