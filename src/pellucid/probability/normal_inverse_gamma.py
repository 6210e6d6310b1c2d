"""NormalInverseGamma: a density of a mean and a variance, the conjugate prior of Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from scipy.special import gammaln

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.frozen import set_fields
from pellucid.probability.sample_data import scalars


@dataclass(frozen=True)
class NormalInverseGamma:
    r"""The density of :math:`(\mu, v)` with :math:`v` inverse-gamma and :math:`\mu \mid v \sim N(m, v / \kappa)`.

    .. math:: \log f(\mu, v) = c - (\alpha + \tfrac32) \log v - \frac{2\beta + \kappa(\mu - m)^2}{2v}

    Parameters
    ----------
    location : float
        :math:`m`, the mean believed in.
    pseudo_count : float
        :math:`\kappa`, how many observations that belief is worth, above 0.
    shape, scale : float
        :math:`\alpha` and :math:`\beta`, above 0; the variance has mean :math:`\beta / (\alpha - 1)`.

    Examples
    --------
    >>> prior = NormalInverseGamma(location=0, pseudo_count=1, shape=1, scale=1)
    >>> prior.updated(total=1, mean=2.0, scatter=0.0)
    NormalInverseGamma(location=1.0, pseudo_count=2.0, shape=1.5, scale=2.0)
    """

    location: float
    pseudo_count: float
    shape: float
    scale: float

    def __post_init__(self) -> None:
        if not is_number(self.location) or not np.isfinite(self.location):
            raise ValueError(f"location must be a finite number, got {self.location!r}.")
        check_positive(pseudo_count=self.pseudo_count, shape=self.shape, scale=self.scale)
        set_fields(self, **{name: float(value) for name, value in vars(self).items()})

    def updated(self, total: float, mean: float, scatter: float) -> NormalInverseGamma:
        r"""Return the posterior after ``total`` numbers with this mean and sum of squared deviations."""
        count = self.pseudo_count + total
        gap = mean - self.location
        return NormalInverseGamma(
            location=self.location + total / count * gap,
            pseudo_count=count,
            shape=self.shape + total / 2,
            scale=self.scale + scatter / 2 + self.pseudo_count * total / count * gap**2 / 2,
        )

    @property
    def mode(self) -> tuple[float, float]:
        r"""Mean and variance of largest density: :math:`m` and :math:`\beta / (\alpha + \tfrac32)`."""
        return self.location, self.scale / (self.shape + 1.5)

    @property
    def mean(self) -> tuple[float, float]:
        r"""Expected mean and variance; the latter is infinite for :math:`\alpha \le 1`."""
        return self.location, self.scale / (self.shape - 1) if self.shape > 1 else np.inf

    def log_prob(self, mean: Data, variance: Data) -> Array:
        """Return the log density of each pair; ``-inf`` for a variance of 0 or less."""
        center, v = np.broadcast_arrays(scalars(np.atleast_1d(mean)), scalars(np.atleast_1d(variance)))
        safe = np.where(v > 0, v, 1.0)
        normalizer = self.shape * log(self.scale) - gammaln(self.shape) + 0.5 * log(self.pseudo_count / (2 * pi))
        spread = self.scale + 0.5 * self.pseudo_count * (center - self.location) ** 2
        return np.where(v > 0, normalizer - (self.shape + 1.5) * np.log(safe) - spread / safe, -np.inf)

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, Array]:
        """Return ``n`` means and ``n`` variances."""
        check_whole(0, n=n)
        rng = generator(random_state)
        variance = self.scale / rng.gamma(self.shape, size=n)
        return self.location + np.sqrt(variance / self.pseudo_count) * rng.standard_normal(n), variance
