"""What a method said about rows that it had not learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pellucid.core.random_state import some_rows
from pellucid.core.types import Array
from pellucid.table_model.class_scores import class_scores, scores_of_probabilities

MOST_NUMBERS = 40_000
MOST_ROWS = 4000
"""Of one split: more would hardly change a quantile or a temperature, and cost time and memory."""


@dataclass(frozen=True)
class HeldOut:
    """True values and predictions of numbers, or labels and the scores of all classes, row by row."""

    actual: Array
    said: Array
    weights: Array | None = None

    @classmethod
    def of_numbers(cls, actual: Array, predicted: Array) -> Self:
        """Return the numbers that were predicted for one split."""
        rows = some_rows(len(actual), MOST_ROWS)
        return cls(actual[rows], predicted[rows])

    @classmethod
    def of_classes(
        cls,
        method: Any,
        X: Any,
        actual: Array,
        classes: Array,
        weights: Array | None = None,
        chances: Array | None = None,
    ) -> Self:
        """Return the scores that a classifier gives the rows of one split; a class it never met has the least.

        ``chances`` are its probabilities of all classes, if somebody asked for them before.
        """
        rows = some_rows(len(actual), min(MOST_ROWS, MOST_NUMBERS // len(classes)))
        known = np.searchsorted(classes, method.classes_)
        found = class_scores(method, X[rows]) if chances is None else scores_of_probabilities(chances[rows][:, known])
        said = np.full((len(found), len(classes)), found.min(initial=0.0))
        said[:, known] = found
        return cls(actual[rows], said, None if weights is None else weights[rows])

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return several splits as one."""
        weights = [part.weights for part in parts if part.weights is not None]
        return cls(
            np.concatenate([part.actual for part in parts]),
            np.concatenate([part.said for part in parts]),
            np.concatenate(weights) if weights else None,
        )
