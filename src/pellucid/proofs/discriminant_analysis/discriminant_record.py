"""Proof of what a discriminant analysis keeps for its reader: covariances, and how much each axis separates."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.discriminant_analysis.given_covariance import covariance
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim


def covariance_claim(stored: list[Array], right: list[Array], bound: float) -> Claim:
    """Return the claim that covariances are those of the data, each entry relative to the deviations of its columns."""
    errors = [np.inf] if len(stored) != len(right) else [_distance(*pair) for pair in zip(stored, right, strict=True)]
    return Claim("stored covariance", "distance from that of the data, relative to both columns", max(errors), bound)


def _distance(stored: Array, right: Array) -> float:
    if stored.shape != right.shape:
        return np.inf
    deviation = np.sqrt(np.diag(right))
    size = np.outer(deviation, deviation)
    return float(np.max(np.abs(stored - right) / np.where(size > 0.0, size, 1.0), initial=0.0))


def shared_covariance(X: Array, groups: list[Array], priors: Array) -> Array:
    """Return the covariances of the classes, weighted by the priors, without shrinkage."""
    parts = [X[rows] - X[rows].mean(axis=0) for rows in groups]
    return np.sum([prior * part.T @ part / len(part) for prior, part in zip(priors, parts, strict=True)], axis=0)


def ratio_claim(
    fitted: Any, parameters: Any, X: Array, means: Array, within: Array, priors: Array, bound: float
) -> Claim:
    """Return the claim about ``explained_variance_ratio_``: what each axis has of the spread between the classes.

    The solver ``eigen`` takes the total covariance less that within classes for the spread, ``svd`` that of the means.
    """
    scalings = fitted.scalings_.astype(float)
    if parameters.solver == "eigen":
        centered = X - X.mean(axis=0)
        given = parameters.shrinkage, parameters.covariance_estimator
        between = covariance(X, np.arange(len(X)), centered.T @ centered, *given) - within
        spread = np.einsum("jk,ji,ik->k", scalings, between, scalings)
    else:
        spread = priors @ ((means - priors @ means) @ scalings) ** 2
    total, stored = float(spread.sum()), np.asarray(fitted.explained_variance_ratio_, dtype=np.float64)
    error = np.inf
    if len(stored) <= max(len(spread), len(means)):
        right = np.zeros(len(stored))  # axes that separate nothing have no scaling
        right[: len(spread)] = spread[: len(stored)]
        # the variance within classes is 1 along every axis: rounding is relative to that, too
        error = float(np.max(np.abs(stored * total - right), initial=0.0)) / (1.0 + float(np.abs(spread).sum()))
    return Claim("separation", "distance of explained_variance_ratio_ from what the axes explain", error, bound)
