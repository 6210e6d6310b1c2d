"""maximum_likelihood: estimates for any log density a user can write down, with errors from its curvature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.checks import check_level
from pellucid.core.input_rules import check_sample_weight
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.optimize import Problem, Stopping
from pellucid.optimize.minimize import descend
from pellucid.probability.sample_data import finite_array
from pellucid.proofs.certificate import Certificate
from pellucid.proofs.probability.estimation import certify_estimate

POLISHING_STEPS = 8
SETTLED = 1e-18
"""A log likelihood this close to its maximum, in nats, is there: a billionth of a standard error away."""

LogDensity = Callable[[Any, Array], Array]
LogPrior = Callable[[Array], float]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters of largest likelihood or posterior, with what the curvature there says about their accuracy."""

    parameters: Array
    """The estimate, of shape (k,)."""
    covariance: Array
    """Inverse of the information, of shape (k, k); nan if the parameters are not identified."""
    information: Array
    """Hessian of minus the log likelihood, and of minus the log prior if there is one, of shape (k, k)."""
    log_likelihood: float
    """Log likelihood of the data, weighted, without the prior."""
    n_iter: int
    """Iterations of the method."""
    certificate: Certificate
    """Says how far below its maximum the log likelihood is, and whether the parameters are identified."""
    trace: Trace = field(repr=False)
    """Trace of the method; its objective is per observation."""

    @property
    def standard_errors(self) -> Array:
        """Square roots of the diagonal of the covariance; nan if the parameters are not identified."""
        return np.sqrt(self.covariance.diagonal())

    def interval(self, level: float = 0.95) -> Array:
        """Return lower and upper ends for each parameter, shape (k, 2), from the normal approximation."""
        from scipy.special import ndtri

        check_level(level)
        reach = ndtri(0.5 + level / 2) * self.standard_errors
        return np.column_stack([self.parameters - reach, self.parameters + reach])


def maximum_likelihood(
    log_density: LogDensity,
    x0: Data,
    data: Any,
    sample_weight: Data | None = None,
    *,
    log_prior: LogPrior | None = None,
    method: str = "bfgs",
) -> Estimate:
    r"""Return the parameters that maximize :math:`\sum_i w_i \log f(x_i; \theta)`, plus the log prior if there is one.

    Standard errors come from the observed information, the Hessian of minus that sum, by differences whose steps are
    small parts of the standard errors themselves.

    Parameters
    ----------
    log_density : callable (data, theta) -> array of shape (n,)
        Log density of each observation; ``-inf`` or ``nan`` for parameters that are not allowed.
    x0 : array-like of shape (k,)
        Where to start: allowed parameters, of about the right size.
    data : any
        Handed to ``log_density`` as it is.
    sample_weight : array-like of shape (n,), default=None
        How often each observation stands there.
    log_prior : callable theta -> float, default=None
        Makes the answer the posterior mode, and the covariance that of Laplace's approximation.
    method : str, default="bfgs"
        A method of :func:`pellucid.optimize.minimize`.

    Examples
    --------
    >>> def log_poisson(counts, theta):  # theta is the log of the rate; constants may be left out
    ...     return counts * theta[0] - np.exp(theta[0])
    >>> found = maximum_likelihood(log_poisson, [0.0], np.array([2, 4, 3]))
    >>> found.parameters.round(6), found.standard_errors.round(6)  # log 3 and 1 / sqrt(9)
    (array([1.098612]), array([0.333333]))
    """
    theta0 = finite_array("x0", x0, 1)
    loss, total = _loss(log_density, theta0, data, sample_weight, log_prior)
    problem = Problem(lambda theta: loss(theta) / total)  # per observation, so that tolerances do not depend on n
    found = descend(problem, theta0, method, stopping=Stopping())
    theta, curve = _polished(loss, np.asarray(found.x, dtype=np.float64))
    certificate = replace(certify_estimate(loss, theta), reason=found.certificate.reason)
    warn_unless_holds(certificate, "maximum_likelihood")
    identified = is_identified(curve.hessian)
    return Estimate(
        parameters=theta,
        covariance=np.linalg.inv(curve.hessian) if identified else np.full_like(curve.hessian, np.nan),
        information=curve.hessian,
        log_likelihood=-loss(theta) - (0.0 if log_prior is None else float(log_prior(theta))),
        n_iter=found.n_iter,
        certificate=certificate,
        trace=found.trace,
    )


def _polished(loss: Callable[[Array], float], theta: Array) -> tuple[Array, ObservedCurvature]:
    """Take Newton steps with the accurate derivatives, which a method that differs with fixed steps cannot see."""
    curve = curvature(loss, theta)
    for _ in range(POLISHING_STEPS):
        if not is_identified(curve.hessian) or decrement(curve) <= SETTLED:
            break
        further = theta - np.linalg.solve(curve.hessian, curve.gradient)
        if not loss(further) <= loss(theta):
            break
        theta, curve = further, curvature(loss, further)
    return theta, curve


def _loss(
    log_density: LogDensity, theta0: Array, data: Any, sample_weight: Data | None, log_prior: LogPrior | None
) -> tuple[Callable[[Array], float], float]:
    """Return minus the weighted log likelihood and log prior as a function of the parameters, and the total weight."""
    first = np.asarray(log_density(data, theta0))
    if first.ndim != 1 or len(first) == 0:
        raise ValueError(f"log_density must return one number per observation, got shape {first.shape}.")
    weight = check_sample_weight(sample_weight, first)
    counts = slice(None) if weight is None else np.flatnonzero(weight)
    kept = None if weight is None else weight[counts]

    def loss(theta: Array) -> float:
        with np.errstate(all="ignore"):  # parameters that are not allowed may overflow; they count as impossible
            logs = np.asarray(log_density(data, theta), dtype=np.float64)[counts]
            value = -float(logs.sum() if kept is None else kept @ logs)
            value -= 0.0 if log_prior is None else float(log_prior(theta))
        return value if value == value and value != -inf else inf

    if not np.isfinite(loss(theta0)):
        raise ValueError(
            f"x0 must have a finite log likelihood, got {-loss(theta0)} at {theta0.tolist()}. "
            "Start from allowed parameters under which all observations are possible."
        )
    return loss, float(len(first) if kept is None else kept.sum())


# Gradient and Hessian of a log likelihood by central differences whose steps fit the function.
#
# A step of :math:`t` standard errors changes a log likelihood by about :math:`t^2 / 2`, whatever the units of the
# parameter. So the standard error of each parameter alone is found first, and differences are then taken over a small
# part of it, twice, so that the leading error of the formula cancels (Richardson).


LEAST_CHANGE, MOST_CHANGE = 1e-4, 1.0
"""Second difference of the log likelihood between which a first step is good enough to measure curvature."""

MOST_TRIALS = 80

SHORTEST, LONGEST = 0.01, 0.3
"""Steps of the final differences, in standard errors."""

WORST_CONDITION = 1e6
"""Curvatures that differ by more, the diagonal scaled to 1, are noise of the differences."""


class ObservedCurvature(NamedTuple):
    """Gradient and Hessian of a function, and the scale of each parameter that the steps were chosen by."""

    gradient: Array
    hessian: Array
    scale: Array


def curvature(value: Callable[[Array], float], theta: Array) -> ObservedCurvature:
    """Return the derivatives of minus a log likelihood near its minimum."""
    center = value(theta)
    scale = np.array([_scale(value, theta, j, center) for j in range(len(theta))])
    rounding = np.finfo(np.float64).eps * max(1.0, abs(center))
    step = scale * float(np.clip(rounding ** (1 / 6), SHORTEST, LONGEST))
    coarse, fine = _differences(value, theta, step, center), _differences(value, theta, step / 2, center)
    gradient, hessian = ((4 * near - far) / 3 for far, near in zip(coarse, fine, strict=True))
    return ObservedCurvature(gradient, hessian, scale)


def _scale(value: Callable[[Array], float], theta: Array, j: int, center: float) -> float:
    """Return the distance over which parameter ``j`` changes the log likelihood by about a half."""
    step = 1e-4 * max(1.0, abs(float(theta[j])))
    for _ in range(MOST_TRIALS):
        change = value(_moved(theta, j, step)) + value(_moved(theta, j, -step)) - 2 * center
        if not np.isfinite(change) or change > MOST_CHANGE:
            step /= 4
        elif 0 <= change < LEAST_CHANGE and step < 1e6 * max(1.0, abs(float(theta[j]))):
            step *= 3
        else:
            break
    return step / float(np.sqrt(change)) if np.isfinite(change) and change > 0 else step


def _differences(value: Callable[[Array], float], theta: Array, step: Array, center: float) -> tuple[Array, Array]:
    k = len(theta)
    right = np.array([value(_moved(theta, j, step[j])) for j in range(k)])
    left = np.array([value(_moved(theta, j, -step[j])) for j in range(k)])
    hessian = np.diag((right - 2 * center + left) / step**2)
    for i in range(k):
        for j in range(i):
            corners = [
                a * b * value(_moved(_moved(theta, i, a * step[i]), j, b * step[j])) for a in (1, -1) for b in (1, -1)
            ]
            hessian[i, j] = hessian[j, i] = sum(corners) / (4 * step[i] * step[j])
    return (right - left) / (2 * step), hessian


def _moved(theta: Array, j: int, by: float) -> Array:
    moved = theta.copy()
    moved[j] += by
    return moved


def decrement(curve: ObservedCurvature) -> float:
    """Return how far Newton's step would lower the function, if it is curved upward; else infinity."""
    scaled, unit = _scaled(curve.hessian)
    if scaled is None:
        return np.inf
    step = np.linalg.lstsq(scaled, curve.gradient / unit, rcond=1 / WORST_CONDITION)[0]
    fall = 0.5 * float(step @ (curve.gradient / unit))
    return fall if fall >= 0 and np.isfinite(fall) else np.inf


def is_identified(hessian: Array) -> bool:
    """Return whether the curvature tells all parameters apart."""
    scaled, _ = _scaled(hessian)
    if scaled is None or hessian.diagonal().min() <= 0:
        return False
    least, most = np.linalg.eigvalsh(scaled)[[0, -1]]
    return bool(least > 0 and most <= WORST_CONDITION * least)


def _scaled(hessian: Array) -> tuple[Array | None, Array]:
    """Return the Hessian with a diagonal of ones, None if it is not finite, and the units that were taken out."""
    unit = np.sqrt(np.maximum(np.abs(hessian.diagonal()), np.finfo(float).tiny))
    return (hessian / np.outer(unit, unit) if np.isfinite(hessian).all() else None), unit
