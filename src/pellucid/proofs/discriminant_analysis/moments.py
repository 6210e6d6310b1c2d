"""What the proofs of discriminant analyses share: moments of the classes as the parameters want them, from the rows."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Claim
from pellucid.proofs.rounding import EPSILON


def class_priors(priors: Any, counts: Array) -> Array:
    """Return the priors, made to add up to 1: the user's, or the shares of the classes."""
    given = np.asarray(counts if priors is None else priors, dtype=np.float64)
    return given if priors is not None and abs(given.sum() - 1.0) <= 1e-5 else given / given.sum()


def covariance(rows: Array, shrinkage: Any, estimator: Any) -> Array:
    """Return the covariance of rows, divided by their number: plain, shrunken, or by an estimator."""
    if estimator is not None:
        fitted = deepcopy(estimator)
        fitted.fit(rows)
        return np.asarray(fitted.covariance_, dtype=np.float64)
    centered = rows - rows.mean(axis=0)
    if isinstance(shrinkage, str):
        return _ledoit_wolf(centered, rows.mean(axis=0))
    plain = centered.T @ centered / len(rows)
    return plain if shrinkage is None else _shrunken(plain, shrinkage)


def _shrunken(plain: Array, share: float) -> Array:
    """Return the covariance drawn towards the multiple of the identity with the same trace."""
    return (1.0 - share) * plain + share * np.trace(plain) / len(plain) * np.eye(len(plain))


def _ledoit_wolf(centered: Array, mean: Array) -> Array:
    """Return the covariance shrunken as Ledoit and Wolf advise, in units of the deviations."""
    n, p = centered.shape
    variance = np.mean(centered**2, axis=0)
    is_constant = variance <= n * EPSILON * variance + (n * mean * EPSILON) ** 2
    deviation = np.where(is_constant, 1.0, np.sqrt(variance))
    rows = centered / deviation
    rows = rows - rows.mean(axis=0)
    plain = rows.T @ rows / n
    level = np.trace(plain) / p
    # mean squared distance of the products of single rows from their mean, over that of the mean from the identity
    noise = (np.sum(np.sum(rows**2, axis=1) ** 2) / n - np.sum(plain**2)) / n
    spread = float(np.sum((plain - level * np.eye(p)) ** 2))
    share = min(noise, spread) / spread if spread > 0.0 and p > 1 else 0.0
    return np.asarray(_shrunken(plain, share) * np.outer(deviation, deviation))


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
