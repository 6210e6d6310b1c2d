"""Conjugate priors: Beta and Dirichlet of shares, normal-inverse-gamma and -Wishart of means and variances."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, gammaln, multigammaln, xlog1py, xlogy

from pellucid.core.checks import check_positive, check_whole, is_number
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.sample_data import (
    SUM_ERROR,
    EqualByValue,
    covariance_matrix,
    finite_array,
    scalars,
    set_fields,
    vectors,
)


@dataclass(frozen=True)
class Beta:
    r"""The density :math:`p^{\alpha - 1} (1 - p)^{\beta - 1} / B(\alpha, \beta)` on [0, 1].

    As a prior it counts like :math:`\alpha - 1` successes and :math:`\beta - 1` failures seen before the data.

    Parameters
    ----------
    alpha : float
        One more than the exponent of :math:`p`, above 0.
    beta : float
        One more than the exponent of :math:`1 - p`, above 0. Beta(1, 1) is uniform.

    Examples
    --------
    >>> posterior = Beta(2, 2).updated(successes=3, failures=1)
    >>> posterior, posterior.mode
    (Beta(alpha=5.0, beta=3.0), 0.6666666666666666)
    """

    alpha: float
    beta: float

    def __post_init__(self) -> None:
        check_positive(alpha=self.alpha, beta=self.beta)
        set_fields(self, alpha=float(self.alpha), beta=float(self.beta))

    def updated(self, successes: float, failures: float) -> Beta:
        """Return the posterior after so many successes and failures."""
        return Beta(self.alpha + successes, self.beta + failures)

    @property
    def mode(self) -> float:
        r"""Where the density is largest: :math:`(\alpha - 1) / (\alpha + \beta - 2)` if both exceed 1.

        With one parameter at most 1 the density is largest at that end. Refused if no point is best: both are 1
        (uniform), or both are below 1 (infinite at both ends).
        """
        low, high = self.alpha <= 1, self.beta <= 1
        if low and high and (self.alpha < 1) == (self.beta < 1):
            shape = "uniform" if self.alpha == 1 else "infinite at both ends"
            raise ValueError(
                f"alpha or beta must be above 1 for a unique mode, got {self}, which is {shape}. "
                "Use a prior with larger parameters."
            )
        if low or high:
            # alpha = 1 with beta < 1 has its peak at 1 although alpha is low
            return 0.0 if low and not self.beta < 1 else 1.0
        return (self.alpha - 1) / (self.alpha - 1 + (self.beta - 1))

    def log_prob(self, X: Data) -> Array:
        """Return the log density of each probability; ``-inf`` outside of [0, 1]."""
        p = scalars(X)
        inside = (p >= 0) & (p <= 1) | np.isnan(p)
        q = np.where(inside, p, 0.5)
        with np.errstate(divide="ignore"):
            values = xlogy(self.alpha - 1, q) + xlog1py(self.beta - 1, -q) - betaln(self.alpha, self.beta)
        return np.where(inside, values, -np.inf)

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` probabilities."""
        check_whole(0, n=n)
        return generator(random_state).beta(self.alpha, self.beta, n)

    @property
    def mean(self) -> float:
        r""":math:`\alpha / (\alpha + \beta)`."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def variance(self) -> float:
        r""":math:`\alpha\beta / ((\alpha + \beta)^2 (\alpha + \beta + 1))`."""
        total = self.alpha + self.beta
        return (self.alpha / total) * (self.beta / total) / (total + 1)

    def entropy(self) -> float:
        """Return the differential entropy in nats: 0 if uniform, below 0 otherwise."""
        a, b = self.alpha, self.beta
        parts = (a - 1) * digamma(a) + (b - 1) * digamma(b) - (a + b - 2) * digamma(a + b)
        return float(betaln(a, b) - parts)


def check_beta_prior(prior: Any) -> None:
    """Refuse a prior that is not a Beta."""
    if not (prior is None or isinstance(prior, Beta)):
        raise TypeError(f"prior must be a Beta, the conjugate prior of a share, got {type(prior).__name__}.")


@dataclass(frozen=True, eq=False)
class Dirichlet(EqualByValue):
    r"""The density :math:`\prod_j p_j^{\alpha_j - 1} / B(\alpha)` of probability vectors.

    As a prior it counts like :math:`\alpha_j - 1` draws of category :math:`j` seen before the data.

    Parameters
    ----------
    concentration : array-like of shape (n_categories,)
        :math:`\alpha_j`, above 0. All ones is uniform.

    Examples
    --------
    >>> Dirichlet([2, 2, 2]).updated([3, 0, 0]).mode
    array([0.66666667, 0.16666667, 0.16666667])
    """

    concentration: Array

    def __post_init__(self) -> None:
        alpha = finite_array("concentration", self.concentration, 1)
        if alpha.min() <= 0:
            raise ValueError(f"concentration must be above 0, got {float(alpha.min())!r}.")
        set_fields(self, concentration=alpha)

    def updated(self, counts: Data) -> Dirichlet:
        """Return the posterior after so many draws of each category."""
        return Dirichlet(self.concentration + np.asarray(counts, dtype=np.float64))

    @property
    def mode(self) -> Array:
        r"""Where the density is largest: :math:`(\alpha_j - 1) / \sum_i (\alpha_i - 1)`.

        Refused if some :math:`\alpha_j < 1` (infinite where :math:`p_j = 0`) or all are 1 (uniform): no point is best.
        """
        excess = self.concentration - 1
        if excess.min() < 0 or excess.sum() == 0:
            raise ValueError(
                "concentration must be at least 1, and above 1 somewhere, for a unique mode, got "
                f"{self.concentration.tolist()}. Use a prior with larger parameters."
            )
        return np.asarray(excess / excess.sum())

    def log_prob(self, X: Data) -> Array:
        """Return the log density of each row; ``-inf`` for what is no probability vector."""
        p = vectors(X, len(self.concentration)).astype(np.float64)
        inside = (p >= 0).all(axis=1) & (np.abs(p.sum(axis=1) - 1) <= SUM_ERROR)
        alpha = self.concentration
        normalizer = gammaln(alpha.sum()) - gammaln(alpha).sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            values = normalizer + xlogy(alpha - 1, np.maximum(p, 0)).sum(axis=1)
        return np.where(inside | np.isnan(p).any(axis=1), values, -np.inf)

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` probability vectors as rows."""
        check_whole(0, n=n)
        return generator(random_state).dirichlet(self.concentration, n)

    @property
    def mean(self) -> Array:
        r""":math:`\alpha_j / \sum_i \alpha_i`."""
        return np.asarray(self.concentration / self.concentration.sum())

    @property
    def variance(self) -> Array:
        """Variance of each probability."""
        return np.asarray(self.mean * (1 - self.mean) / (self.concentration.sum() + 1))

    def entropy(self) -> float:
        """Return the differential entropy in nats."""
        alpha, total = self.concentration, self.concentration.sum()
        log_norm = gammaln(alpha).sum() - gammaln(total)
        return float(log_norm + (total - len(alpha)) * digamma(total) - (alpha - 1) @ digamma(alpha))


def most_likely_shares(counts: Array, prior: Any) -> Array:
    """Return the maximum-likelihood or maximum-a-posteriori probabilities of the categories."""
    if prior is None:
        return np.asarray(counts / counts.sum())
    if not isinstance(prior, Dirichlet):
        raise TypeError(f"prior must be a Dirichlet, the conjugate prior of shares, got {type(prior).__name__}.")
    if len(prior.concentration) != len(counts):
        raise ValueError(
            f"prior must have one concentration per category ({len(counts)}), got {len(prior.concentration)}. "
            "Name all categories if some do not occur."
        )
    return prior.updated(counts).mode


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
    shape : float
        :math:`\alpha`, above 0; half the observations that the belief about the variance is worth.
    scale : float
        :math:`\beta`, above 0; the variance has mean :math:`\beta / (\alpha - 1)` for :math:`\alpha > 1`.

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

    def sample(self, n: int, random_state: RandomState = None) -> tuple[Array, Array]:
        """Return ``n`` means and ``n`` variances."""
        check_whole(0, n=n)
        rng = generator(random_state)
        variance = self.scale / rng.gamma(self.shape, size=n)
        return self.location + np.sqrt(variance / self.pseudo_count) * rng.standard_normal(n), variance


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

    def sample(self, n: int, random_state: RandomState = None) -> tuple[Array, Array]:
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
