"""Multinomial: counts of several categories in a fixed number of draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import entr, gammaln, xlogy

from pellucid.core.checks import check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.binomial import Binomial
from pellucid.probability.dirichlet import Dirichlet, most_likely_shares
from pellucid.probability.frozen import EqualByValue, set_fields
from pellucid.probability.probability_vector import probability_vector
from pellucid.probability.sample_data import refuse_noncounts, vector_data, vectors

MOST_TRIALS = 1_000_000
"""Draws up to which an exact entropy is summed."""


@dataclass(frozen=True, eq=False)
class Multinomial(EqualByValue):
    r"""The density of rows of counts, :math:`P(k) = n! \prod_j p_j^{k_j} / k_j!` with :math:`\sum_j k_j = n`.

    Parameters
    ----------
    n_trials : int
        Number of draws :math:`n`, at least 1; known, not fitted.
    probabilities : array-like of shape (n_categories,)
        :math:`p_j`, at least 0, adding up to 1.

    Examples
    --------
    >>> Multinomial.fit([[2, 1, 1], [0, 3, 1]])  # 2, 4 and 2 of 8 draws
    Multinomial(n_trials=4, probabilities=array([0.25, 0.5 , 0.25]))
    """

    n_trials: int
    probabilities: Array

    def __post_init__(self) -> None:
        check_whole(n_trials=self.n_trials)
        set_fields(self, probabilities=probability_vector("probabilities", self.probabilities))

    @classmethod
    def fit(cls, X: Data, sample_weight: Data | None = None, *, prior: Dirichlet | None = None) -> Self:
        r"""Return the share of each category among all draws; a Dirichlet prior adds :math:`a_j - 1` draws to it.

        All rows must add up to the same number of draws. To pool rows of different totals, fit one Categorical.
        """
        data = vector_data(X, sample_weight)
        refuse_noncounts(data.values)
        totals = data.values.sum(axis=1)
        if totals.min() != totals.max() or totals[0] == 0:
            raise ValueError(
                f"rows of X must add up to one number of draws above 0, got totals from {totals.min():g} to "
                f"{totals.max():g}. To pool rows of different totals use Categorical with the counts as weights."
            )
        return cls(int(totals[0]), most_likely_shares(data.sum(data.values), prior))

    def log_prob(self, X: Data) -> Array:
        """Return the log probability of each row; ``-inf`` for what is not ``n_trials`` counts."""
        k = vectors(X, len(self.probabilities)).astype(np.float64)
        possible = (k >= 0).all(axis=1) & (k == np.floor(k)).all(axis=1) & (k.sum(axis=1) == self.n_trials)
        safe = np.where(possible[:, None], k, 0.0)
        terms = xlogy(safe, self.probabilities) - gammaln(safe + 1)
        values = np.where(possible, gammaln(self.n_trials + 1) + terms.sum(axis=1), -np.inf)
        return np.where(np.isnan(k).any(axis=1), np.nan, values)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Return ``n`` rows of counts."""
        check_whole(0, n=n)
        p = self.probabilities / self.probabilities.sum()
        return generator(random_state).multinomial(self.n_trials, p, n)

    @property
    def mean(self) -> Array:
        """``n_trials p_j``."""
        return np.asarray(self.n_trials * self.probabilities)

    @property
    def variance(self) -> Array:
        """``n_trials p_j (1 - p_j)``."""
        return np.asarray(self.n_trials * self.probabilities * (1 - self.probabilities))

    @property
    def covariance(self) -> Array:
        """``n_trials (diag(p) - p p')``: counts push each other down."""
        p = self.probabilities
        return np.asarray(self.n_trials * (np.diag(p) - np.outer(p, p)))

    def entropy(self) -> float:
        r"""Return the entropy in nats: :math:`-\log n! + n H(p) + \sum_j E \log k_j!`, each :math:`k_j` binomial."""
        if self.n_trials > MOST_TRIALS:
            raise ValueError(f"n_trials must be at most {MOST_TRIALS} for an exact entropy, got {self.n_trials}.")
        k = np.arange(self.n_trials + 1)
        log_factorials = gammaln(k + 1.0)
        per_category = [np.exp(Binomial(self.n_trials, float(p)).log_prob(k)) @ log_factorials for p in self._capped()]
        value = self.n_trials * entr(self.probabilities).sum() + sum(per_category) - log_factorials[-1]
        return max(0.0, float(value))

    def _capped(self) -> Array:
        return np.minimum(self.probabilities, 1.0)  # 1 + rounding is allowed for a vector, not for a binomial
