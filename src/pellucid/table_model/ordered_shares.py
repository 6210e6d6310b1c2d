r"""Whole numbers in an order, such as grades: the probability of each, from a prediction that is a number.

Cumulative logits of the prediction f: :math:`P(y \le v_k) = 1 / (1 + e^{a f - t_k})`, with one slope a and rising
thresholds t, under which the true numbers of rows held out are most likely. The loss is convex, so there is one best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from pellucid.core.types import Array
from pellucid.table_model.error_quantiles import ErrorQuantiles

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
        below = expit(self.thresholds - self.slope * np.asarray(predicted, dtype=np.float64)[:, None])
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
        upper, lower = expit(edges[codes + 1] - slope * f), expit(edges[codes] - slope * f)
        share = np.maximum(upper - lower, LEAST_SHARE)
        up, low = upper * (1.0 - upper) / share, lower * (1.0 - lower) / share
        by_edge = np.bincount(codes + 1, up, n_values + 1) - np.bincount(codes, low, n_values + 1)
        by_threshold = -by_edge[1:-1]
        after = np.cumsum(by_threshold[::-1])[::-1]  # a step moves all thresholds behind it
        gradient = np.concatenate([[np.sum((up - low) * f) + WEAK * slope, after[0]], after[1:] * steps])
        return float(-np.sum(np.log(share)) + WEAK * slope**2 / 2), gradient

    options = {"maxiter": MOST_STEPS, "gtol": 1e-9 * len(f), "ftol": 1e-15}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
    return float(found[0]), found[1] + np.concatenate([[0.0], np.cumsum(np.exp(found[2:]))])
