r"""Proof of a fitted Gaussian: the score vanishes, whatever the kind of covariance and with or without a prior.

A conjugate prior acts like :math:`\kappa` more rows at :math:`m` and a scatter :math:`\Psi` that is added. With
:math:`S(\mu) = \sum_i w_i (x_i - \mu)(x_i - \mu)^\top + \kappa(m - \mu)(m - \mu)^\top + \Psi` the score is zero iff

.. math:: \sum_i w_i (x_i - \mu) + \kappa (m - \mu) = 0 \quad\text{and}\quad S(\mu) = (n + c)\,\Sigma,

for a constant :math:`c` of the prior; a diagonal or spherical covariance needs the diagonal or the trace of that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.probability.sample_data import SampleData
from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim
from pellucid.proofs.rounding import EPSILON, sum_error

ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class PriorAsData:
    """What a prior adds: rows at a place, a scatter, and to the number of rows that the scatter is divided by."""

    rows: Any = 0.0
    place: Any = 0.0
    scatter: Any = 0.0
    divisor: float = 0.0
    fixes_spread: bool = False


def prove_gaussian(mean: Array, covariance: Array, data: SampleData, prior: Any) -> Certificate:
    """Return the certificate of a mean and a covariance, which is a matrix, a diagonal or one number."""
    variance = covariance.diagonal() if covariance.ndim == 2 else np.broadcast_to(covariance, mean.shape)
    added = _as_data(prior, covariance, len(mean))
    shift, scatter = _sums(data, mean, full=covariance.ndim == 2)
    toward_prior = added.place - mean
    size = (data.total + added.rows) * (np.abs(mean) + np.sqrt(variance))
    score = float(np.max(np.abs(shift + added.rows * toward_prior) / size))
    bound = 2.0 * sum_error(len(data.values))  # of the stored sums and of these
    claims = [Claim("mean score", "relative size of the gradient in the mean, 0 up to rounding", score, bound)]
    if not added.fixes_spread:
        seen = float(np.max((EPSILON * mean) ** 2 / variance))  # what rounding of the mean adds to the scatter
        misfit = _misfit(scatter, added, toward_prior, covariance, data.total)
        claims.append(
            Claim(
                "spread score",
                "relative size of the gradient in the covariance, 0 up to rounding",
                misfit,
                bound + seen,
            )
        )
    return Certificate("exact", tuple(claims))


def _misfit(scatter: Array, added: PriorAsData, gap: Array, covariance: Array, total: float) -> float:
    """Return the largest difference of the covariance from what the data say, in units of the deviations."""
    if covariance.ndim == 2:
        wanted = (scatter + added.rows * np.outer(gap, gap) + added.scatter) / (total + added.divisor)
        deviation = np.sqrt(covariance.diagonal())
        return float(np.max(np.abs(wanted - covariance) / np.outer(deviation, deviation)))
    per_column = scatter + added.rows * gap**2
    if covariance.ndim == 0:
        wanted = (per_column.sum() + added.scatter) / (len(gap) * total + added.divisor)
    else:
        wanted = (per_column + added.scatter) / (total + added.divisor)
    return float(np.max(np.abs(wanted / covariance - 1)))


def _as_data(prior: Any, covariance: Array, p: int) -> PriorAsData:
    name = type(prior).__name__
    if prior is None:
        return PriorAsData()
    if name == "NormalInverseWishart" and covariance.ndim == 2:
        return PriorAsData(prior.pseudo_count, prior.location, prior.scale, prior.degrees + p + 2)
    if name == "NormalInverseGamma" and covariance.ndim < 2:
        means_sharing_it = p if covariance.ndim == 0 else 1
        return PriorAsData(prior.pseudo_count, prior.location, 2 * prior.scale, 2 * prior.shape + 2 + means_sharing_it)
    if name == "Gaussian" and p == 1:
        return PriorAsData(covariance / prior.variance, prior.mean, fixes_spread=True)
    raise TypeError(f"prior must be the conjugate prior that the density was fitted with, got {name}.")


def _sums(data: SampleData, mean: Array, *, full: bool) -> tuple[Array, Array]:
    """Return the weighted sums of ``x - mean`` and of its products with itself."""
    p = len(mean)
    shifts, scatter = [], np.zeros((p, p) if full else p)
    for start in range(0, len(data.values), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        centered = data.values[rows].astype(np.float64) - mean
        weighted = centered if data.weight is None else centered * data.weight[rows, None]
        shifts.append(weighted.sum(axis=0))
        scatter += weighted.T @ centered if full else (weighted * centered).sum(axis=0)
    return np.sum(shifts, axis=0), scatter
