"""Gaussian: the normal density of a number, fitted by weighted moments."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Any, Self

import numpy as np

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.conjugate_priors import NormalInverseGamma
from pellucid.probability.sample_data import SampleData, counted, refuse_nonfinite, scalars, set_fields


@dataclass(frozen=True)
class Gaussian:
    r"""The normal density, :math:`\log f(x) = -\tfrac12 \log(2\pi\sigma^2) - (x - \mu)^2 / (2\sigma^2)`.

    Parameters
    ----------
    mean : float
        :math:`\mu`.
    variance : float
        :math:`\sigma^2`, above 0.

    Examples
    --------
    >>> Gaussian.fit([1, 2, 6])  # squares 4 + 1 + 9, divided by 3, not 2
    Gaussian(mean=3.0, variance=4.666666666666667)
    >>> Gaussian.fit([1, 2, 6], prior=Gaussian(0, 1), variance=3.0)  # as much belief in 0 as data
    Gaussian(mean=1.5, variance=3.0)
    """

    mean: float
    variance: float

    def __post_init__(self) -> None:
        if not is_number(self.mean) or not np.isfinite(self.mean):
            raise ValueError(f"mean must be a finite number, got {self.mean!r}.")
        check_positive(variance=self.variance)
        set_fields(self, mean=float(self.mean), variance=float(self.variance))

    @classmethod
    def fit(
        cls,
        X: Data,
        sample_weight: Data | None = None,
        *,
        prior: NormalInverseGamma | Gaussian | None = None,
        variance: float | None = None,
    ) -> Self:
        r"""Return the weighted mean and the mean squared deviation from it, or the mode of the posterior.

        Parameters
        ----------
        X : array-like of shape (n_samples,)
            Numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each number stands there.
        prior : NormalInverseGamma or Gaussian, default=None
            Prior of mean and variance; or of the mean alone, when ``variance`` is known.
        variance : float, default=None
            The known variance, for a Gaussian prior only.
        """
        total, center, scatter = scalar_moments(counted(scalars(X), sample_weight))
        if isinstance(prior, Gaussian) or variance is not None:
            shrunken = _shrunken_mean(center, total, prior, variance)
            return cls(shrunken, float(variance))  # type: ignore[arg-type]  # no variance was refused just before
        if isinstance(prior, NormalInverseGamma):
            return cls(*prior.updated(total, center, scatter).mode)
        if prior is not None:
            raise TypeError(f"prior must be a NormalInverseGamma or a Gaussian, got {type(prior).__name__}.")
        if scatter / total <= 0:
            raise ValueError(
                f"variance must be above 0, got 0: all values of X equal {center!r}, or nearly. "
                "Pass a NormalInverseGamma prior."
            )
        return cls(center, scatter / total)

    def fitted_variance_bias(self, n: int) -> float:
        r"""Return :math:`E[\hat\sigma^2] - \sigma^2 = -\sigma^2 / n`, how far ``fit`` to ``n`` draws is off on average.

        Examples
        --------
        >>> Gaussian(0, 4).fitted_variance_bias(10)
        -0.4
        """
        check_whole(n=n)
        return -self.variance / n

    def log_prob(self, X: Data) -> Array:
        """Return the log density of each number."""
        z = scalars(X) - self.mean
        with np.errstate(over="ignore"):
            z /= sqrt(self.variance)
            np.multiply(z, z, out=z)
        z *= -0.5
        z -= 0.5 * log(2 * pi) + 0.5 * log(self.variance)
        return z

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` numbers."""
        check_whole(0, n=n)
        return self.mean + sqrt(self.variance) * generator(random_state).standard_normal(n)

    def entropy(self) -> float:
        r"""Return the differential entropy in nats, :math:`\tfrac12 \log(2\pi e\sigma^2)`."""
        return 0.5 * (log(2 * pi) + 1 + log(self.variance))


def _shrunken_mean(center: float, total: float, prior: Any, variance: float | None) -> float:
    """Return the posterior mean, which is also its mode: precisions weigh the two opinions."""
    if not isinstance(prior, Gaussian) or variance is None:
        raise ValueError(
            "prior must be a Gaussian and variance known, both or neither, got "
            f"prior={prior!r} and variance={variance!r}. To fit the variance too use a NormalInverseGamma prior."
        )
    check_positive(variance=variance)
    trust = prior.variance / (prior.variance + variance / total)
    return float(prior.mean + trust * (center - prior.mean))


NEAR_CONSTANT = 1e-10
"""Values that vary by less than this part of their mean are shifted first: the rounded mean would be seen."""

BLOCK = 1 << 13
"""Numbers taken at once. BLAS would start its threads on longer products, which costs more than it brings here."""


def scalar_moments(data: SampleData) -> tuple[float, float, float]:
    """Return the number of values, their mean and ``sum w (x - mean)^2``; refuse what is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean, scatter = _about_the_mean(data.values, data.weight, data.total)
        if not np.isfinite(scatter):
            refuse_nonfinite(data.values)
        if scatter <= data.total * (NEAR_CONSTANT * mean) ** 2:
            origin = float(data.values[0])
            mean, scatter = _about_the_mean(data.values - origin, data.weight, data.total)
            mean += origin
    return data.total, mean, scatter


def _about_the_mean(x: Array, weight: Array | None, total: float) -> tuple[float, float]:
    blocks = [slice(start, min(start + BLOCK, len(x))) for start in range(0, len(x), BLOCK)]
    mean = float(x.sum() if weight is None else np.sum([weight[rows] @ x[rows] for rows in blocks])) / total
    buffer, scatter = np.empty(min(BLOCK, len(x))), 0.0
    for rows in blocks:
        centered = np.subtract(x[rows], mean, out=buffer[: rows.stop - rows.start])
        scatter += float(centered @ (centered if weight is None else weight[rows] * centered))
    return mean, scatter
