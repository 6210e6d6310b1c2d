r"""Proofs of linear and quadratic discriminant analysis: means, priors and discriminants solve their equations.

Means, priors and covariances are computed again. A linear discriminant must solve :math:`\Sigma w_k = \mu_k` where the
rows vary within classes; an error :math:`\delta` of it changes the scores of rows by
:math:`\sqrt{\delta'\Sigma\delta}`, typically, and that is what is measured, in parts of the scores. In units of the
deviations, rounding of the moments changes the scores by a part :math:`\kappa\varepsilon`, with the condition
:math:`\kappa` of :math:`\Sigma`: the bound.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from pellucid.proofs.arrays import Array
from pellucid.proofs.certificate import Certificate, Claim, worst_claim
from pellucid.proofs.rounding import EPSILON, rounding_unit
from pellucid.proofs.seen import Seen
from pellucid.proofs.training_data import TrainingData

ROWS_AT_ONCE = 1024
LARGEST_BOUND = 1e-3
"""Part of the scores that rounding may change; beyond it nothing worth saying can be said."""

COLLINEAR = "Features are so nearly dependent that rounding decides the coefficients; drop some, or use shrinkage"


def prove_linear(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    """Return the certificate from the data and the fitted attributes alone."""
    shrinkage, estimator = parameters.shrinkage, parameters.covariance_estimator
    groups = [np.flatnonzero(data.y == code) for code in range(len(fitted.classes_))]
    means, covariances = moments(data, groups, shrinkage, estimator)
    counts = np.array([data.weights[rows].sum() for rows in groups])
    priors = class_priors(parameters.priors, counts)
    shared = np.tensordot(priors, covariances, axes=1)
    within = np.tensordot(counts / counts.sum(), covariances, axes=1) if parameters.solver == "svd" else shared
    certificate = _certificate(fitted, parameters, means, within, priors, data.dtype)
    if not certificate.claims:
        return certificate
    claims, bound = [], certificate["discriminants"].bound + rounding_unit(data.dtype)
    if hasattr(fitted, "covariance_"):
        claims.append(covariance_claim([fitted.covariance_], [shared], bound))
    if hasattr(fitted, "explained_variance_ratio_"):
        scalings = fitted.scalings_.astype(float)
        if parameters.solver == "eigen":  # it takes the total covariance less that within classes for the spread
            between = moments(data, [np.arange(len(data.y))], shrinkage, estimator)[1][0] - within
            spread = np.einsum("jk,ji,ik->k", scalings, between, scalings)
        else:
            spread = priors @ ((means - priors @ means) @ scalings) ** 2
        claims.append(_ratio_claim(fitted.explained_variance_ratio_, spread, len(means), 4.0 * bound))
    return certificate.with_claims(*claims)


def _certificate(fitted: Seen, parameters: Seen, means: Array, within: Array, priors: Array, dtype: Any) -> Certificate:
    r"""Return the certificate for these moments of the data.

    - means: distance of the fitted ones, relative to the deviation plus the distance from 0 of their column;
    - discriminants: :math:`\Sigma w_k = \mu_k` (less the common center for ``svd``; differences for two classes) in the
      directions that vary within classes, and no part of :math:`w_k` in the others. The error :math:`\delta` is
      measured by :math:`\sqrt{\delta'\Sigma\delta}`: so much, typically, are the scores of rows wrong;
    - projection: the covariance is the identity there;
    - intercepts: :math:`-\frac12\mu_k'w_k + \log\pi_k`, in the same form.

    In units of the deviations, with :math:`\kappa` the condition of :math:`\Sigma` there, rounding of the moments
    changes the scores by a part :math:`\kappa\varepsilon`, that of the coefficients by :math:`\sqrt\kappa\varepsilon`.
    """
    axes = _Axes.of(within, parameters)
    unit = rounding_unit(dtype)
    stored = 0.0 if dtype == np.float64 else float(np.finfo(dtype).eps)
    goal = axes.whitened(_right_hand_side(fitted, parameters, means, priors))
    size = float(np.linalg.norm(goal, axis=0).max(initial=0.0)) or 1.0
    error = axes.distance(fitted.coef_.T.astype(float), goal)
    noise = float(np.linalg.norm(np.abs(means).max(axis=0) / axes.deviation)) / np.sqrt(axes.smallest)
    solved = 100 * EPSILON * axes.condition + stored * np.sqrt(axes.condition)
    bound = solved + 16 * EPSILON * noise / size
    if bound > LARGEST_BOUND:
        return Certificate("none", reason=f"{COLLINEAR} (by {bound:.1g} of the scores).")
    distances = np.abs(fitted.means_ - means) / (axes.deviation + np.abs(means))
    off, off_priors = _intercept_error(fitted, parameters, means, priors), float(np.abs(fitted.priors_ - priors).max())
    claims = (
        _claim("means", "distance of the class means, relative to their columns", float(distances.max()), unit),
        _claim("priors", "distance of the prior probabilities", off_priors, unit),
        _claim("discriminants", "error of the scores that the coefficients make, relative", error / size, bound),
        _claim("intercepts", "distance of the intercepts from what the coefficients imply, relative", off, unit),
    )
    return Certificate("exact", (*claims, *_projection_claims(fitted, means, within, priors, unit, 2.0 * solved)))


@dataclass(frozen=True)
class _Axes:
    """The directions that vary within classes, each feature in units of its deviation."""

    deviation: Array
    values: Array
    vectors: Array

    @classmethod
    def of(cls, within: Array, parameters: Seen) -> _Axes:
        """Return the axes that the solver keeps."""
        deviation = _deviations(within)
        values, vectors = eigh(within / np.outer(deviation, deviation), driver="evd")
        kept = values > (parameters.tol**2 if parameters.solver == "svd" else _dependent(len(values)))
        return cls(deviation, values[kept], vectors[:, kept])

    @property
    def smallest(self) -> float:
        """The least variance along an axis."""
        return float(self.values.min(initial=np.inf)) if len(self.values) else 1.0

    @property
    def condition(self) -> float:
        """The largest variance along an axis over the least."""
        return float(self.values.max()) / self.smallest if len(self.values) else 1.0

    def whitened(self, columns: Array) -> Array:
        """Return ``L^-1/2 V' D^-1`` times some columns."""
        return np.asarray(self.vectors.T @ (columns / self.deviation[:, None])) / np.sqrt(self.values)[:, None]

    def distance(self, coef: Array, goal: Array) -> float:
        """Return how far the scores of the worst column of coefficients are from those of the whitened goal."""
        scaled = coef * self.deviation[:, None]
        along = self.vectors.T @ scaled
        idle = scaled - self.vectors @ along
        error = np.sqrt(self.values)[:, None] * along - goal
        return float(np.max(np.hypot(np.linalg.norm(error, axis=0), np.linalg.norm(idle, axis=0)), initial=0.0))


def _deviations(within: Array) -> Array:
    """Return the deviation of each feature within classes; 1 where there is none."""
    deviation = np.sqrt(np.diag(within))
    return np.where(deviation > 0.0, deviation, 1.0)


def _dependent(n_features: int) -> float:
    """Return the variance, of 1 in each feature, below which a combination of features counts as constant."""
    return 16 * n_features * EPSILON


def _projection_claims(
    fitted: Seen, means: Array, within: Array, priors: Array, unit: float, bound: float
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
        _claim("projection", "distance of the covariance in the projection from the identity", float(distance), bound),
        _claim("axes", "by how much a later axis separates the classes better", rises, bound),
        _claim("direction", "by how much an axis points backward", backward / max(size, 1.0), unit),
    ]
    if hasattr(fitted, "xbar_"):
        off = np.abs(fitted.xbar_ - center) / (_deviations(within) + np.abs(center))
        claims.append(_claim("origin", "distance of the origin from the mean, relative", float(off.max()), unit))
    return tuple(claims)


def _claim(name: str, statement: str, value: float, bound: float, remedy: str = "use shrinkage") -> Claim:
    return Claim(name, f"{statement}, 0 up to rounding", float(value), float(bound), f"Fit again, or {remedy}.")


def _ratio_claim(ratios: Any, spread: Array, n_classes: int, bound: float) -> Claim:
    """Return the claim about ``explained_variance_ratio_``: what each axis has of the spread between the classes."""
    total, stored = float(spread.sum()), np.asarray(ratios, dtype=np.float64)
    error = np.inf
    if len(stored) <= max(len(spread), n_classes):
        right = np.zeros(len(stored))  # axes that separate nothing have no scaling
        right[: len(spread)] = spread[: len(stored)]
        # the variance within classes is 1 along every axis: rounding is relative to that, too
        error = float(np.max(np.abs(stored * total - right), initial=0.0)) / (1.0 + float(np.abs(spread).sum()))
    return Claim("separation", "distance of explained_variance_ratio_ from what the axes explain", error, bound)


def _right_hand_side(fitted: Seen, parameters: Seen, means: Array, priors: Array) -> Array:
    """Return what covariance times coefficients must be."""
    if len(fitted.classes_) == 2:
        return np.asarray(means[1:] - means[:1]).T
    return np.asarray(means - priors @ means if parameters.solver == "svd" else means).T


def _intercept_error(fitted: Seen, parameters: Seen, means: Array, priors: Array) -> float:
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


def class_priors(priors: Any, counts: Array) -> Array:
    """Return the priors, made to add up to 1: the user's, or the shares of the classes."""
    given = np.asarray(counts if priors is None else priors, dtype=np.float64)
    return given if priors is not None and abs(given.sum() - 1.0) <= 1e-5 else given / given.sum()


def moments(data: TrainingData, groups: list[Array], shrinkage: Any, estimator: Any) -> tuple[Array, list[Array]]:
    """Return mean and covariance of each group of rows; the latter plain, shrunken, or by an estimator.

    Rows are read once, about the mean of some of them, and what that mean is off by is corrected afterwards.
    """
    X, weights, means, covariances = data.X, data.weights, [], []
    for rows in groups:
        near = X[rows[:: max(1, len(rows) // ROWS_AT_ONCE)]].mean(axis=0, dtype=np.float64)
        total, square = np.zeros(len(near)), np.zeros((len(near), len(near)))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            these = rows[start : start + ROWS_AT_ONCE]
            block = X.take(these, axis=0).astype(np.float64, copy=False)
            block -= near
            total += weights[these] @ block
            square += (block.T * weights[these]) @ block
        mass = weights[rows].sum()
        shift = total / mass
        means.append(near + shift)
        plain = square / mass - np.outer(shift, shift)
        np.fill_diagonal(plain, np.maximum(plain.diagonal(), 0.0))  # of a constant column it may be below, by rounding
        if estimator is not None:
            fitted = deepcopy(estimator)
            fitted.fit(np.asarray(X[rows], dtype=np.float64))
            plain = np.asarray(fitted.covariance_, dtype=np.float64)
        elif shrinkage is not None:
            own = isinstance(shrinkage, str)
            plain = _ledoit_wolf(X[rows] - means[-1], means[-1]) if own else _shrunken(plain, shrinkage)
        covariances.append(plain)
    return np.stack(means), covariances


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


LARGEST_UNEQUAL = 1e-3
"""Part of a covariance that rounding may change; beyond it nothing worth saying can be said."""

UNEQUAL = "Columns differ so much in size that rounding changes the covariances of the smallest; standardize X"


def prove_quadratic(fitted: Seen, parameters: Seen, data: TrainingData) -> Certificate:
    r"""Return the certificate from the data and the fitted attributes alone.

    - means: distance of the fitted ones, relative to the deviation plus the distance from 0 of their column;
    - axes: :math:`R'R = I`;
    - covariances: :math:`R\,\mathrm{diag}(s)\,R'` is the regularized covariance of the class, each entry relative to
      the deviations of its two columns. Rounding of the axes is relative to the largest deviation of all.
    """
    groups = [np.flatnonzero(data.y == code) for code in range(len(fitted.classes_))]
    priors = class_priors(parameters.priors, np.array([data.weights[rows].sum() for rows in groups]))
    means, spreads = moments(data, groups, parameters.shrinkage, parameters.covariance_estimator)
    unit = rounding_unit(np.float64)
    if parameters.solver == "svd":
        own, ridge = 1 - parameters.reg_param, parameters.reg_param * np.eye(means.shape[1])
        spreads = [own * spread + ridge for spread in spreads]
    variances = np.array([np.diag(spread) for spread in spreads])
    widest = 2.0 * unit * float(np.sqrt(np.max(variances.max(axis=1) / variances.min(axis=1))))
    if widest > LARGEST_UNEQUAL:
        return Certificate("none", reason=f"{UNEQUAL} (by {widest:.1g} of themselves).")
    parts = [_claims_of(fitted, k, mean, spreads[k], unit) for k, mean in enumerate(means)]
    off_priors = float(np.abs(fitted.priors_ - priors).max())
    priors_claim = _claim("priors", "distance of the priors", off_priors, unit, "standardize X")
    claims = (*map(worst_claim, zip(*parts, strict=True)), priors_claim)
    if parameters.store_covariance:
        claims += (covariance_claim(fitted.covariance_, spreads, widest * widest / unit),)
    return Certificate("exact", claims)


def _claims_of(fitted: Seen, k: int, mean: Array, spread: Array, unit: float) -> tuple[Claim, ...]:
    """Return the claims about the mean, the axes and the covariance of a class."""
    deviation = np.sqrt(np.diag(spread))
    rotation, scaling = fitted.rotations_[k], fitted.scalings_[k]
    off_mean = np.abs(fitted.means_[k] - mean) / (deviation + np.abs(mean))
    off_axes = np.abs(rotation.T @ rotation - np.eye(rotation.shape[1]))
    off_spread = np.abs((rotation * scaling) @ rotation.T - spread) / np.outer(deviation, deviation)
    unequal = unit * (deviation.max() / deviation)
    bounds = unequal[:, None] + unequal
    worst = np.unravel_index(np.argmax(off_spread / bounds), bounds.shape)
    made_up, remedy = "covariances that axes and variances make up, relative to both columns", "standardize X"
    return (
        _claim("means", "distance of the class means, relative to their columns", off_mean.max(), unit, remedy),
        _claim("axes", "distance of the axes from orthonormal ones", off_axes.max(), unit * len(mean), remedy),
        _claim("covariances", f"distance of the {made_up}", off_spread[worst], bounds[worst], remedy),
    )


PROVES = {"LinearDiscriminantAnalysis": prove_linear, "QuadraticDiscriminantAnalysis": prove_quadratic}
