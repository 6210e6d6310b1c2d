"""Logistic: the density whose distribution function is the sigmoid, fitted by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import NamedTuple, Self

import numpy as np

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.fit import Solution
from pellucid.core.random_state import generator
from pellucid.core.threads import single_threaded_blas
from pellucid.core.trace import Trace
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.sample_data import scalar_data, scalars, set_fields
from pellucid.proofs.certificate import Certificate, Claim


@dataclass(frozen=True)
class Logistic:
    r"""The density :math:`f(x) = e^{-z} / (s (1 + e^{-z})^2)` with :math:`z = (x - \mu) / s`.

    Parameters
    ----------
    location : float
        :math:`\mu`, mean and median.
    scale : float
        :math:`s`, above 0.

    Examples
    --------
    >>> Logistic(0, 1).log_prob([0.0])  # log 1/4
    array([-1.38629436])
    >>> Logistic(0, 1).log_prob([1e5])
    array([-100000.])
    """

    location: float
    scale: float

    def __post_init__(self) -> None:
        if not is_number(self.location) or not np.isfinite(self.location):
            raise ValueError(f"location must be a finite number, got {self.location!r}.")
        check_positive(scale=self.scale)
        set_fields(self, location=float(self.location), scale=float(self.scale))

    @classmethod
    def fit(cls, X: Data, sample_weight: Data | None = None, *, prior: None = None) -> Self:
        """Return the density of largest weighted likelihood, by Newton's method on a concave form of it."""
        if prior is not None:
            raise TypeError(
                f"prior must be None, got {type(prior).__name__}: Logistic has no conjugate prior. "
                "Use maximum_likelihood with log_prior."
            )
        data = scalar_data(X, sample_weight)
        values = data.values
        if values.min() == values.max():
            raise ValueError(
                f"scale must be above 0, got 0: all values of X equal {float(values[0])!r}. Add values that differ."
            )
        weight = np.ones(len(values)) if data.weight is None else data.weight
        with single_threaded_blas():  # its threads would cost more than a product of two vectors
            return cls(*logistic_newton(values, weight).x)

    def log_prob(self, X: Data) -> Array:
        """Return the log density of each number; the density is symmetric, so nothing overflows in either tail."""
        with np.errstate(over="ignore"):
            z = np.abs(scalars(X) - self.location) / self.scale
        return np.asarray(-z - 2 * np.log1p(np.exp(-z)) - log(self.scale))

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` numbers."""
        check_whole(0, n=n)
        return generator(random_state).logistic(self.location, self.scale, n)

    @property
    def mean(self) -> float:
        """The location."""
        return self.location

    @property
    def variance(self) -> float:
        r""":math:`\pi^2 s^2 / 3`."""
        return (pi * self.scale) ** 2 / 3

    def entropy(self) -> float:
        r"""Return the differential entropy in nats, :math:`\log s + 2`."""
        return log(self.scale) + 2


# Newton's method for the logistic density.
#
# With :math:`b = 1/s` and :math:`a = \mu/s` the mean negative log likelihood
#
# .. math:: F(a, b) = -\log b + \frac1n \sum_i w_i\, \varphi(b x_i - a), \qquad \varphi(z) = 2 \log(2 \cosh \tfrac z2)
#
# is convex, so a damped Newton step always leads down to the one minimum.


DECREMENT = 1e-24
"""Half a squared Newton decrement below this is rounding: the next step changes no digit."""

MOST_STEPS = 100

SHORTEST = 1e-10
"""A step this short is taken whatever it brings: only rounding is left."""


def logistic_newton(x: Array, weight: Array) -> Solution[tuple[float, float]]:
    """Return location and scale of largest likelihood of numbers that are not all equal."""
    share = weight / weight.sum()
    origin = float(np.median(x))
    u = x - origin  # large means cost no digits
    unit = float(np.abs(u).max())
    u /= unit  # before squares are taken, so that tiny units do not vanish
    spread = float(np.sqrt(share @ u**2))
    u, unit = u / spread, unit * spread
    theta, trace = np.array([0.0, np.pi / np.sqrt(3)]), Trace()  # the scale that has the variance of the data
    here = _look(theta, u, share)
    for n_iter in range(1, MOST_STEPS + 1):
        step = -np.linalg.solve(here.hessian, here.gradient)
        decrement = float(-here.gradient @ step) / 2
        trace.add(iteration=n_iter, objective=here.value, decrement=decrement)
        if decrement <= DECREMENT:
            break
        theta, here = _downhill(theta, step, here, decrement, u, share)
    a, b = theta
    claim = Claim("newton decrement", "the mean log likelihood is about this far below its maximum", decrement, 1e-12)
    answer = (origin + unit * float(a / b), unit / float(b))
    return Solution(answer, n_iter, Certificate("stationary", (claim,)), trace)


class _LogisticLook(NamedTuple):
    value: float
    gradient: Array
    hessian: Array


def _look(theta: Array, u: Array, share: Array) -> _LogisticLook:
    """Return the objective and its derivatives, all from one exponential that cannot overflow."""
    a, b = theta
    z = b * u - a
    size = np.abs(z)
    tail = np.exp(-size)
    slope = np.copysign((1 - tail) / (1 + tail), z)
    curvature = share * (1 - slope**2) / 2
    curved = curvature * u
    cross = -float(curved.sum())
    return _LogisticLook(
        float(share @ (size + 2 * np.log1p(tail)) - np.log(b)),
        np.array([-share @ slope, share @ (slope * u) - 1 / b]),
        np.array([[curvature.sum(), cross], [cross, curved @ u + 1 / b**2]]),
    )


def _downhill(
    theta: Array, step: Array, here: _LogisticLook, decrement: float, u: Array, share: Array
) -> tuple[Array, _LogisticLook]:
    """Return the point after the largest of the steps 1, 1/2, 1/4, ... that lowers the objective enough."""
    size = 1.0
    while True:
        further = theta + size * step
        if further[1] > 0:
            there = _look(further, u, share)
            if there.value <= here.value - 0.2 * size * decrement + 1e-15 * abs(here.value) or size < SHORTEST:
                return further, there
        size /= 2
