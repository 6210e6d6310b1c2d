"""Equal rows of one target seen as one row with their weights added, in an order that depends on what they hold.

A machine of weighted rows and one of repeated rows are then the same problem to the last bit. Where there are neither
weights nor repetitions the rows stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pellucid.core.types import Array
from pellucid.numerics.presented_rows import present_by_content
from pellucid.proofs.training_data import TrainingData


@dataclass(frozen=True)
class MergedRows:
    """The rows that are left, and what each given row is of them."""

    data: TrainingData
    place: Array
    """Of every given row, the place of the row that stands for it."""
    share: Array
    """Of every given row, its part of the weight of that row."""
    is_whole: bool = False
    """Whether each row stands for itself, in its place."""

    def split(
        self, coef: Array, lower: Array, upper: Array, rows: Array, given_lower: Array, given_upper: Array
    ) -> Array:
        """Return the coefficients of some of the given rows, which have boxes of their own.

        A coefficient at an end of its box is so after it is split, to the last bit.
        """
        if self.is_whole:
            return coef[rows]
        place = self.place[rows]
        parts = np.clip(coef[place] * self.share[rows], given_lower, given_upper)
        parts = np.where(coef[place] >= upper[place], given_upper, parts)
        return np.where(coef[place] <= lower[place], given_lower, parts)


def merged_rows(data: TrainingData, *, is_given: bool) -> MergedRows:
    """Return the rows of the data without repetitions; those of given products stay as they are."""
    n = data.X.shape[0]
    as_they_are = MergedRows(data, np.arange(n), np.ones(n), is_whole=True)
    if is_given:
        return as_they_are
    codes = data.y if len(data.classes) else np.unique(data.y, return_inverse=True)[1].reshape(-1)
    found = present_by_content(data.X, codes, data.weights)
    if len(found.order) == n and (data.weight is None or np.ptp(data.weight) == 0.0):
        return as_they_are
    place = np.empty(n, dtype=np.intp)
    place[found.order] = np.arange(len(found.order))
    place = place[found.shown_as]
    weight = found.weight[found.order]
    merged = replace(data, X=data.X[found.order], y=data.y[found.order], weight=weight, kept=None)
    return MergedRows(merged, place, data.weights / weight[place])
