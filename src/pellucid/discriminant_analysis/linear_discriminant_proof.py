"""Proof of a linear discriminant analysis: means, priors and discriminants solve their equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh

from pellucid.core.certificate import Certificate, Claim
from pellucid.core.rounding import EPSILON
from pellucid.core.training_data import TrainingData
from pellucid.core.types import Array
from pellucid.discriminant_analysis.given_covariance import covariance
from pellucid.discriminant_analysis.given_priors import class_priors

SINGLE = float(np.finfo(np.float32).eps)


def prove_linear(fitted: Any, parameters: Any, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    X = np.asarray(data.X, dtype=np.float64)
    groups = [np.flatnonzero(data.y == code) for code in range(len(fitted.classes_))]
    means = np.stack([X[rows].mean(axis=0) for rows in groups])
    priors = class_priors(parameters.priors, np.array([len(rows) for rows in groups]))
    return linear_certificate(fitted, parameters, means, _covariance(parameters, X, groups, means, priors), priors)


def linear_certificate(fitted: Any, parameters: Any, means: Array, within: Array, priors: Array) -> Certificate:
    r"""Return the certificate for these moments of the data, in units of the deviations within classes.

    - means and priors: distance of the fitted ones;
    - discriminants: :math:`\Sigma w_k = \mu_k` (less the common center for ``svd``; differences for two classes), in
      the directions that vary within classes;
    - projection: the covariance is the identity there;
    - intercepts: :math:`-\frac12\mu_k'w_k + \log\pi_k`, in the same form.
    """
    deviation = np.sqrt(np.diag(within))
    deviation[deviation == 0] = 1.0
    values, vectors = eigh(within / np.outer(deviation, deviation))
    kept = values > (parameters.tol**2 if parameters.solver == "svd" else len(values) * EPSILON)
    condition = float(values[-1] / values[kept].min()) if kept.any() else 1.0
    goal = _right_hand_side(fitted, parameters, means, priors)
    to_units = vectors[:, kept].T / deviation
    residual = np.abs(to_units @ (within @ fitted.coef_.T.astype(float) - goal)).max(initial=0.0)
    size = max(1.0, float(np.abs(to_units @ goal).max(initial=0.0)))
    distances = np.abs(fitted.means_ - means) / deviation
    # so many digits are lost to the distance of the data from 0, and to the precision of the model
    rounding = 1e3 * (EPSILON if fitted.coef_.dtype == np.float64 else SINGLE) * _far_away(means, deviation)
    claims = (
        _claim("means", "distance of the class means, in deviations", float(distances.max()), rounding),
        _claim("priors", "distance of the prior probabilities", float(np.abs(fitted.priors_ - priors).max()), rounding),
        _claim(
            "discriminants",
            "residual of covariance times coefficients, relative",
            float(residual) / size,
            rounding * condition,
        ),
        _claim(
            "intercepts",
            "distance of the intercepts from what the coefficients imply, relative",
            _intercept_error(fitted, parameters, means, priors),
            rounding,
        ),
    )
    return Certificate("exact", (*claims, *_projection_claims(fitted, means, within, priors, rounding, condition)))


def _projection_claims(
    fitted: Any, means: Array, within: Array, priors: Array, rounding: float, condition: float
) -> tuple[Claim, ...]:
    """Return what is claimed of the projection, if there is one.

    The classes have unit covariance in it, its axes separate them better than the next and point to where their largest
    entry is, and its origin (``svd``) is the center of the classes.
    """
    if not hasattr(fitted, "scalings_"):
        return ()
    scalings = fitted.scalings_.astype(float)
    distance = np.abs(scalings.T @ within @ scalings - np.eye(scalings.shape[1])).max(initial=0.0)
    center = priors @ means
    spread = priors @ ((means - center) @ scalings) ** 2
    known = spread[: len(means) - 1]  # further axes separate nothing, and stand in any order
    rises = float(np.max(np.diff(known), initial=0.0)) / max(float(known.max(initial=0.0)), 1.0)
    backward = -float(np.min(scalings.max(axis=0) + scalings.min(axis=0), initial=0.0)) if scalings.size else 0.0
    size = float(np.abs(scalings).max(initial=0.0))
    claims = [
        _claim(
            "projection",
            "distance of the covariance in the projection from the identity",
            float(distance),
            rounding * condition,
        ),
        _claim("axes", "by how much a later axis separates the classes better", rises, rounding * condition),
        _claim("direction", "by how much an axis points backward", backward / max(size, 1.0), rounding),
    ]
    if hasattr(fitted, "xbar_"):
        deviation = np.sqrt(np.diag(within))
        deviation[deviation == 0] = 1.0
        distance = np.abs((fitted.xbar_ - center) / deviation).max()
        claims.append(
            _claim("origin", "distance of the origin from the mean, in deviations", float(distance), rounding)
        )
    return tuple(claims)


def _claim(name: str, statement: str, value: float, bound: float) -> Claim:
    return Claim(name, f"{statement}, 0 up to rounding", value, bound, "Fit again, or use shrinkage.")


def _covariance(parameters: Any, X: Array, groups: list[Array], means: Array, priors: Array) -> Array:
    """Return the shared covariance: pooled by counts for ``svd``, weighted by the priors otherwise."""
    if parameters.solver == "svd":
        centered = np.concatenate([X[rows] - mean for rows, mean in zip(groups, means, strict=True)])
        return centered.T @ centered / len(X)
    parts = [
        prior * covariance(X, rows, _scatter(X[rows] - mean), parameters.shrinkage, parameters.covariance_estimator)
        for prior, rows, mean in zip(priors, groups, means, strict=True)
    ]
    return np.sum(parts, axis=0)


def _scatter(centered: Array) -> Array:
    return centered.T @ centered


def _right_hand_side(fitted: Any, parameters: Any, means: Array, priors: Array) -> Array:
    """Return what covariance times coefficients must be."""
    if len(fitted.classes_) == 2:
        return np.asarray(means[1:] - means[:1]).T
    return np.asarray(means - priors @ means if parameters.solver == "svd" else means).T


def _far_away(means: Array, deviation: Array) -> float:
    """Return how many deviations the data are away from 0, at least 1."""
    return max(1.0, float((np.abs(means).max(axis=0) / deviation).max()))


def _intercept_error(fitted: Any, parameters: Any, means: Array, priors: Array) -> float:
    coef, given = fitted.coef_.astype(float), fitted.intercept_.astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):  # a prior of 0 has an infinite logarithm
        logs = np.log(priors)
        if len(fitted.classes_) == 2:
            implied = -0.5 * coef @ (means[0] + means[1]) + logs[1] - logs[0]
        elif parameters.solver == "svd":
            center = priors @ means
            implied = -0.5 * np.sum((means - center) * coef, axis=1) + logs - coef @ center
        else:
            implied = -0.5 * np.sum(means * coef, axis=1) + logs
        error = np.where(np.isinf(given) & (given == implied), 0.0, np.abs(given - implied))
    return float(np.max(error)) / (1.0 + float((np.abs(means) @ np.abs(coef).T).max()))
