"""Binomial: successes in a fixed number of tosses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import betaln, entr, xlog1py, xlogy

from pellucid.core.checks import check_between, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.bernoulli import most_likely_share
from pellucid.probability.beta import Beta, check_beta_prior
from pellucid.probability.frozen import set_fields
from pellucid.probability.sample_data import refuse_noncounts, scalar_data, scalars

MOST_OUTCOMES = 10_000_000
"""Outcomes that an exact entropy still sums over."""


@dataclass(frozen=True)
class Binomial:
    r"""The density of counts, :math:`P(k) = \binom{n}{k} p^k (1 - p)^{n - k}`.

    Parameters
    ----------
    n_trials : int
        Number of tosses :math:`n`, at least 1; known, not fitted.
    p : float
        Probability of a success, between 0 and 1.

    Examples
    --------
    >>> Binomial.fit([1, 2, 3], n_trials=4)  # 6 successes in 12 tosses
    Binomial(n_trials=4, p=0.5)
    """

    n_trials: int
    p: float

    def __post_init__(self) -> None:
        check_whole(n_trials=self.n_trials)
        check_between(0, 1, p=self.p)
        set_fields(self, n_trials=int(self.n_trials), p=float(self.p))

    @classmethod
    def fit(
        cls,
        X: Data,
        sample_weight: Data | None = None,
        *,
        prior: Beta | None = None,
        n_trials: int | None = None,
    ) -> Self:
        r"""Return the share of successes among all tosses; a Beta(a, b) prior adds a - 1 successes, b - 1 failures."""
        check_whole(n_trials=n_trials, hint="Say how many tosses each count comes from: fit(X, n_trials=...).")
        assert n_trials is not None
        check_beta_prior(prior)
        data = scalar_data(X, sample_weight)
        refuse_noncounts(data.values)
        if data.values.max() > n_trials:
            raise ValueError(f"X must hold counts of at most n_trials={n_trials}, got {float(data.values.max())!r}.")
        successes, failures = float(data.sum(data.values)), float(data.sum(n_trials - data.values))
        return cls(n_trials, most_likely_share(successes, failures, prior))

    def log_prob(self, X: Data) -> Array:
        """Return the log probability of each count; ``-inf`` for what is no count from 0 to ``n_trials``."""
        k = scalars(X)
        possible = (k >= 0) & (k <= self.n_trials) & (k == np.floor(k)) | np.isnan(k)
        k = np.where(possible, k, 0.0)
        log_choices = -np.log1p(self.n_trials) - betaln(self.n_trials - k + 1, k + 1)
        return np.where(possible, log_choices + xlogy(k, self.p) + xlog1py(self.n_trials - k, -self.p), -np.inf)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Return ``n`` counts."""
        check_whole(0, n=n)
        return generator(random_state).binomial(self.n_trials, self.p, n)

    @property
    def mean(self) -> float:
        """``n_trials p``."""
        return self.n_trials * self.p

    @property
    def variance(self) -> float:
        """``n_trials p (1 - p)``."""
        return self.n_trials * self.p * (1 - self.p)

    def entropy(self) -> float:
        """Return the entropy in nats, summed over all ``n_trials + 1`` outcomes."""
        if self.n_trials >= MOST_OUTCOMES:
            raise ValueError(
                f"n_trials must be below {MOST_OUTCOMES} for an exact entropy, got {self.n_trials}. "
                "Use the Gaussian of the same variance."
            )
        return float(entr(np.exp(self.log_prob(np.arange(self.n_trials + 1)))).sum())
