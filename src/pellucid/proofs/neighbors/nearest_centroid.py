r"""Proof of NearestCentroid: centroids, spreads, deviations and priors are those of the rows, up to rounding.

A centroid is wrong by some :math:`\epsilon(|\mu| + \sigma)`, and moves each spread :math:`s` by no more than the first
part of that. With :math:`t = s + \operatorname{median}(s)` a deviation is :math:`d = (\mu - \bar\mu) / (m t)`, so that
its error is that of the means over :math:`m t`, plus :math:`|d|` times the relative error of :math:`t`. Soft
thresholding makes no error larger, and :math:`m t` times it reaches a shrunken centroid. All sizes are the data's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.proofs.arrays import Array, dense
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.naive_bayes.class_density import relative_distance
from pellucid.proofs.rounding import EPSILON, sum_error
from pellucid.proofs.sampling import at_most_wrong, drawn, graded, is_fitting
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

NUMBERS_AT_ONCE = 1 << 22
NUMBERS_AT_FIT = 1 << 16
"""A fit looks at columns of no more numbers than this, or at one."""


def prove_nearest_centroid(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate of the fitted attributes, recomputed column by column and class by class.

    Where a fit looks at some columns only, nothing is said of deviations: their unit is a median over all columns.
    """
    (n, width), n_classes = data.X.shape, len(data.classes)
    counts, bound = np.bincount(data.y, minlength=n_classes), 2.0 * sum_error(n)
    is_sample = is_fitting() and parameters.shrink_threshold is None
    columns = drawn(width, max(1, NUMBERS_AT_FIT // n)) if is_sample else np.arange(width)
    centers, scatters, mean = _moments(data, parameters.metric, columns)
    size = np.abs(centers) + np.sqrt(scatters / counts[:, None])
    spread = np.sqrt(scatters.sum(axis=0) / max(n - n_classes, 1))
    spread_error = bound * spread + 8.0 * EPSILON * np.abs(centers).max(axis=0)
    distances = [("within-class deviation", fitted.within_class_std_dev_[columns], spread, spread_error)]
    if len(columns) == width:
        unit = spread + np.median(spread)
        error = spread_error + np.median(spread + spread_error) - np.median(np.maximum(spread - spread_error, 0.0))
        share = np.divide(error, unit, out=np.zeros_like(unit), where=unit > 0.0)
        chance = np.sqrt(1.0 / counts - 1.0 / n)[:, None] * unit  # how far a mean of so many rows is by chance
        moved = _Shrinking(centers, centers - mean, chance, bound * (size + np.abs(mean)), share)
        distances += moved.distances(fitted, parameters.shrink_threshold, bound * size)
    else:
        distances.append(("centroids", fitted.centroids_[:, columns], centers, bound * size))
    said = f"distance from that of the rows, relative to its size{at_most_wrong(len(columns), width)}"
    claims = [
        Claim(name, said, relative_distance(found, right, allowed / bound), bound)
        for name, found, right, allowed in distances
    ]
    prior = float(np.max(np.abs(fitted.class_prior_ - _stated_prior(parameters.priors, counts))))
    return graded("exact", (*claims, Claim("class prior", "distance from the stated prior", prior, bound)))


@dataclass(frozen=True)
class _Shrinking:
    """Centroids, their distance from the mean, its unit, the error of the distance, the relative one of the unit."""

    centers: Array
    away: Array
    unit: Array
    error: Array
    share: Array

    def distances(self, fitted: Seen, threshold: float | None, reach: Array) -> list[tuple[str, Array, Array, Array]]:
        """Return found, right and allowed error of centroids and deviations; without a unit nothing shrinks."""
        away, has_unit, right = self.away, self.unit > 0.0, self.centers
        scaled = np.divide(away, self.unit, out=np.where(away == 0.0, 0.0, np.copysign(np.inf, away)), where=has_unit)
        finite = np.where(has_unit, scaled, 0.0)
        allowed = np.divide(self.error, self.unit, out=np.ones_like(away), where=has_unit) + np.abs(finite) * self.share
        if threshold is not None:
            scaled = np.copysign(np.maximum(np.abs(scaled) - threshold, 0.0), scaled)
            moved = right - away + self.unit * np.where(has_unit, scaled, 0.0)
            right, reach = np.where(has_unit, moved, right), np.where(has_unit, 2.0 * self.unit * allowed, reach)
        same = np.isinf(scaled) & (fitted.deviations_ == scaled)
        return [
            ("centroids", fitted.centroids_, right, reach),
            ("deviations", np.where(same, 0.0, fitted.deviations_), np.where(same, 0.0, scaled), allowed),
        ]


def _moments(data: TrainingData, metric: str, columns: Array) -> tuple[Array, Array, Array]:
    """Return centroids and sums of squared distances from them, (n_classes, n_columns), and the mean of all rows."""
    X = sparse.csc_array(data.X) if sparse.issparse(data.X) else data.X
    rows_of = [np.flatnonzero(data.y == code) for code in range(len(data.classes))]
    centers, scatters = np.empty((len(rows_of), len(columns))), np.empty((len(rows_of), len(columns)))
    mean, step = np.empty(len(columns)), max(1, NUMBERS_AT_ONCE // X.shape[0])
    for these in (slice(start, start + step) for start in range(0, len(columns), step)):
        block = dense(X[:, columns[these]]).astype(np.float64)
        mean[these] = _mean(block)
        for code, rows in enumerate(rows_of):
            own = block[rows]
            center = _mean(own) if metric == "euclidean" else np.median(own, axis=0)
            centers[code, these], scatters[code, these] = center, ((own - center) ** 2).sum(axis=0)
    return centers, scatters, mean


def _mean(rows: Array) -> Array:
    """Return the mean, about the first row so that a large offset costs no digits."""
    return np.asarray(rows[0] + (rows - rows[0]).mean(axis=0))


def _stated_prior(priors: Any, counts: Array) -> Array:
    if isinstance(priors, str):
        return np.full(len(counts), 1.0 / len(counts)) if priors == "uniform" else counts / counts.sum()
    given = np.asarray(priors, dtype=np.float64)
    return given if np.isclose(given.sum(), 1.0) else given / given.sum()


PROVES = {"NearestCentroid": prove_nearest_centroid}
