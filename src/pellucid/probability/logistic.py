"""Logistic: the density whose distribution function is the sigmoid."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Any, Self

import numpy as np

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.threads import single_threaded_blas
from pellucid.core.types import Array, Data
from pellucid.probability.frozen import set_fields
from pellucid.probability.logistic_solver import logistic_newton
from pellucid.probability.sample_data import scalar_data, scalars


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

    def sample(self, n: int, random_state: Any = None) -> Array:
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
