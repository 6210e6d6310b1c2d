"""Intervals of predicted numbers, from the errors made on rows that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import optimize, special

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array

MOST_ROWS = 20_000
MOST_GROUPS = 10
ERRORS_PER_TAIL = 5
"""Rows with similar predictions form a group of their own if that many of its errors lie beyond each end."""


@dataclass(frozen=True)
class ErrorQuantiles:
    """Predictions for rows held out, in rising order, and how far the truth was above each.

    A new row is as likely as any of them to have the largest error, or the second largest. So the true value lies
    between the prediction plus the k-th smallest and plus the k-th largest of n errors with a probability of at least
    1 - 2k / (n + 1), whatever the method and the data are, if rows are drawn alike (conformal prediction). Errors are
    compared among rows with a similar prediction where there are enough of them: intervals are wider where errors are.
    Where a method is off to one side, so that all these errors are above 0 or all below, the interval reaches to the
    prediction itself: it then holds the truth more often than promised, and never contradicts what is predicted.
    """

    predicted: Array
    errors: Array

    @classmethod
    def of(cls, actual: Array, predicted: Array) -> Self:
        """Return the errors of predictions, of some rows if there are very many."""
        order = np.argsort(predicted, kind="stable")
        order = order[some_rows(len(order), MOST_ROWS)]
        return cls(np.ascontiguousarray(predicted[order]), np.ascontiguousarray((actual - predicted)[order]))

    @cached_property
    def most(self) -> float:
        """The largest level that so many errors can speak for."""
        return 1.0 - 2.0 / (len(self.errors) + 1)

    def interval(self, predictions: Array, level: float) -> tuple[Array, Array]:
        """Return the ends of the interval of each prediction."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level must lie between 0 and 1, got {level:g}.")
        if level > self.most:
            raise ValueError(
                f"level must be at most {np.floor(1e4 * self.most) / 1e4:g}, got {level:g}: the errors of "
                f"{len(self.errors):,} rows held out are known, and none of them is so rare."
            )
        groups = np.array_split(self.errors, self._n_groups(level))
        firsts = np.cumsum([len(group) for group in groups])[:-1]
        edges = (self.predicted[firsts - 1] + self.predicted[firsts]) / 2
        ends = np.array([_ends(np.sort(group), level) for group in groups])[np.searchsorted(edges, predictions)]
        return predictions + ends[:, 0], predictions + ends[:, 1]

    def coverage(self, judged: ErrorQuantiles, level: float) -> float:
        """Return the share of other rows whose true value lies in their interval."""
        low, high = self.interval(judged.predicted, level)
        actual = judged.predicted + judged.errors
        return float(np.mean((low <= actual) & (actual <= high)))

    def _n_groups(self, level: float) -> int:
        n_beyond = len(self.errors) * (1.0 - level) / 2
        return int(np.clip(n_beyond // ERRORS_PER_TAIL, 1, MOST_GROUPS))


def _ends(errors: Array, level: float) -> tuple[float, float]:
    """Return the k-th smallest and the k-th largest error, k as large as the level allows, with 0 between them."""
    k = max(1, int((len(errors) + 1) * (1.0 - level) / 2 + 1e-9))
    return min(float(errors[k - 1]), 0.0), max(float(errors[-k]), 0.0)


# Whole numbers in an order, such as grades: the probability of each, from a prediction that is a number.
#
# Cumulative logits of the prediction f: :math:`P(y \le v_k) = 1 / (1 + e^{a f - t_k})`, with one slope a and rising
# thresholds t, under which the true numbers of rows held out are most likely. The loss is convex, so there is one best.


WEAK = 0.01
"""Factor of half the squared slope, predictions in standard deviations: if all are right, it would be infinite."""
LEAST_SHARE = 1e-9
MOST_STEPS = 500


@dataclass(frozen=True)
class OrderedShares:
    """The numbers of an order, rising, and what turns a prediction into their probabilities."""

    values: Array
    slope: float
    thresholds: Array
    """One less than there are values, rising."""

    @classmethod
    def of(cls, errors: ErrorQuantiles) -> Self | None:
        """Return the best for the predictions and errors of rows held out; None if these know one number only."""
        actual = np.round(errors.predicted + errors.errors)
        values, codes = np.unique(actual, return_inverse=True)
        if len(values) < 2:
            return None
        center, spread = float(np.mean(errors.predicted)), float(np.std(errors.predicted)) or 1.0
        f = (errors.predicted - center) / spread
        slope, thresholds = _fitted(f, codes, len(values))
        return cls(values, slope / spread, thresholds + slope * center / spread)

    def shares(self, predicted: Array) -> Array:
        """Return the probability of each number, of shape (n_rows, n_values)."""
        below = special.expit(self.thresholds - self.slope * np.asarray(predicted, dtype=np.float64)[:, None])
        edges = np.concatenate([np.zeros((len(below), 1)), below, np.ones((len(below), 1))], axis=1)
        return np.asarray(np.diff(edges, axis=1))


def _fitted(f: Array, codes: Array, n_values: int) -> tuple[float, Array]:
    """Return slope and thresholds with the least loss; steps between thresholds are kept above 0 by logarithms."""
    passed = np.cumsum(np.bincount(codes, minlength=n_values))[:-1] / len(codes)
    first = np.log(passed / (1.0 - passed))
    start = np.concatenate([[1.0, first[0]], np.log(np.maximum(np.diff(first), 1e-3))])

    def loss(parameters: Array) -> tuple[float, Array]:
        slope, steps = parameters[0], np.exp(parameters[2:])
        thresholds = parameters[1] + np.concatenate([[0.0], np.cumsum(steps)])
        edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
        upper, lower = special.expit(edges[codes + 1] - slope * f), special.expit(edges[codes] - slope * f)
        share = np.maximum(upper - lower, LEAST_SHARE)
        up, low = upper * (1.0 - upper) / share, lower * (1.0 - lower) / share
        by_edge = np.bincount(codes + 1, up, n_values + 1) - np.bincount(codes, low, n_values + 1)
        by_threshold = -by_edge[1:-1]
        after = np.cumsum(by_threshold[::-1])[::-1]  # a step moves all thresholds behind it
        gradient = np.concatenate([[np.sum((up - low) * f) + WEAK * slope, after[0]], after[1:] * steps])
        return float(-np.sum(np.log(share)) + WEAK * slope**2 / 2), gradient

    options = {"maxiter": MOST_STEPS, "gtol": 1e-9 * len(f), "ftol": 1e-15}
    found = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return float(found[0]), found[1] + np.concatenate([[0.0], np.cumsum(np.exp(found[2:]))])
