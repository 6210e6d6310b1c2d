"""Bayes' rule: predictions from joint log probabilities, and the least cost that any rule can have on average."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability import hoeffding_interval

WIDE = 40.0
"""Deviations from a mean beyond which a density is taken to be empty; what that leaves out is in the interval."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
FIRST_PANELS = 64
MOST_HALVINGS = 48
SMALLEST_ERROR = 1e-13
"""Of the whole integral: a panel is halved while its error is more than its share."""

ConditionalRisk = Callable[[Array], Array]
"""Rows -> the least expected cost given each row."""


@dataclass(frozen=True)
class BayesRisk:
    """A risk and the interval it lies in: with probability ``level``, or for ``level`` 1 up to the error of a sum."""

    value: float
    """The least cost, on average, that any rule can have: an estimate from draws, or an integral."""
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end of the interval."""
    level: float
    """Probability that the true risk is in the interval; 1 for an integral, whose error is bounded."""


def monte_carlo_risk(
    densities: Sequence[Any],
    priors: Array,
    conditional_risk: ConditionalRisk,
    *,
    bounds: tuple[float, float],
    n_draws: int,
    level: float,
    interval: str,
    random_state: RandomState,
) -> BayesRisk:
    r"""Return the mean of :math:`r(x)` over draws of :math:`x`, where :math:`r` is the least expected cost given x.

    Averaging :math:`r(x)` instead of the cost of a drawn class has the same mean and less noise.
    """
    from scipy.stats import norm

    low, high = bounds
    source = generator(random_state)
    sizes = source.multinomial(n_draws, priors)
    draws = [density.sample(size, source) for density, size in zip(densities, sizes.tolist(), strict=True) if size]
    values = np.clip(conditional_risk(np.concatenate(draws)), low, high)
    mean = float(values.mean())
    if low == high:
        return BayesRisk(mean, mean, mean, level)
    if interval == "hoeffding":
        return BayesRisk(mean, *hoeffding_interval(values, low, high, level), level)
    reach = float(norm.ppf(0.5 + level / 2) * values.std(ddof=1)) / sqrt(n_draws)
    return BayesRisk(mean, max(low, mean - reach), min(high, mean + reach), level)


def quadrature_risk(densities: Sequence[Any], priors: Array, costs: Array) -> BayesRisk:
    r"""Return :math:`\int \min_a \sum_c \pi_c f_c(x)\, L(c, a)\, dx` over one dimension, or the sum over few values."""
    largest = float(np.abs(costs).max())

    def integrand(x: Array) -> Array:
        """Return the least cost at each x, and the density of the mixture, which must integrate to 1."""
        joint = np.exp(np.column_stack([d.log_prob(x) for d in densities])) * priors
        return np.vstack([(joint @ costs).min(axis=1), joint.sum(axis=1)])

    support = _common_support(densities)
    if support is not None:
        value, mass = integrand(support).sum(axis=1).tolist()
        error = abs(1 - mass) * largest
    else:
        (value, mass), error = _integrate(integrand, _breakpoints(densities))
        error += abs(1 - mass) * largest
    return BayesRisk(value, value - error, value + error, 1.0)


def _common_support(densities: Sequence[Any]) -> Array | None:
    """Return the values that the densities give a probability, if they are few; None for densities of real numbers."""
    found: list[Array] = []
    for density in densities:
        match type(density).__name__:
            case "Bernoulli":
                found.append(np.array([0, 1]))
            case "Binomial":
                found.append(np.arange(density.n_trials + 1))
            case "Categorical":
                found.append(density.categories)
    return np.unique(np.concatenate(found)) if len(found) == len(densities) else None


def _breakpoints(densities: Sequence[Any]) -> Array:
    """Return the ends of intervals outside of which nothing is left and inside of which every density is smooth."""
    reaches = np.array([-WIDE, -8, -4, -2, -1, 0, 1, 2, 4, 8, WIDE])
    return np.unique(np.concatenate([float(d.mean) + sqrt(float(d.variance)) * reaches for d in densities]))


def _integrate(integrand: Callable[[Array], Array], ends: Array) -> tuple[list[float], float]:
    """Return the integrals of the rows of ``integrand``, halving panels where the first is not yet known."""
    left, right = ends[:-1], ends[1:]
    total, error = np.zeros(2), 0.0
    coarse = _panels(integrand, left, right)
    for _ in range(MOST_HALVINGS):
        middle = 0.5 * (left + right)
        first, second = _panels(integrand, left, middle), _panels(integrand, middle, right)
        gap = np.abs(first + second - coarse)[0]
        rough = gap > SMALLEST_ERROR / FIRST_PANELS
        total += (first + second)[:, ~rough].sum(axis=1)
        error += float(gap[~rough].sum())
        if not rough.any():
            return total.tolist(), error
        left, right = np.concatenate([left[rough], middle[rough]]), np.concatenate([middle[rough], right[rough]])
        coarse = np.concatenate([first[:, rough], second[:, rough]], axis=1)
    return (total + coarse.sum(axis=1)).tolist(), error + float(np.abs(coarse[0]).sum())


def _panels(integrand: Callable[[Array], Array], left: Array, right: Array) -> Array:
    """Return the integrals over the panels by Gauss's rule, of shape (2, n_panels)."""
    half = 0.5 * (right - left)
    x = 0.5 * (left + right)[:, None] + half[:, None] * NODES
    values = integrand(x.ravel()).reshape(2, *x.shape)
    return np.asarray(values @ WEIGHTS * half)


class ClassScores:
    r"""Base of classifiers by Bayes' rule, :math:`P(c \mid x) = P(c, x) / \sum_k P(k, x)`, in logarithms throughout.

    A subclass implements ``_joint_log_scores`` and ``_log_prior``. A row that no class can produce
    (:math:`P(c, x) = 0` for all :math:`c`) says nothing: its probabilities are those of the prior.
    """

    classes_: Array

    def predict(self, X: Data) -> Array:
        """Return the most probable class of each row; of tied ones, the first in ``classes_``."""
        best = np.argmax(self._possible_scores(X), axis=1)
        return self.classes_[best]

    def predict_proba(self, X: Data) -> Array:
        """Return the probability of each class, of shape (n_samples, n_classes)."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Data) -> Array:
        """Return the logarithm of ``predict_proba``, also where that underflows."""
        scores = self._possible_scores(X)
        return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))

    def predict_joint_log_proba(self, X: Data) -> Array:
        r"""Return :math:`\log P(c, x) = \log P(c) + \log P(x \mid c)`, of shape (n_samples, n_classes)."""
        check_is_fitted(self)
        return self._joint_log_scores(X)

    def _possible_scores(self, X: Data) -> Array:
        scores = self.predict_joint_log_proba(X)
        impossible = np.isneginf(scores.max(axis=1))
        if impossible.any():
            scores[impossible] = self._log_prior()
        return scores

    def _joint_log_scores(self, X: Data) -> Array:
        """Check ``X`` and return a new array of joint log probabilities."""
        raise NotImplementedError

    def _log_prior(self) -> Array:
        raise NotImplementedError
