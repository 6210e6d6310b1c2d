"""Categorical and Multinomial: one draw among a few labels, and the counts of several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import entr, gammaln, xlogy

from pellucid.core.checks import check_whole
from pellucid.core.random_state import generator
from pellucid.core.types import Array, Data, RandomState
from pellucid.probability.bernoulli import Binomial
from pellucid.probability.conjugate_priors import Dirichlet, most_likely_shares
from pellucid.probability.sample_data import (
    EqualByValue,
    counted,
    probability_vector,
    refuse_noncounts,
    set_fields,
    vector_data,
    vectors,
)


@dataclass(frozen=True, eq=False)
class Categorical(EqualByValue):
    r"""The density of labels, :math:`P(c_j) = p_j`.

    Parameters
    ----------
    probabilities : array-like of shape (n_categories,)
        :math:`p_j`, at least 0, adding up to 1.
    categories : array-like of shape (n_categories,), default=None
        The labels, all different; 0, 1, 2, ... if None.

    Examples
    --------
    >>> weather = Categorical.fit(["sun", "rain", "sun", "sun"])
    >>> weather.categories, weather.probabilities
    (array(['rain', 'sun'], dtype='<U4'), array([0.25, 0.75]))
    """

    probabilities: Array
    categories: Array = None  # type: ignore[assignment]  # an array once __post_init__ has run

    def __post_init__(self) -> None:
        p = probability_vector("probabilities", self.probabilities)
        labels = np.arange(len(p)) if self.categories is None else _labels("categories", self.categories).copy()
        if len(labels) != len(p) or len(np.unique(labels)) != len(p):
            raise ValueError(f"categories must be {len(p)} different labels, got {labels.tolist()}.")
        set_fields(self, probabilities=p, categories=labels)

    @classmethod
    def fit(
        cls,
        X: Data,
        sample_weight: Data | None = None,
        *,
        prior: Dirichlet | None = None,
        categories: Data | None = None,
    ) -> Self:
        r"""Return the weighted shares of the labels; with a Dirichlet prior :math:`(n_j + a_j - 1) / \sum_i`.

        ``categories`` names all labels there are, so that one that is not in ``X`` has its place; by default those
        that occur with a weight above 0, sorted.
        """
        data = counted(_labels("X", X), sample_weight)
        if _missing(data.values).any():
            raise ValueError("X must hold labels, got nan. Drop those rows, or give them weight 0.")
        known = _sorted(data.values) if categories is None else _labels("categories", categories)
        where = _positions(data.values, known)
        if (where < 0).any():
            unknown = data.values[where < 0][0].item()
            raise ValueError(f"X must hold only the categories {known.tolist()}, got {unknown!r}. Add it to them.")
        counts = np.bincount(where, weights=data.weight, minlength=len(known)).astype(np.float64)
        return cls(most_likely_shares(counts, prior), known)

    def log_prob(self, X: Data) -> Array:
        """Return the log probability of each label; ``-inf`` for a label that is not among the categories."""
        labels = _labels("X", X)
        where = _positions(labels, self.categories)
        with np.errstate(divide="ignore"):
            logs = np.log(np.append(self.probabilities, 0.0))  # position -1: not among them
        return np.where(_missing(labels) & (where < 0), np.nan, logs[where])

    def sample(self, n: int, random_state: RandomState = None) -> Array:
        """Return ``n`` labels."""
        check_whole(0, n=n)
        steps = np.cumsum(self.probabilities)
        place = np.searchsorted(steps, generator(random_state).random(n) * steps[-1], side="right")
        return self.categories[place]

    @property
    def mean(self) -> float:
        """Expected label; nan if labels are no numbers."""
        return float(self.probabilities @ self._numbers())

    @property
    def variance(self) -> float:
        """Variance of the label; nan if labels are no numbers."""
        return float(self.probabilities @ (self._numbers() - self.mean) ** 2)

    def entropy(self) -> float:
        """Return the entropy in nats: log k if all k labels are equally likely."""
        return float(entr(self.probabilities).sum())

    def _numbers(self) -> Array:
        is_number = self.categories.dtype.kind in "biuf"
        return self.categories.astype(np.float64) if is_number else np.full(len(self.categories), np.nan)


def _labels(name: str, values: Data) -> Array:
    labels = np.asarray(values)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{name} must have one dimension, got shape {labels.shape}. Take one column at a time.")
    return labels.astype(str) if labels.dtype == object and all(isinstance(v, str) for v in labels) else labels


def _sorted(labels: Array) -> Array:
    try:
        return np.unique(labels)
    except TypeError:
        raise TypeError("X must hold labels of one kind, got some that cannot be sorted. Turn all into text.") from None


def _missing(labels: Array) -> Array:
    return labels != labels  # only NaN differs from itself, whatever the kind of label


def _positions(labels: Array, known: Array) -> Array:
    """Return where each label stands among the known ones, -1 for those that are not there."""
    if (labels.dtype.kind in "biuf") != (known.dtype.kind in "biuf") or (labels.dtype == object) != (
        known.dtype == object
    ):
        return np.full(len(labels), -1)
    order = np.argsort(known)
    place = order[np.minimum(np.searchsorted(known, labels, sorter=order), len(known) - 1)]
    return np.where(known[place] == labels, place, -1)


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

    def sample(self, n: int, random_state: RandomState = None) -> Array:
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
