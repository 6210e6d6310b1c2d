"""Beta: a density of probabilities, the conjugate prior of Bernoulli and Binomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln, digamma, xlog1py, xlogy

from pellucid.core.checks import check_positive, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.frozen import set_fields
from pellucid.probability.sample_data import scalars


@dataclass(frozen=True)
class Beta:
    r"""The density :math:`p^{\alpha - 1} (1 - p)^{\beta - 1} / B(\alpha, \beta)` on [0, 1].

    As a prior it counts like :math:`\alpha - 1` successes and :math:`\beta - 1` failures seen before the data.

    Parameters
    ----------
    alpha, beta : float
        Exponents, above 0. Beta(1, 1) is uniform.

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

    def sample(self, n: int, random_state: Any = None) -> Array:
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
