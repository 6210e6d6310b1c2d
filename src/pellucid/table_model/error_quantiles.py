"""Intervals of predicted numbers, from the errors made on rows that were held out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

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
