"""Dirichlet: a density of probability vectors, the conjugate prior of Categorical and Multinomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, xlogy

from pellucid.core.checks import check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data
from pellucid.probability.frozen import EqualByValue, finite_array, set_fields
from pellucid.probability.probability_vector import SUM_ERROR
from pellucid.probability.sample_data import vectors


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

    def sample(self, n: int, random_state: Any = None) -> Array:
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
