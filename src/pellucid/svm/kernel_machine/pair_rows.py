"""Which rows the machine of two classes sees, what it wants of them and what they cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pellucid.core.labels import rows_by_class
from pellucid.core.linear_classifier import class_weights
from pellucid.core.types import Array
from pellucid.proofs.training_data import TrainingData
from pellucid.svm.kernel_machine.pairwise_layout import class_pairs, positive_class


@dataclass(frozen=True)
class PairRows:
    """The rows of two classes, those of the first in front, with their targets +1 and -1 and their boxes."""

    pair: tuple[int, int]
    first: Array
    second: Array
    target: Array
    cost: Array

    @cached_property
    def rows(self) -> Array:
        """The places of all rows."""
        return np.concatenate([self.first, self.second])

    @cached_property
    def lower(self) -> Array:
        """Least coefficients: those of the class with target -1 go down to minus their cost."""
        return np.where(self.target > 0.0, 0.0, -self.cost)

    @cached_property
    def upper(self) -> Array:
        """Largest coefficients."""
        return np.where(self.target > 0.0, self.cost, 0.0)


def svc_pairs(data: TrainingData, parameters: Any) -> list[PairRows]:
    """Return the machines of an SVC: a row costs C times its weight and that of its class."""
    by_class = class_weights(parameters.class_weight, data)
    return pair_rows(data.y, row_costs(parameters.C, by_class[data.y] * data.weights), len(data.classes))


def pair_rows(codes: Array, cost: Array, n_classes: int) -> list[PairRows]:
    """Return the machines of all pairs of classes."""
    by_class = rows_by_class(codes, n_classes)
    found = []
    for i, j in class_pairs(n_classes):
        first, second = by_class[i], by_class[j]
        sign = 1.0 if positive_class((i, j), n_classes) == i else -1.0
        target = np.concatenate([np.full(len(first), sign), np.full(len(second), -sign)])
        found.append(PairRows((i, j), first, second, target, cost[np.concatenate([first, second])]))
    return found


def row_costs(C: float, factor: Array) -> Array:
    """Return C times the factor of each row; a row whose factor is 0 costs nothing, also where C is infinite."""
    return np.where(factor > 0.0, C * np.where(factor > 0.0, factor, 1.0), 0.0)
