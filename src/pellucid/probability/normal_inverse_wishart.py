"""NormalInverseWishart: a density of a mean vector and a covariance, the conjugate prior of MultivariateGaussian."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from scipy.special import multigammaln

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.frozen import EqualByValue, finite_array, set_fields
from pellucid.probability.positive_definite import covariance_matrix


@dataclass(frozen=True, eq=False)
class NormalInverseWishart(EqualByValue):
    r"""The density of a mean :math:`\mu \mid \Sigma \sim N(m, \Sigma / \kappa)` and an inverse Wishart :math:`\Sigma`.

    .. math:: \log f = c - \tfrac12 (\nu + p + 2) \log|\Sigma|
              - \tfrac12 \mathrm{tr}\bigl(\Sigma^{-1} (\Psi + \kappa (\mu - m)(\mu - m)^\top)\bigr)

    Parameters
    ----------
    location : array-like of shape (p,)
        :math:`m`, the mean believed in.
    pseudo_count : float
        :math:`\kappa`, how many observations that belief is worth, above 0.
    degrees : float
        :math:`\nu`, above p - 1.
    scale : array-like of shape (p, p)
        :math:`\Psi`, positive definite; the covariance has mean :math:`\Psi / (\nu - p - 1)`.

    Examples
    --------
    >>> prior = NormalInverseWishart([0, 0], pseudo_count=1, degrees=2, scale=[[6, 0], [0, 6]])
    >>> prior.mode[1]  # 6 / (2 + 2 + 2)
    array([[1., 0.],
           [0., 1.]])
    """

    location: Array
    pseudo_count: float
    degrees: float
    scale: Array

    def __post_init__(self) -> None:
        check_positive(pseudo_count=self.pseudo_count)
        location = finite_array("location", self.location, 1)
        scale = covariance_matrix("scale", self.scale)
        if len(scale) != len(location):
            raise ValueError(f"scale must have {len(location)} rows, as location has, got {len(scale)}.")
        if not is_number(self.degrees) or not len(location) - 1 < self.degrees < np.inf:
            raise ValueError(
                f"degrees must be above {len(location) - 1}, one less than the dimension, got {self.degrees}."
            )
        set_fields(self, location=location, scale=scale)

    def updated(self, total: float, mean: Array, scatter: Array) -> NormalInverseWishart:
        r"""Return the posterior after so many rows with this mean and :math:`\sum (x - \bar x)(x - \bar x)^\top`."""
        count = self.pseudo_count + total
        gap = mean - self.location
        return NormalInverseWishart(
            location=self.location + total / count * gap,
            pseudo_count=float(count),
            degrees=float(self.degrees + total),
            scale=self.scale + scatter + self.pseudo_count * total / count * np.outer(gap, gap),
        )

    @property
    def mode(self) -> tuple[Array, Array]:
        r"""Mean and covariance of largest density: :math:`m` and :math:`\Psi / (\nu + p + 2)`."""
        return self.location, self.scale / (self.degrees + len(self.location) + 2)

    @property
    def mean(self) -> tuple[Array, Array]:
        r"""Expected mean and covariance; the latter needs :math:`\nu > p + 1` and is nan otherwise."""
        freedom = self.degrees - len(self.location) - 1
        return self.location, self.scale / freedom if freedom > 0 else np.full_like(self.scale, np.nan)

    def log_prob(self, mean: Data, covariance: Data) -> float:
        """Return the log density of one mean with one covariance."""
        p, nu = len(self.location), self.degrees
        gap = finite_array("mean", mean, 1) - self.location
        sigma = covariance_matrix("covariance", covariance)
        inner = np.linalg.solve(sigma, self.scale + self.pseudo_count * np.outer(gap, gap))
        normalizer = (
            0.5 * nu * np.linalg.slogdet(self.scale)[1]
            - 0.5 * nu * p * log(2)
            - multigammaln(nu / 2, p)
            + 0.5 * p * log(self.pseudo_count / (2 * pi))
        )
        return float(normalizer - 0.5 * (nu + p + 2) * np.linalg.slogdet(sigma)[1] - 0.5 * np.trace(inner))

    def sample(self, n: int, random_state: Any = None) -> tuple[Array, Array]:
        """Return ``n`` means, shape (n, p), and ``n`` covariances, shape (n, p, p)."""
        from scipy.stats import invwishart

        check_whole(0, n=n)
        p, rng = len(self.location), generator(random_state)
        if n == 0:
            return np.empty((0, p)), np.empty((0, p, p))
        drawn = invwishart.rvs(self.degrees, self.scale, size=n, random_state=rng)
        covariances = np.reshape(drawn, (n, p, p))
        factors = np.linalg.cholesky(covariances / self.pseudo_count)
        return self.location + np.einsum("nij,nj->ni", factors, rng.standard_normal((n, p))), covariances
