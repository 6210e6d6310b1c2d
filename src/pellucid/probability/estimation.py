"""maximum_likelihood: estimates, standard errors and intervals for any log density a user can write down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

import numpy as np

from pellucid.core.confidence_level import check_level
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data
from pellucid.core.user_warnings import warn_unless_holds
from pellucid.core.weights import check_sample_weight
from pellucid.optimize import Problem, Stopping
from pellucid.optimize.minimize import descend
from pellucid.probability.frozen import finite_array
from pellucid.probability.observed_information import Curvature, curvature, decrement, is_identified
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
    covariance: Array
    information: Array
    log_likelihood: float
    n_iter: int
    certificate: Certificate
    trace: Trace = field(repr=False)

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


def _polished(loss: Callable[[Array], float], theta: Array) -> tuple[Array, Curvature]:
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
