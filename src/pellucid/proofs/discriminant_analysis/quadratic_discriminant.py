"""Proof of a quadratic discriminant analysis: means, priors, axes and variances solve their equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.discriminant_analysis.moments import class_priors, covariance, covariance_claim
from pellucid.proofs.rounding import rounding_unit
from pellucid.proofs.training_data import TrainingData

LARGEST_BOUND = 1e-3
"""Part of a covariance that rounding may change; beyond it nothing worth saying can be said."""

UNEQUAL = "Columns differ so much in size that rounding changes the covariances of the smallest; standardize X"


def prove_quadratic(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X = np.asarray(data.X, dtype=np.float64)
    groups = [np.flatnonzero(data.y == code) for code in range(len(fitted.classes_))]
    priors = class_priors(parameters.priors, np.array([len(rows) for rows in groups]))
    means = np.stack([X[rows].mean(axis=0) for rows in groups])
    spreads = [covariance(X[rows], parameters.shrinkage, parameters.covariance_estimator) for rows in groups]
    return _certificate(fitted, parameters, means, spreads, priors)


def _certificate(fitted: Any, parameters: Any, means: Array, spreads: list[Array], priors: Array) -> Certificate:
    r"""Return the certificate for these moments of the data.

    - means: distance of the fitted ones, relative to the deviation plus the distance from 0 of their column;
    - axes: :math:`R'R = I`;
    - covariances: :math:`R\,\mathrm{diag}(s)\,R'` is the regularized covariance of the class, each entry relative to
      the deviations of its two columns. Rounding of the axes is relative to the largest deviation of all.
    """
    unit = rounding_unit(np.float64)
    if parameters.solver == "svd":
        own, ridge = 1 - parameters.reg_param, parameters.reg_param * np.eye(means.shape[1])
        spreads = [own * spread + ridge for spread in spreads]
    variances = np.array([np.diag(spread) for spread in spreads])
    widest = 2.0 * unit * float(np.sqrt(np.max(variances.max(axis=1) / variances.min(axis=1))))
    if widest > LARGEST_BOUND:
        return Certificate("none", reason=f"{UNEQUAL} (by {widest:.1g} of themselves).")
    parts = [
        _claims_of(fitted, k, mean, spread, unit) for k, (mean, spread) in enumerate(zip(means, spreads, strict=True))
    ]
    priors_claim = _claim("priors", "distance of the priors", float(np.abs(fitted.priors_ - priors).max()), unit)
    claims = (*map(worst_claim, zip(*parts, strict=True)), priors_claim)
    if parameters.store_covariance:
        claims += (covariance_claim(fitted.covariance_, spreads, widest * widest / unit),)
    return Certificate("exact", claims)


def _claims_of(fitted: Any, k: int, mean: Array, spread: Array, unit: float) -> tuple[Claim, ...]:
    """Return the claims about the mean, the axes and the covariance of a class."""
    deviation = np.sqrt(np.diag(spread))
    rotation, scaling = fitted.rotations_[k], fitted.scalings_[k]
    off_mean = np.abs(fitted.means_[k] - mean) / (deviation + np.abs(mean))
    off_axes = np.abs(rotation.T @ rotation - np.eye(rotation.shape[1]))
    off_spread = np.abs((rotation * scaling) @ rotation.T - spread) / np.outer(deviation, deviation)
    unequal = unit * (deviation.max() / deviation)
    bounds = unequal[:, None] + unequal
    worst = np.unravel_index(np.argmax(off_spread / bounds), bounds.shape)
    return (
        _claim("means", "distance of the class means, relative to their columns", float(off_mean.max()), unit),
        _claim("axes", "distance of the axes from orthonormal ones", float(off_axes.max()), unit * len(mean)),
        _claim(
            "covariances",
            "distance of the covariances that axes and variances make up, relative to both columns",
            float(off_spread[worst]),
            float(bounds[worst]),
        ),
    )


def _claim(name: str, statement: str, value: float, bound: float) -> Claim:
    return Claim(name, f"{statement}, 0 up to rounding", value, bound, "Fit again, or standardize X.")


PROVES = {"QuadraticDiscriminantAnalysis": prove_quadratic}
