"""Proof of a quadratic discriminant analysis: means, priors, axes and variances solve their equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.discriminant_analysis.given_covariance import covariance
from pellucid.discriminant_analysis.given_priors import class_priors


def prove_quadratic(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X = np.asarray(data.X, dtype=np.float64)
    groups = [np.flatnonzero(data.y == code) for code in range(len(fitted.classes_))]
    priors = class_priors(parameters.priors, np.array([len(rows) for rows in groups]))
    means = np.stack([X[rows].mean(axis=0) for rows in groups])
    spreads = [
        covariance(X, rows, _scatter(X[rows] - mean), parameters.shrinkage, parameters.covariance_estimator)
        for rows, mean in zip(groups, means, strict=True)
    ]
    return quadratic_certificate(fitted, parameters, means, spreads, priors)


def quadratic_certificate(
    fitted: Any, parameters: Any, means: Array, spreads: list[Array], priors: Array
) -> Certificate:
    r"""Return the certificate for these moments of the data.

    - means and priors: distance of the fitted ones;
    - axes: :math:`R'R = I`;
    - covariances: :math:`R\,\mathrm{diag}(s)\,R'` is the regularized covariance of the class, relative to its size.
    """
    errors = np.array(
        [
            _errors(fitted, parameters, k, mean, spread)
            for k, (mean, spread) in enumerate(zip(means, spreads, strict=True))
        ]
    )
    largest_mean, largest_axes, largest_spread = errors[:, :3].max(axis=0)
    rounding = 1e3 * EPSILON * max(1.0, float(errors[:, 3].max()))  # digits are lost to the distance of the data from 0
    distance = float(np.abs(fitted.priors_ - priors).max())
    claims = (
        ("means", "distance of the class means, in deviations", largest_mean, rounding),
        ("priors", "distance of the prior probabilities", distance, rounding),
        ("axes", "distance of the axes from orthonormal ones", largest_axes, rounding * means.shape[1]),
        (
            "covariances",
            "distance of the covariances that axes and variances make up, relative",
            largest_spread,
            rounding,
        ),
    )
    return Certificate(
        "exact",
        tuple(Claim(name, f"{says}, 0 up to rounding", float(value), bound) for name, says, value, bound in claims),
    )


def _errors(fitted: Any, parameters: Any, k: int, mean: Array, spread: Array) -> tuple[float, float, float, float]:
    """Return the errors of a class: mean, axes, covariance; and how many deviations it is away from 0."""
    if parameters.solver == "svd":
        spread = (1 - parameters.reg_param) * spread + parameters.reg_param * np.eye(len(mean))
    size = float(np.sqrt(np.trace(spread)))
    rotation, scaling = fitted.rotations_[k], fitted.scalings_[k]
    return (
        float(np.abs(fitted.means_[k] - mean).max()) / size,
        float(np.abs(rotation.T @ rotation - np.eye(rotation.shape[1])).max()),
        float(np.abs((rotation * scaling) @ rotation.T - spread).max()) / size**2,
        float(np.abs(mean).max()) / size,
    )


def _scatter(centered: Array) -> Array:
    return centered.T @ centered
