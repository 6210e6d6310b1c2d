"""Bernoulli and Binomial: one toss of a coin, and the number of heads in several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import betaln, entr, xlog1py, xlogy

from pellucid.core.checks import check_between, check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.conjugate_priors import Beta, check_beta_prior
from pellucid.probability.sample_data import refuse_noncounts, scalar_data, scalars, set_fields


@dataclass(frozen=True)
class Bernoulli:
    r"""The density of 0 and 1, :math:`P(x) = p^x (1 - p)^{1 - x}`.

    Parameters
    ----------
    p : float
        Probability of 1, between 0 and 1.

    Examples
    --------
    >>> Bernoulli.fit([1, 1, 0, 1])
    Bernoulli(p=0.75)
    >>> Bernoulli.fit([1, 1, 0, 1], prior=Beta(2, 2))  # (3 + 1) / (4 + 2)
    Bernoulli(p=0.6666666666666666)
    """

    p: float

    def __post_init__(self) -> None:
        check_between(0, 1, p=self.p)
        set_fields(self, p=float(self.p))

    @classmethod
    def fit(cls, X: Data, sample_weight: Data | None = None, *, prior: Beta | None = None) -> Self:
        r"""Return the weighted share of ones; with a Beta(a, b) prior :math:`(k + a - 1) / (n + a + b - 2)`."""
        check_beta_prior(prior)
        data = scalar_data(X, sample_weight)
        ones, zeros = data.values == 1, data.values == 0
        if not (ones | zeros).all():
            got = float(data.values[~(ones | zeros)][0])
            raise ValueError(f"X must hold 0 and 1, got {got!r}. For counts of ones use Binomial.")
        successes, failures = float(data.sum(ones)), float(data.sum(zeros))
        return cls(most_likely_share(successes, failures, prior))

    def log_prob(self, X: Data) -> Array:
        """Return the log probability of each value; ``-inf`` for anything but 0 and 1."""
        x = scalars(X)
        inside = xlogy(x, self.p) + xlog1py(1 - x, -self.p)
        return np.asarray(np.where((x == 0) | (x == 1) | np.isnan(x), inside, -np.inf), dtype=np.float64)

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` zeros and ones."""
        check_whole(0, n=n)
        return (generator(random_state).random(n) < self.p).astype(np.int64)

    @property
    def mean(self) -> float:
        """The probability of 1."""
        return self.p

    @property
    def variance(self) -> float:
        """``p (1 - p)``, at most 1/4."""
        return self.p * (1 - self.p)

    def entropy(self) -> float:
        """Return the entropy in nats: log 2 for a fair coin."""
        return float(entr(self.p) + binary_tail_entropy(self.p))


def binary_tail_entropy(p: float) -> float:
    """Return ``-(1 - p) log(1 - p)``, exact to the last digits for small ``p`` too."""
    return float(0.0 - xlog1py(1 - p, -p))  # 0, not minus 0, for p = 1


def most_likely_share(successes: float, failures: float, prior: Beta | None) -> float:
    """Return the maximum-likelihood or maximum-a-posteriori probability of a success."""
    if prior is None:
        return successes / (successes + failures)
    return prior.updated(successes, failures).mode


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

    def sample(self, n: int, random_state: RandomState = None) -> Array:
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
